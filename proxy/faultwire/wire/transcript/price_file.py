"""Reads a table of prices from a file that anybody may have written.

Stricter than YAML, so that a table means one thing: one document in UTF-8 without anchors, aliases or tags,
no key twice, nothing besides what the table holds. Size and depth are bounded before anything is built. Every
error names the line.
"""

from __future__ import annotations

import os
import stat
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from faultwire.errors import ConfigError, Location, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MOST_BYTES = 1 << 20
_MOST_DEPTH = 4
_MOST_SKIPPED = 100
"""Levels of what no table holds."""
_LONGEST_NAME = 200
_MOST_DOLLARS = 1_000_000
_MOST_DECIMALS = 20
_DAY = len("2026-01-01")
PARTS = ("cache_read", "cache_write", "cache_write_1h", "audio_input", "audio_output")
_ROW = ("input", "output", *PARTS, "up_to")
_TABLE = ("as_of", "currency", "models")


class Row(NamedTuple):
    """What a table holds of one model: dollars for a million tokens, by part; `up_to` in tokens."""

    dollars: Mapping[str, Decimal]
    up_to: int | None


class Table(NamedTuple):
    """A table as it was read; `as_of` is None where it has no date."""

    as_of: date | None
    models: Mapping[str, Mapping[str, Row]]


class _Node(NamedTuple):
    """A value and its line. A list is shown by None: no table holds one."""

    value: str | dict[str, _Node] | None
    line: int


def contents(path: Path) -> bytes:
    """The bytes of a regular file, through links too. Raises ConfigError; a pipe is not waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(0, "it is not a regular file")
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        _fail(path, None, f"found no readable file ({(error.strerror or 'unknown error').lower()})")
    if len(data) > MOST_BYTES:
        _fail(path, None, f"found more than {MOST_BYTES} bytes")
    return data


def parse(data: bytes, path: Path) -> Table:
    """The table in a file's bytes. Raises ConfigError with the file and the line."""
    return _Reader(path).table(data)


def _fail(path: Path, line: int | None, what: str) -> NoReturn:
    raise ConfigError(
        what if ", expected" in what else f"{what}, expected a table of prices",
        code="config.prices",
        where=Location(printable(str(path)), line),
        hint="its form is in the documentation under Protocols, Prices",
    )


