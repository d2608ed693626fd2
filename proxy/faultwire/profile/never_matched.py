"""Values of `on` that no exchange has: impossible ones, and ones that do not go together."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern below is fixed
from typing import TYPE_CHECKING

from faultwire.errors import printable
from faultwire.profile import jsonpath
from faultwire.profile.entry_model import ARROW, On
from faultwire.profile.overlap import ANY, literal, overlap
from faultwire.profile.words import each, listed
from faultwire.profile.yaml import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.profile.entry_model import Globs
    from faultwire.profile.words import Problem

_METHODS = frozenset(("get", "put", "head", "post", "patch", "trace", "delete", "connect", "options"))
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A field name (RFC 9110 §5.1)."""
SCHEMES = ("http", "https")
ENDS = ("/*", ":*")
"""What follows a host in a URL."""
_PORT = re.compile(r"[^:]+:[0-9]{1,5}")


def value_problems(on: On) -> Iterator[Problem]:
    """Every impossible value; where there is none, values that exclude each other."""
    found = False
    for problem in (*_empty(on), *_numbers(on), *_hosts(on), *_heads(on), *_edges(on), *_bodies(on)):
        found = True
        yield problem
    if not found:
        yield from _places_apart(on)


def _empty(on: On) -> Iterator[Problem]:
    for key in On.model_fields:
        if getattr(on, key) == ():
            message = f"found an empty list for `{key}`, which never matches"
            yield f"on.{key}", message, f"remove `{key}`, or name what it shall match"


def _numbers(on: On) -> Iterator[Problem]:
    for status in (on.status,) if isinstance(on.status, int) else on.status or ():
        if not 100 <= status <= 599:
            message = f"found `{status}` for `status`, expected 100 to 599"
            yield "on.status", message, "write the status that upstream answers with"
    for turn in (on.turn,) if isinstance(on.turn, int) else on.turn or ():
        if turn < 1:
            message = f"found `{turn}` for `turn`, expected 1 or more"
            yield "on.turn", message, "the user's first message is turn 1"


def _hosts(on: On) -> Iterator[Problem]:
    for glob in each(on.host):
        if "/" in glob:
            message = f"found {shown(glob)} for `host`, expected a name without scheme or path"
            yield "on.host", message, "use `url` for a whole address"
        elif _PORT.fullmatch(glob):
            message = f"found {shown(glob)} for `host`, expected a name without a port"
            yield "on.host", message, "use `url` for an address with its port"
    for glob in each(on.path):
        if glob[:1] not in ("/", "*", "?"):
            message = f"found {shown(glob)} for `path`, expected it to start with `/` or `*`"
            yield "on.path", message, "use `url` for a whole address"
    for glob in each(on.url):
        if not overlap((glob,), ("http://*", "https://*")):
            message = f"found {shown(glob)} for `url`, expected it to start with `http://`, `https://` or `*`"
            yield "on.url", message, "use `path` or `host` for a part of the address"


def _heads(on: On) -> Iterator[Problem]:
    for glob in each(on.method):
        if glob.lower() in _METHODS and not glob.isupper():
            message = f"found {shown(glob)} for `method`, expected `{glob.upper()}`"
            yield "on.method", message, "methods are in upper case"
    for name in on.header or {}:
        if not _TOKEN.fullmatch(name):
            message = f"found {shown(name)} in `header`, expected the name of a header field"
            yield "on.header", message, "names have letters, digits and `-`, and no spaces"


def _edges(on: On) -> Iterator[Problem]:
    odd = [one for one in each(on.edge) if one.count(ARROW) != 1 or not all(map(str.strip, one.split(ARROW)))]
    for edge in odd:
        message = f"found {shown(edge)} for `edge`, expected two names, as in `planner->writer`"
        yield "on.edge", message, "write who calls, `->`, and who is called"
    called = [glob for _, glob in on.edges]
    if called and not odd and on.agent is not None and not overlap(called, each(on.agent)):
        message = (
            f"found `agent: {listed(on.agent)}` with `edge: {listed(on.edge)}`, where another one is called"
        )
        yield "on.agent", message, "remove `agent` or `edge`"


def _bodies(on: On) -> Iterator[Problem]:
    for path in on.body or {}:
        try:
            jsonpath.compile_path(path)
        except ValueError as error:
            message = f"in path {shown(path)}: {printable(str(error))}"
            yield "on.body", message, "a path is written as in `$.messages[0].role`"


def _places_apart(on: On) -> Iterator[Problem]:
    """A URL with a host or a path that it cannot have."""
    urls = each(on.url)
    hosts = [f"{_in_url(host)}{end}" for host in each(on.host) for end in ENDS]
    addresses = [f"{scheme}://{host}" for scheme in SCHEMES for host in hosts]
    if urls and addresses and not overlap(urls, addresses):
        yield _exclude_each_other("host", on.host, on)
    paths = [_path(url) for url in urls]
    wanted = [f"{path}{query}" for path in each(on.path) for query in ("", "?*")]
    known = [path for path in paths if path is not None]
    if wanted and known and len(known) == len(paths) and not overlap(known, wanted):
        yield _exclude_each_other("path", on.path, on)


def _exclude_each_other(key: str, value: Globs | None, on: On) -> Problem:
    message = f"found `{key}: {listed(value)}` with `url: {listed(on.url)}`, which exclude each other"
    return f"on.{key}", message, f"remove `{key}` or `url`"


def _path(url: str) -> str | None:
    """The glob of the path in the glob of a URL, None where a `*` before it may stand for any of it."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"/{path}" if slash and ANY not in scheme + authority else None


def _in_url(host: str) -> str:
    """A host as it stands in a URL (RFC 3986 §3.2.2)."""
    return f"[{host}]" if ":" in host and literal(host) else host
