"""Variables from a `.env` file beside a configuration, parsed by python-dotenv.

An agent that reads the same file with python-dotenv gets the same values, except for three rules. Nothing
in a value is filled in from other variables. A name is one that `${NAME}` can refer to. A line that sets no
variable is reported and skipped, and only that line, because the file also serves other programs.
"""

from __future__ import annotations

import io
import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

from dotenv.parser import Binding, parse_stream

from faultwire.errors import ConfigError, Location, printable

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")


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
    warnings = (f"{Location(place, line)}: this line is not `NAME=value` and is ignored" for line in unread)
    return found, tuple(warnings)


def parse(text: str) -> tuple[dict[str, str], list[int]]:
    """The variables of a text, and the numbers of the lines that set none. The last of two wins."""
    found: dict[str, str] = {}
    unread: list[int] = []
    at, line = 0, 1
    while at < len(text):
        while text.startswith("\ufeff", at):  # the parser takes it off, which would put all places out by one
            at += 1
        for binding in parse_stream(io.StringIO(text[at:], newline="")):
            piece = binding.original.string
            blank = piece[: len(piece) - len(piece.lstrip())]
            value = _value(binding)
            if binding.key is not None and value is not None:
                found[binding.key] = value
            elif binding.error or binding.key is not None:
                unread.append(line + len(_NEWLINE.findall(blank)))
            if binding.error:
                # A quote that nothing closes may have taken later lines with it, and the parser stops between
                # a carriage return and a line feed: go on at the next line.
                end = _NEWLINE.search(text, at + len(blank))
                piece = text[at : end.end()] if end is not None else text[at:]
            at += len(piece)
            line += len(_NEWLINE.findall(piece))
            if binding.error:
                break
    return found, unread


def _value(binding: Binding) -> str | None:
    """What a binding sets; None where it sets nothing that `${NAME}` can refer to."""
    if binding.value is None or "\0" in binding.value or not _NAME.fullmatch(binding.key or ""):
        return None
    after = binding.original.string.partition("=")[2]
    # python-dotenv before 1.2 takes the comment of `NAME= # comment` for the value.
    return "" if after[:1].isspace() and after.lstrip()[:1] == "#" else binding.value


def _refused(path: Path, message: str, line: int | None = None) -> ConfigError:
    return ConfigError(message, code="config.dotenv", where=Location(printable(str(path)), line))
