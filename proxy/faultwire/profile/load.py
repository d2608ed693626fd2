"""Profiles from files: one pass that tells everything that is wrong, each with file, line and column.

`load(find(name))` is the usual way in; `inline` takes one fault from a command line, `merge` joins
several, `dump` and `from_dump` carry a profile to the engine.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import Location, ProfileError, printable
from faultwire.profile import entry, flakestorm, whole
from faultwire.profile.dump import dump, from_dump, merge
from faultwire.profile.find import find
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile, ToolSite
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import MAX_BYTES, Node, read, shown

if TYPE_CHECKING:
    from faultwire.profile.entry_model import Entry

__all__ = ["dump", "find", "from_dump", "inline", "load", "merge", "parse"]

KEYS = ("name", "description", "tools", "agents", "faults", "chaos")
"""What a profile may hold."""

NOTHING = "`faults: []` has no faults"


def load(path: Path | str) -> Profile:
    """The profile in a file. Raises ProfileError, whose `also` holds the other problems of the file."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        place = printable(str(path))
        why = printable(error.strerror or "unknown error").lower()
        message = f"found no readable file ({why}), expected a profile"
        code = "profile.not_found"
        hint = "`faultwire profiles list` names the built-in ones"
        raise ProfileError(message, code=code, hint=hint, where=Location(place)) from None
    return parse(data, str(path))


def parse(text: bytes | str, path: str) -> Profile:
    """The profile in a text. `path` names it in messages, and lends its stem where no name is given."""
    problems = Problems(path, ProfileError)
    root = read(text, path)
    fields = problems.mapping(root, "a profile")
    if fields is not None and "faults" not in fields and "chaos" not in fields:
        problems.add(root, "bad_value", "found no `faults` in the profile, expected a list", NOTHING)
    fields = fields or {}
    for key, node in fields.items():
        if key not in KEYS:
            problems.unknown(node, key, "a profile", list(KEYS))
    name = _text(fields.get("name"), "name", PurePath(path).stem, problems)
    if "name" in fields and not entry.ID.fullmatch(name):
        found, expected = shown(name), "1 to 64 letters, digits, `.`, `_` or `-`"
        problems.add(fields["name"], "bad_value", f"found {found} for `name`, expected {expected}")
    description = _text(fields.get("description"), "description", "", problems)
    tools = _tools(fields.get("tools"), problems)
    agents = whole.agents(fields.get("agents"), problems)
    listed = _entries(fields.get("faults"), problems)
    warnings: list[str] = []

    def warn(node: Node, message: str) -> None:
        line, column = node.key or (node.line, node.column)
        warnings.append(f"{Location(printable(path), line, column)}: {message}")

    translated: list[Node] = []
    if "chaos" in fields:
        if "faults" in fields:
            message = "found `chaos` beside `faults`, expected one of them"
            problems.add(fields["chaos"].key or fields["chaos"], "bad_value", message)
        translated = list(flakestorm.entries(fields["chaos"], problems, warn))
        listed = [(node, built) for node in translated if (built := entry.build(node, problems)) is not None]
    whole.check(listed, agents, problems, translated=translated)
    problems.settle()
    raw = text if isinstance(text, bytes) else text.encode()
    return Profile(
        name=name,
        description=description,
        tools=tools,
        agents=agents,
        entries=tuple(entry.numbered(built for _, built in listed)),
        path=path,
        digest=_core.sha256_hex(raw),
        warnings=tuple(warnings),
    )


def _text(node: Node | None, what: str, default: str, problems: Problems) -> str:
    if node is None:
        return default
    if isinstance(node.value, str) and node.value:
        return node.value
    problems.add(node, "bad_value", f"found {shown(node.value)} for `{what}`, expected text")
    return default


def _tools(node: Node | None, problems: Problems) -> dict[str, ToolSite]:
    tools: dict[str, ToolSite] = {}
    for name, site in ((problems.mapping(node, "`tools`") if node else None) or {}).items():
        built = problems.build(ToolSite, site, f"tools.{printable(name)}")
        if built is not None and built.url in (None, ()):
            message = f"found no `url` for tool {shown(name)}, expected where it is called"
            problems.add(site, "bad_value", message)
        elif built is not None:
            tools[name] = built
    return tools


def _entries(node: Node | None, problems: Problems) -> list[tuple[Node, Entry]]:
    if node is None:
        return []
    if not isinstance(node.value, list):
        found = f"found {shown(node.value)} for `faults`, expected a list"
        problems.add(node, "bad_value", found, NOTHING if node.value is None else "start each entry with `-`")
        return []
    entries: list[tuple[Node, Entry]] = []
    given: dict[str, int] = {}
    for item in node.value:
        built = entry.build(item, problems)
        if built is None:
            continue
        if built.id != built.fault.name and built.id in given:
            message = f"found id `{built.id}` again, expected it once (first on line {given[built.id]})"
            problems.add(item, "bad_value", message)
        given.setdefault(built.id, item.line)
        entries.append((item, built))
    return entries
