"""Read incident sessions: a file, a folder of them, or one that stands in a configuration."""

from __future__ import annotations

import json
import re  # noqa: TID251 - the patterns below are fixed
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from faultwire import _core
from faultwire.errors import Location, ScenarioError, printable
from faultwire.faults.tool.recorded_response import NoneLeft
from faultwire.profile.entry_model import Frozen
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import MAX_BYTES, Node, read, shown
from faultwire.replay.incident import DEFAULT, SUFFIXES, Session, ToolResponse

_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
"""A character beyond U+FFFF as JSON escapes it, which YAML does not read."""
_OWN_FILE = ("tool_responses", "context", "turns", "file")


class _Fields(Frozen):
    """The keys of a session that hold one value each."""

    id: str
    input: str | None = None
    name: str | None = None
    source: str | None = None
    captured_at: str | None = None
    expected_failure: str | None = None
    contract: str | None = None
    tape: str | None = None
    tape_session: str | None = None
    on_miss: Literal["fail", "live"] = "fail"
    none_left: NoneLeft = "refuse"


KEYS = (*_Fields.model_fields, *_OWN_FILE)
"""What a session may hold."""


def read_file(path: Path) -> Session:
    """The session in a file. Raises ScenarioError, whose `also` holds the file's other problems."""
    name = printable(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise ScenarioError(
            f"cannot read the session `{name}`: {why}",
            code="scenario.unreadable",
            hint="expected a file in YAML or JSON, or a folder of them",
        ) from error
    return parse(data, path)


def read_all(path: Path) -> tuple[Session, ...]:
    """The session in a file, or all in a folder, by file name. Raises ScenarioError."""
    if not path.is_dir():
        return (read_file(path),)
    files = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES and not one.name.startswith("."))
    if not files:
        raise ScenarioError(
            f"found no session in `{printable(str(path))}`, expected files in YAML or JSON",
            code="scenario.none",
        )
    return tuple(read_file(one) for one in files)


