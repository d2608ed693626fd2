"""Fields of comma-separated values (RFC 4180), also with semicolons, tabs and bars."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DELIMITERS = ",;\t|"
FEWEST = 2
"""Rows, and columns, of what counts as a table: prose has commas, too."""


def delimiter(text: str) -> str | None:
    """What divides its columns; None where it is no table whose rows all have as many."""
    lines = text.splitlines()
    if len(lines) < FEWEST or text.lstrip()[:1] in ("{", "[", "<", "#"):
        return None
    for one in DELIMITERS:
        try:
            widths = {len(row) for row in _rows(text, one)}
        except csv.Error:
            continue
        if len(widths) == 1 and min(widths) >= FEWEST and not _is_prose(lines, one):
            return one
    return None


def _is_prose(lines: list[str], one: str) -> bool:
    """Commas with a space behind each of them are a sentence's; a Markdown table starts with a bar."""
    if one == "|":
        return any(line.lstrip().startswith("|") for line in lines)
    return one == "," and all(line.count(", ") == line.count(",") for line in lines)


def _rows(text: str, one: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=one, strict=True) if row]


def replaced(text: str, one: str, change: Callable[[str], str]) -> str:
    """The table with its fields changed; one that changes is quoted where it must be."""
    made = []
    for field, raw, end in _fields(text, one):
        new = change(field)
        made.append((raw if new == field else _written(new, one, quoted=raw[:1] == '"')) + end)
    return "".join(made)


def _fields(text: str, one: str) -> list[tuple[str, str, str]]:
    """Each field: what it says, how it stands there, and what ends it."""
    found, at = [], 0
    while at < len(text):
        start = at
        if text[at] == '"':
            at = _closing(text, at + 1)
        while at < len(text) and text[at] not in f"{one}\r\n":
            at += 1
        raw = text[start:at]
        end = "\r\n" if text.startswith("\r\n", at) else text[at : at + 1]
        at += len(end)
        value = raw[1:-1].replace('""', '"') if raw[:1] == '"' and raw[-1:] == '"' and len(raw) > 1 else raw
        found.append((value, raw, end))
    return found


def _closing(text: str, at: int) -> int:
    """Behind the quote that closes a field; two in a row are one of its characters."""
    while (end := text.find('"', at)) >= 0:
        if text[end + 1 : end + 2] != '"':
            return end + 1
        at = end + 2
    return len(text)


def _written(field: str, one: str, *, quoted: bool) -> str:
    if quoted or any(mark in field for mark in f'{one}"\r\n'):
        doubled = field.replace('"', '""')
        return f'"{doubled}"'
    return field
