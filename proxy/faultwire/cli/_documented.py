"""How `list` and `show` of faults and checks print what their docstrings say."""

from __future__ import annotations

import sys
from dataclasses import asdict
from textwrap import indent
from typing import TYPE_CHECKING, Any, Protocol

from faultwire.cli.output import Format, columns, fields, show, show_json
from faultwire.text import width_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.faults._describe import Setting


class Described(Protocol):
    """A description: a dataclass with these fields and one more for its kind."""

    @property
    def name(self) -> str:
        """Its word."""

    @property
    def summary(self) -> str:
        """The first line of its docstring."""

    @property
    def sections(self) -> Mapping[str, str]:
        """Texts by title."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Its settings."""

    @property
    def module(self) -> str:
        """Where it comes from."""


def show_list(described: Sequence[Described], word: str, sort: str, heading: str, format_: Format) -> None:
    """Print one line each; `word` and `sort` (a field of the description) head the first columns."""
    if format_ == "json":
        show_json([{"name": d.name, sort: getattr(d, sort), "summary": d.summary} for d in described])
    else:
        rows = ((d.name, getattr(d, sort), d.summary) for d in described)
        show(columns((word, sort, heading), rows))


def show_page(described: Any, word: str, sort: str, format_: Format) -> None:
    """Print the full documentation of one."""
    if format_ == "json":
        show_json(asdict(described))
    else:
        show(_page(described, word, sort))


def _page(one: Described, word: str, sort: str) -> str:
    head = fields(((word, one.name), (sort, getattr(one, sort)), ("from", one.module)))
    parts = [f"{one.summary}\n\n{head}"]
    parts += [f"{title}\n{indent(_prose(text), '  ')}" for title, text in one.sections.items()]
    rows = [(s.name, s.expected, _default(s.default), s.description) for s in one.settings]
    if rows:
        table = columns(("setting", "takes", "default", "meaning"), rows)
        parts.insert(-1, f"Settings\n{indent(table, '  ')}")
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """Paragraphs as long lines, for a terminal whose width is known: they are broken where it ends."""
    if width_of(sys.stdout) is None:
        return text
    parts = text.split("\n\n")
    return "\n\n".join(
        part if any(map(_is_set, part.split("\n"))) else " ".join(part.split()) for part in parts
    )


def _is_set(line: str) -> bool:
    """Does a line stand as it was typed: of an example, of a list?"""
    return line.startswith((" ", "- ", "* ")) or line.endswith(":")


def _default(default: str | None) -> str:
    return {None: "required", "null": "-"}.get(default, default or "")
