"""What `--on kube://NAMESPACE?image=…&objects=…` names: where pods run, and what they are made of. Pure."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from faultwire.errors import UsageError, did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

HINT = "`kube://NAMESPACE?image=IMAGE&objects=s3://BUCKET/PREFIX`, in quotes, for Jobs of Kubernetes"
MOST_WORKERS = 1000
LONGEST_S = 7 * 86_400
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_ACCOUNT = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\Z")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}\Z")
_QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_OBJECTS = re.compile(r"(s3://[a-z0-9][-.a-z0-9]{1,62}(/\S*)?|file:///\S+)\Z")
_ANY = re.compile(r".+\Z")


@dataclass(frozen=True, slots=True)
class KubePlace:
    """A namespace and its pods. `objects` is where asks and answers are put; a folder there is on the volume
    of the `claim`. `env` names variables of this command that agents get. `deadline_s` ends a Job that nobody
    waits for any more."""

    namespace: str
    image: str
    objects: str
    workers: int = 2
    context: str | None = None
    claim: str | None = None
    account: str | None = None
    env: tuple[str, ...] = ()
    cpu: str = "1"
    memory: str = "1Gi"
    deadline_s: int = 21_600


_KEYS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "image": (_IMAGE, "an image"),
    "objects": (_OBJECTS, "`s3://BUCKET/PREFIX` or `file:///FOLDER`"),
    "context": (_ANY, "a context of the kubeconfig"),
    "claim": (_ACCOUNT, "the name of a PersistentVolumeClaim"),
    "account": (_ACCOUNT, "the name of a ServiceAccount"),
    "cpu": (_QUANTITY, "a quantity such as `500m`"),
    "memory": (_QUANTITY, "a quantity such as `1Gi`"),
}
_NUMBERS = {"workers": (1, MOST_WORKERS), "deadline": (60, LONGEST_S)}
_KNOWN = (*_KEYS, *_NUMBERS, "env")


def parse(text: str) -> KubePlace:
    """Raises UsageError for what names no namespace, image and objects, or anything else."""
    try:
        url = urlsplit(text)
        pairs = parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query))
    except ValueError as error:
        raise _refused(f"found `{printable(text)}` for --on: {error}") from error
    namespace = url.netloc
    if url.scheme != "kube" or not _LABEL.match(namespace) or url.path not in ("", "/") or url.fragment:
        raise _refused(f"found `{printable(text)}` for --on, expected a namespace of Kubernetes")
    given = dict(pairs)
    if len(given) != len(pairs):
        raise _refused(f"found a key twice in `{printable(text)}`, expected it once")
    for name in given:
        if name not in _KNOWN:
            raise UsageError(
                f"found `{printable(name)}` in `--on kube://…`, expected a key that there is",
                code="usage.on",
                hint=did_you_mean(name, _KNOWN),
            )
    words = {name: _word(name, value) for name, value in given.items() if name in _KEYS}
    for name in ("image", "objects"):
        if name not in words:
            raise _refused(f"found no `{name}` in `--on kube://…`, expected {_KEYS[name][1]}")
    numbers = {
        "deadline_s" if name == "deadline" else name: _number(name, given[name])
        for name in _NUMBERS
        if name in given
    }
    if words["objects"].startswith("file:") and "claim" not in words:
        raise UsageError(
            "found a folder for `objects`, expected the claim of the volume that it is on, too",
            code="usage.on",
            hint="`claim=NAME`: pods get its volume at the folder's path; or a bucket, `s3://BUCKET/PREFIX`",
        )
    return KubePlace(namespace, **words, **numbers, env=_variables(given.get("env")))  # type: ignore[arg-type]


def _word(name: str, value: str) -> str:
    pattern, expected = _KEYS[name]
    if not pattern.match(value) or not value.isprintable():
        raise _refused(f"found `{printable(value)}` for `{name}` in `--on kube://…`, expected {expected}")
    return value


def _number(name: str, value: str) -> int:
    least, most = _NUMBERS[name]
    if not value.isascii() or not value.isdigit() or not least <= int(value[:9]) <= most:
        raise _refused(
            f"found `{printable(value)}` for `{name}` in `--on kube://…`, expected {least} to {most}"
        )
    return int(value)


def _variables(value: str | None) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(value.split(","))) if value is not None else ()
    for name in names:
        if not _VARIABLE.match(name):
            raise _refused(
                f"found `{printable(name)}` in `env` of `--on kube://…`, expected names of variables"
            )
    return names


def _refused(message: str) -> UsageError:
    return UsageError(message, code="usage.on", hint=HINT)
