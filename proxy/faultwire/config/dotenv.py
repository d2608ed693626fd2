"""Variables from a `.env` file beside a configuration.

`NAME=value` lines; `export ` before a name, comments, and values in single quotes (as they stand) or double
quotes (with `\\n`, `\\t`, `\\"`, `\\$`, `\\\\`, and over several lines). Nothing in a value is filled in, and
nothing is run. A line that is none of this is told and passed over: the file also serves other programs.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

from faultwire.errors import ConfigError, Location, printable

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256_000
_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
_SINGLE = re.compile(r"'([^']*)'[ \t]*(?:#.*)?(?:\r?\n|\Z)")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?(?:\r?\n|\Z)', re.DOTALL)
_BARE = re.compile(r"([^\r\n]*?)[ \t]*(?:(?<![^ \t\r\n=])#[^\r\n]*)?(?:\r?\n|\Z)")
_NOTHING = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read(path: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables of a file, and a warning for each line that was passed over; none without the file.

    Raises ConfigError where it cannot be read, is too large, or is no UTF-8.
    """
    try:
        if not path.is_file():
            return {}, ()
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = printable(error.strerror or "unknown error").lower()
        raise _refused(path, f"found a file that cannot be read ({why}), expected variables") from None
    if len(data) > MAX_BYTES:
        raise _refused(path, f"found more than {MAX_BYTES} bytes, expected fewer")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        raise _refused(path, f"found byte 0x{data[bad.start]:02x}, expected UTF-8", line) from None
    found, unread = parse(text)
    place = printable(str(path))
    told = (f"{Location(place, line)}: this line is not `NAME=value` and is ignored" for line in unread)
    return found, tuple(told)


def parse(text: str) -> tuple[dict[str, str], list[int]]:
    """The variables of a text, and the numbers of the lines that are none. The last of two wins."""
    found: dict[str, str] = {}
    unread: list[int] = []
    at, line = 0, 1
    while at < len(text):
        name = _NAME.match(text, at)
        value = _value(text, name.end()) if name is not None else None
        blank = _NOTHING.match(text, at)
        end = _LINE.match(text, at).end()  # type: ignore[union-attr] # it matches everywhere
        if name is not None and value is not None and "\0" not in value[0]:
            found[name[1]], end = value
        elif blank is None:
            unread.append(line)
        line += text.count("\n", at, end)
        at = end
    return found, unread


def _value(text: str, at: int) -> tuple[str, int] | None:
    """The value that begins here and where the next line does; None for a quote that nothing closes."""
    quote = text[at : at + 1]
    pattern = {"'": _SINGLE, '"': _DOUBLE}.get(quote, _BARE)
    match = pattern.match(text, at)
    if match is None:
        return None
    value = match[1]
    if quote == '"':
        value = re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), value, flags=re.DOTALL)
    return value, match.end()


def _refused(path: Path, message: str, line: int | None = None) -> ConfigError:
    return ConfigError(message, code="config.dotenv", where=Location(printable(str(path)), line))