def parse(data: bytes, path: Path) -> Session:
    """The session in a file's bytes; `path` is where its relative paths start, and for messages."""
    text = data
    if path.suffix == ".json":
        text = _PAIR.sub(_joined, data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    root = read(text, str(path), ScenarioError)
    problems = Problems(str(path), ScenarioError)
    if isinstance(root.value, dict) and not _is_nothing(root.value.get("file")):
        place = root.value["file"]
        problems.add(place, "bad_value", "found `file` in a session's own file, expected its `input`")
    session = _session(root, problems, path.parent, Location(printable(str(path))), _core.sha256_hex(data))
    problems.settle()
    assert session is not None
    return session


def inline(data: Mapping[str, Any], place: Location, folder: Path) -> tuple[Session, ...]:
    """The sessions that one item of a configuration's `replays.sessions` means: itself, or those in the
    file or folder that it names. `place` is the item's. Raises ScenarioError."""
    named = data.get("file")
    if named is None:
        text = json.dumps(data, ensure_ascii=False)
        root = read(text, str(place.file), ScenarioError)
        root = _moved(root, (place.line or 1, place.column or 1))
        problems = Problems(str(place.file), ScenarioError)
        digest = _core.sha256_hex(_core.jcs(text.encode("utf-8", "surrogatepass")))
        session = _session(root, problems, folder, place, digest)
        problems.settle()
        assert session is not None
        return (session,)
    if not isinstance(named, str) or not named:
        raise ScenarioError(
            f"found {shown(named)} for `file`, expected a path", code="scenario.bad_value", where=place
        )
    unused = sorted(key for key, value in data.items() if key not in ("file", "contract") and value)
    notes = tuple(f"{place}: `{printable(key)}` is not used: it is already in `file`" for key in unused)
    contract = data.get("contract")
    return tuple(
        _with(session, notes, contract if isinstance(contract, str) and contract else None)
        for session in read_all(folder / named)
    )


def _with(session: Session, notes: tuple[str, ...], contract: str | None) -> Session:
    changed = replace(session, notes=(*notes, *session.notes))
    return changed if contract is None else replace(changed, contract=contract)


def _session(root: Node, problems: Problems, folder: Path, where: Location, digest: str) -> Session | None:
    fields = problems.mapping(root, "a session")
    if fields is None:
        return None
    for key, node in fields.items():
        if key not in KEYS:
            problems.unknown(node, key, "a session", list(KEYS))
    plain = {key: node for key, node in fields.items() if key in _Fields.model_fields}
    plain = {key: node for key, node in plain.items() if node.value is not None or key == "id"}
    fields_ = problems.build(_Fields, Node(dict(plain), root.line, root.column), "session")
    answers = _answers(fields.get("tool_responses"), problems)
    context = _context(fields.get("context"), problems)
    turns = _turns(fields, problems)
    if fields_ is None or len(problems):
        return None
    earlier, notes = _user_messages(context)
    if not turns:
        turns = (*earlier, fields_.input or "")
    elif context:
        notes = (f"{where}: `context` is not used: `turns` already has the user's messages",)
    return Session(
        id=fields_.id,
        turns=turns,
        name=fields_.name or "",
        source=fields_.source or "manual",
        captured_at=fields_.captured_at or "",
        context=context,
        tool_responses=answers,
        expected_failure=fields_.expected_failure or "",
        contract=fields_.contract or DEFAULT,
        tape=folder / fields_.tape if fields_.tape else None,
        tape_session=fields_.tape_session,
        on_miss=fields_.on_miss,
        none_left=fields_.none_left,
        folder=folder,
        where=where,
        digest=digest,
        notes=tuple(note if note.startswith(str(where)) else f"{where}: {note}" for note in notes),
    )


def _turns(fields: dict[str, Node], problems: Problems) -> tuple[str, ...]:
    """`turns`, where they are given; else `input` has to be."""
    node, input_ = fields.get("turns"), fields.get("input")
    ident = fields.get("id")
    if ident is not None and ident.value == "":
        problems.add(ident, "bad_value", "found an empty `id`, expected a name")
    if _is_nothing(node):
        if _is_nothing(input_) or (input_ is not None and input_.value == ""):
            place = input_ if input_ is not None else ident or Node(None, 1, 1)
            problems.add(place, "bad_value", "found no `input` in the session, expected the agent's input")
        return ()
    assert node is not None
    if not _is_nothing(input_):
        problems.add(node, "bad_value", "found `turns` beside `input`, expected one of them")
    texts = [one.value for one in node.value] if isinstance(node.value, list) else []
    if not texts or not all(isinstance(text, str) and text for text in texts):
        problems.add(node, "bad_value", f"found {shown(node.plain())} for `turns`, expected a list of texts")
        return ()
    return tuple(str(text) for text in texts)


def _answers(node: Node | None, problems: Problems) -> tuple[ToolResponse, ...]:
    answers: list[ToolResponse] = []
    for number, one in enumerate(_list(node, "tool_responses", problems)):
        built = problems.build(ToolResponse, one, f"tool_responses[{number}]")
        if built is not None:
            answers.append(built)
    return tuple(answers)


def _context(node: Node | None, problems: Problems) -> tuple[Mapping[str, Any], ...]:
    context: list[Mapping[str, Any]] = []
    for one in _list(node, "context", problems):
        if isinstance(one.value, dict):
            context.append(one.plain())
        else:
            problems.add(one, "bad_value", f"found {shown(one.value)} in `context`, expected mappings")
    return tuple(context)


def _user_messages(context: tuple[Mapping[str, Any], ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The user's messages in a context, which are asked first, and notes on it."""
    messages = tuple(
        str(one["content"])
        for one in context
        if one.get("role") == "user" and isinstance(one.get("content"), str) and one["content"]
    )
    notes: list[str] = []
    if messages:
        one = "message" if len(messages) == 1 else "messages"
        notes.append(f"asked first, each as a turn: {len(messages)} {one} of the user in `context`")
    others = len(context) - len(messages)
    if others:
        one = "item" if others == 1 else "items"
        notes.append(f"not given to the agent, as no words of its user: {others} {one} of `context`")
    return messages, tuple(notes)


def _list(node: Node | None, key: str, problems: Problems) -> list[Node]:
    if node is None or _is_nothing(node):
        return []
    if isinstance(node.value, list):
        return node.value
    problems.add(node, "bad_value", f"found {shown(node.value)} for `{key}`, expected a list")
    return []


def _is_nothing(node: Node | None) -> bool:
    return node is None or node.value is None


def _joined(found: re.Match[str]) -> str:
    high, low = int(found[2], 16), int(found[3], 16)
    return found[1] + chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _moved(node: Node, place: tuple[int, int]) -> Node:
    """The same values, all at one place: that of the item in its configuration."""
    value = node.value
    if isinstance(value, dict):
        value = {key: _moved(one, place) for key, one in value.items()}
    elif isinstance(value, list):
        value = [_moved(one, place) for one in value]
    return Node(value, *place, key=place)
