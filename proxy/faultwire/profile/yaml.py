"""YAML as people write it by hand, with the line and column of everything: no surprises, no bombs.

Stricter than YAML, so that a file means one thing: one document in UTF-8, no aliases, anchors or
tags, no duplicate keys. Plain words are read by YAML 1.2's core schema (only `true` and `false` are
booleans), so `on:` is a key and `no` is a word. Size, depth and node count are bounded before
anything is built.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from faultwire.errors import Location, ProfileError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.errors import UsageError

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_NODES = 10_000

Scalar = str | int | float | bool | None

_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,18}|[0-9]{1,18}(\.[0-9]{0,18})?)([eE][-+]?[0-9]{1,2})?")
_WORDS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that a YAML text must not hold (YAML 1.2 §5.1)."""
_VARIABLE = re.compile(r"(?P<start>\$\{[A-Za-z_][A-Za-z0-9_]{0,60})(:-|\})")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is libyaml, much faster


@dataclass(slots=True)
class Node:
    """A value with its place; lines and columns count from 1.

    `value` is a scalar, a list of nodes, or a dict of nodes. `key` is the place of the key that a
    mapping's value stands under.
    """

    value: Scalar | list[Node] | dict[str, Node]
    line: int
    column: int
    key: tuple[int, int] | None = None

    def plain(self) -> Any:
        """The value as plain data."""
        if isinstance(self.value, dict):
            return {name: node.plain() for name, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def at(self, path: tuple[str | int, ...]) -> Node:
        """The node at the end of a path of keys and indexes, or the last one that is there."""
        node = self
        for step in path:
            found = _step(node, step)
            if found is None:
                break
            node = found
        return node


def _step(node: Node, step: str | int) -> Node | None:
    if isinstance(node.value, dict):
        return node.value.get(str(step))
    if isinstance(node.value, list) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step]
    return None


def read(source: bytes | str, path: str, error: type[UsageError] = ProfileError) -> Node:
    """The one document in `source`. `path` is only for messages.

    Raises `error` with a code like `profile.yaml` (its class's word, then `yaml`) and the place.
    """
    return _Reader(path, error).read(source)


def shown(value: object) -> str:
    """A found value for a message: short, in backticks, with nothing that could steer a terminal."""
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return f"a {'mapping' if isinstance(value, dict) else 'list'}"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{printable(text[:60])}{'…' if len(text) > 60 else ''}`"


class _Reader:
    def __init__(self, path: str, error: type[UsageError]) -> None:
        self.path = printable(path)
        self.error = error
        self.nodes = 0

    def fail(self, message: str, line: int | None, column: int | None, hint: str | None = None) -> UsageError:
        code = f"{self.error.default_code.split('.')[0]}.yaml"
        return self.error(message, code=code, hint=hint, where=Location(self.path, line, column))

    def read(self, source: bytes | str) -> Node:
        text = self.text(source)
        try:
            return self.document(yaml.parse(text, Loader=_LOADER))
        except yaml.MarkedYAMLError as bad:
            mark = bad.problem_mark or bad.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
            hint = _quote_variable(text, mark.line, mark.column) if mark else None
            problem = printable(bad.problem or "cannot be read")
            raise self.fail(f"not YAML: {problem}", line, column, hint) from None

    def text(self, source: bytes | str) -> str:
        data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
        if len(data) > MAX_BYTES:
            place = _after(data[:MAX_BYTES].decode("utf-8", "replace"))
            raise self.fail(f"found more than {MAX_BYTES} bytes, expected fewer", *place)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as bad:
            place = _after(data[: bad.start].decode())
            raise self.fail(f"found byte 0x{data[bad.start]:02x}, expected UTF-8", *place) from None
        text = text.removeprefix("\ufeff")
        hostile = _FORBIDDEN.search(text)
        if hostile is not None:
            place = _after(text[: hostile.start()])
            raise self.fail(f"found character U+{ord(hostile[0]):04X}, expected text", *place)
        return text

    def document(self, events: Iterator[Any]) -> Node:
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self.fail("found a second document, expected one", *_mark(event))
            if isinstance(event, yaml.NodeEvent):
                root = self.node(event, events, 1)
        return root if root is not None else Node(None, 1, 1)

    def node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        place = _mark(event)
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self.fail(f"found more than {MAX_NODES} values, expected fewer", *place)
        if depth > MAX_DEPTH:
            raise self.fail(f"found more than {MAX_DEPTH} levels, expected fewer", *place)
        if event.anchor is not None:
            what = "an alias" if isinstance(event, yaml.AliasEvent) else "an anchor"
            raise self.fail(f"found {what}, expected every value written out", *place)
        if event.tag is not None:
            raise self.fail(f"found tag {shown(event.tag)}, expected none", *place)
        if isinstance(event, yaml.ScalarEvent):
            return Node(self.scalar(event), *place)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node(self.sequence(events, depth), *place)
        return Node(self.mapping(events, depth), *place)

    def sequence(self, events: Iterator[Any], depth: int) -> list[Node]:
        out: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            out.append(self.node(event, events, depth + 1))
        return out

    def mapping(self, events: Iterator[Any], depth: int) -> dict[str, Node]:
        out: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self.node(event, events, depth + 1)
            place = (key.line, key.column)
            if not isinstance(event, yaml.ScalarEvent):
                raise self.fail(f"found {shown(key.value)} as a key, expected a word", *place)
            name = self.text_of(event)
            if name in out:
                first, _ = out[name].key or place
                message = f"found key {shown(name)} again, expected it once (first on line {first})"
                raise self.fail(message, *place)
            value = self.node(next(events), events, depth + 1)
            value.key = place
            out[name] = value
        return out

    def text_of(self, event: Any) -> str:
        text: str = event.value
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise self.fail("found half of a surrogate pair, expected text", *_mark(event)) from None
        return text

    def scalar(self, event: Any) -> Scalar:
        text = self.text_of(event)
        if event.style:  # quoted, or a block: text, whatever it looks like
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INT.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text


def _quote_variable(text: str, line: int, column: int) -> str | None:
    """What to do where YAML stumbles over the brace of a variable (`${NAME}`), which begins a mapping inside
    of `{}` and `[]`. Counted from 0; a default may be a secret and is not shown."""
    lines = text.splitlines()
    around = lines[line][max(0, column - 1) :] if line < len(lines) else ""
    found = _VARIABLE.match(around)
    if found is None:
        return None
    return f'inside of `{{}}` and `[]` a variable needs quotes: `"{found["start"]}…}}"`'


def _after(text: str) -> tuple[int, int]:
    """The line and column of what comes next."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _mark(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