def _shown(text: str) -> str:
    return f"`{printable(text[:60])}{'…' if len(text) > 60 else ''}`"


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, line: int | None, what: str) -> NoReturn:
        _fail(self.path, line, what)

    def table(self, data: bytes) -> Table:
        root = self.document(data)
        top = root.value if isinstance(root.value, dict) else {}
        if "models" not in top or not isinstance(top["models"].value, dict):
            self.fail(top["models"].line if "models" in top else None, "found no `models`")
        self.only(top, _TABLE, "a table")
        currency = top.get("currency")
        if currency is not None and currency.value != "USD":
            self.fail(currency.line, f"found currency {self.text(currency)}, expected `USD`")
        models = {
            self.name(provider, node): {
                self.name(model, entry).lower(): self.row(entry, f"{provider}.{model}")
                for model, entry in self.mapping(node, "models by their names").items()
            }
            for provider, node in top["models"].value.items()
        }
        return Table(self.day(top.get("as_of")), models)

    def day(self, node: _Node | None) -> date | None:
        if node is None:
            return None
        text = node.value if isinstance(node.value, str) else ""
        try:
            return date.fromisoformat(text if len(text) == _DAY else "")
        except ValueError:
            self.fail(node.line, f"found `as_of` of {self.text(node)}, expected a day such as `2026-01-31`")

    def row(self, node: _Node, name: str) -> Row:
        about = f"price of {_shown(name)}"
        if not isinstance(node.value, dict) or not {"input", "output"} <= node.value.keys():
            self.fail(node.line, f"{about}: found {self.text(node)}, expected `input` and `output`")
        self.only(node.value, _ROW, about)
        dollars = {part: self.dollars(one, about) for part, one in node.value.items() if part != "up_to"}
        size = node.value.get("up_to")
        return Row(dollars, None if size is None else self.tokens(size, about))

    def tokens(self, node: _Node, about: str) -> int:
        text = node.value if isinstance(node.value, str) else ""
        count = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
        if not count:
            self.fail(
                node.line, f"{about}: found `up_to` of {self.text(node)}, expected a number of tokens above 0"
            )
        return count

    def dollars(self, node: _Node, about: str) -> Decimal:
        text = node.value if isinstance(node.value, str) else ""
        try:
            amount = Decimal(text) if text.isascii() else Decimal("NaN")
        except InvalidOperation:
            amount = Decimal("NaN")
        # Bounds first: a sum with 1e999999 would be written with a million digits.
        if not amount.is_finite() or amount.is_signed() or amount > _MOST_DOLLARS or not _is_short(amount):
            self.fail(
                node.line,
                f"{about}: found {self.text(node)}, expected dollars for a million tokens, "
                f"0 to {_MOST_DOLLARS} with at most {_MOST_DECIMALS} decimals",
            )
        return amount

    def only(self, found: Mapping[str, _Node], known: tuple[str, ...], about: str) -> None:
        for key, node in found.items():
            if key not in known:
                expected = ", ".join(f"`{one}`" for one in known)
                self.fail(node.line, f"{about}: found {_shown(key)}, expected {expected}")

    def mapping(self, node: _Node, what: str) -> dict[str, _Node]:
        if not isinstance(node.value, dict):
            self.fail(node.line, f"found {self.text(node)}, expected {what}")
        return node.value

    def name(self, name: str, node: _Node) -> str:
        if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
            expected = f"1 to {_LONGEST_NAME} printable characters"
            self.fail(node.line, f"found name {_shown(name)}, expected {expected}")
        return name

    def text(self, node: _Node) -> str:
        if isinstance(node.value, str):
            return _shown(node.value) if node.value else "nothing"
        return "a list" if node.value is None else "a mapping"

    # ------------------------------------------------------------ YAML

    def document(self, data: bytes) -> _Node:
        import yaml

        # The built-in table has many rows: libyaml reads it ten times as fast, where it is there.
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        root: _Node | None = None
        try:
            events = iter(yaml.parse(data.decode(), Loader=loader))
            for event in events:
                if isinstance(event, yaml.NodeEvent):
                    if root is not None:
                        self.fail(_line(event), "found a second document, expected one")
                    root = self.node(event, events, 1)
        except UnicodeDecodeError as error:
            self.fail(data[: error.start].count(b"\n") + 1, "found bytes that are not UTF-8")
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = printable(error.problem or "it cannot be read")
            self.fail(mark.line + 1 if mark else None, f"found no YAML: {problem}")
        except yaml.YAMLError as error:
            self.fail(None, f"found no YAML: {printable(str(error).splitlines()[0])}")
        return root if root is not None else _Node("", 1)

    def node(self, event: Any, events: Iterator[Any], depth: int) -> _Node:
        import yaml

        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None or event.tag is not None:
            self.fail(line, "found an anchor, an alias or a tag, expected every price written out")
        if isinstance(event, yaml.ScalarEvent):
            return _Node(event.value, line)
        if depth > _MOST_DEPTH or isinstance(event, yaml.SequenceStartEvent):
            return self.skipped(event, events)
        found: dict[str, _Node] = {}
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            name = self.node(key, events, depth + 1)
            if not isinstance(name.value, str):
                self.fail(name.line, f"found {self.text(name)} as a key, expected a name")
            value = self.node(next(events), events, depth + 1)
            if name.value in found:
                self.fail(name.line, f"found {_shown(name.value)} twice, expected it once")
            found[name.value] = value
        return _Node(found, line)

    def skipped(self, event: Any, events: Iterator[Any]) -> _Node:
        """What no table holds: read over without recursion, however deep it is."""
        import yaml

        depth = 1
        while depth:
            if depth > _MOST_SKIPPED:  # each level costs libyaml as much time as all levels above it
                self.fail(_line(event), f"found more than {_MOST_SKIPPED} levels, expected a table of prices")
            inner = next(events)
            depth += isinstance(inner, yaml.CollectionStartEvent) - isinstance(inner, yaml.CollectionEndEvent)
        return _Node(None, _line(event))


def _is_short(amount: Decimal) -> bool:
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and -_MOST_DECIMALS <= exponent <= _MOST_DECIMALS


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
