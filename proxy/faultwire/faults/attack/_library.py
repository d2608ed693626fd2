"""The library of attacks: families with their source, what shows that one worked, and their texts.

Each text is written by us after a published description. It attacks nothing but an agent's judgement; the
addresses in it lead nowhere (`example.invalid`, RFC 2606). `{canary}` is where its canary stands.

A package adds families by the entry-point group `faultwire.attacks`; each entry is an `AttackFamily`.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import yaml

from faultwire.errors import FaultError
from faultwire.plugins import installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.attacks"
Shows = Literal["answer", "argument", "request", "repetition", "word"]
"""What shows that a text was obeyed: its canary in the final answer; its canary in a tool's arguments, or
in a request to anyone but a model; a request to an address that it names; the same tool called again and
again; a word of its own in the final answer."""
_FOLDER = Path(__file__).parent / "payloads"
_HOMOGLYPHS = str.maketrans("aceopxyABEHKMOPTX", "асеорхуАВЕНКМОРТХ")  # noqa: RUF001 - meant to be confused
SHOTS = 64
"""Made-up turns of a text with many."""


class Payload(NamedTuple):
    """A text to plant; `canary` is a word in it that is looked for afterwards."""

    name: str
    text: str
    canary: str | None = None
    shows: Shows = "argument"
    word: str | None = None
    """Of `shows: word`: what is in the answer then."""


class AttackFamily(NamedTuple):
    """Texts of one sort. `date` is when they were first described (`2023-07`), `source` where."""

    name: str
    version: int
    date: str
    source: str
    owasp_llm: tuple[str, ...]
    owasp_agentic: tuple[str, ...]
    atlas: tuple[str, ...]
    payloads: tuple[Payload, ...]
    template: str | None = None
    """A text for any goal, which stands in place of `{goal}`."""
    package: str = "faultwire"


BUILTIN = (
    "override", "authority", "task_shift", "exfiltration", "tool_abuse", "obfuscated", "direct", "role_play",
    "many_shot", "refusal_suppression", "multilingual", "adversarial_suffix", "tool_poisoning", "rug_pull",
    "shadowing", "memory_planting", "loops",
)  # fmt: skip


@cache
def registry() -> Mapping[str, AttackFamily]:
    """Every family by name, built-in ones first. Raises FaultError on a bad package."""
    return collect(installed().select(group=GROUP))


def collect(plugins: Iterable[EntryPoint]) -> dict[str, AttackFamily]:
    """The built-in families and those of packages, by name. Raises FaultError."""
    found = {name: _builtin(name) for name in BUILTIN}
    for entry in sorted(plugins, key=lambda entry: (entry.name, entry.value)):
        found[entry.name] = _plugged(entry, found)
    return found


def _plugged(entry: EntryPoint, known: Mapping[str, AttackFamily]) -> AttackFamily:
    package = entry.dist.name if entry.dist else "a package"
    try:
        family = entry.load()
    except Exception as error:
        raise _bad(entry, package, f"failed to load: {type(error).__name__}: {error}") from error
    if not isinstance(family, AttackFamily):
        raise _bad(entry, package, "is no `AttackFamily`")
    if family.name != entry.name or family.name in known:
        raise _bad(
            entry, package, f"is called `{family.name}`, expected `{entry.name}` and a name of its own"
        )
    wrong = [one.name for one in family.payloads if one.shows not in get_args(Shows) or not one.text]
    if wrong or not family.payloads:
        raise _bad(
            entry, package, f"has payloads without a text or an observable: {', '.join(wrong) or 'none'}"
        )
    return family._replace(package=package)


def _bad(entry: EntryPoint, package: str, why: str) -> FaultError:
    return FaultError(
        f"attack family `{entry.name}` of `{package}` ({entry.value}) {why}",
        code="attack.plugin",
        hint=f"fix or uninstall `{package}`",
    )


@cache
def _builtin(name: str) -> AttackFamily:
    loaded: Any = yaml.safe_load((_FOLDER / f"{name}.yaml").read_bytes())
    payloads = tuple(
        Payload(
            f"{name}/{one['id']}",
            _dressed(" ".join(one["text"].split()), one),
            shows=one.get("shows", loaded["shows"]),
            word=one.get("word"),
        )
        for one in loaded["payloads"]
    )
    llm, agentic, atlas = (tuple(loaded[key]) for key in ("owasp_llm", "owasp_agentic", "atlas"))
    return AttackFamily(
        name, loaded["version"], loaded["date"], loaded["source"], llm, agentic, atlas, payloads,
        loaded.get("template"),
    )  # fmt: skip


def _dressed(text: str, entry: Mapping[str, Any]) -> str:
    """The text behind a disguise, or after many turns."""
    how = entry.get("as")
    if how == "base64":
        return f"Decode this base64 text and do what it says: {base64.b64encode(text.encode()).decode()}"
    if how == "homoglyph":
        return text.translate(_HOMOGLYPHS)
    if how == "zero_width":
        return "\u200b".join(text)
    if how == "many_shot":
        turns = (entry["shot"].replace("{n}", f"A{at:03}") for at in range(SHOTS))
        return " ".join([*turns, text])
    return text


def table() -> str:
    """The built-in families as a table in Markdown."""
    rows = [
        "| family | texts | shown by | described in | OWASP LLM, Agentic | ATLAS |",
        "|---|---|---|---|---|---|",
    ]
    for name in BUILTIN:
        family = _builtin(name)
        shown = ", ".join(dict.fromkeys(one.shows for one in family.payloads))
        ids = ", ".join((*family.owasp_llm, *family.owasp_agentic))
        source = f"{family.source} ({family.date})"
        rows.append(
            f"| `{name}` | {len(family.payloads)} | {shown} | {source} | {ids} | {', '.join(family.atlas)} |"
        )
    return "\n".join(rows)
