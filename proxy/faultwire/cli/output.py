"""Output of commands: data on stdout, progress on stderr, both escaped."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from faultwire.text import folded, safe, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import IO

Format = Literal["terminal", "json"]
F = TypeVar("F", bound="Callable[..., Any]")


def say(text: str = "") -> None:
    """A line of progress, on stderr."""
    click.echo(folded(safe(text, lines=True), width_of(sys.stderr)), err=True)


def show(text: str = "", *, whole: bool = False) -> None:
    """A line of data, on stdout. What somebody copies or a program reads is `whole`: it keeps its lines also
    where they are longer than those of the terminal."""
    made = safe(text, lines=True)
    click.echo(made if whole else folded(made, width_of(sys.stdout)))


def show_json(data: Any) -> None:
    """Print data as ASCII JSON on stdout, so that no value can inject terminal control codes."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=True))


def colour(stream: IO[str] | None = None) -> bool:
    """Should this stream (stdout by default) be coloured? Only on a terminal, and not with `NO_COLOR`."""
    target = sys.stdout if stream is None else stream
    return target.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def size_text(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{size / 1e3:.1f} kB"


def fields(pairs: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """`name  value` lines with the values in one column."""
    rows = list(pairs.items()) if hasattr(pairs, "items") else list(pairs)
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}".rstrip() for name, value in rows)


def columns(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A plain table; every cell is made safe first. Where it is wider than the terminal, each row stands on
    several lines, broken between cells."""
    table = [[safe(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    room = width_of(sys.stdout)
    if room is not None and sum(widths) + 2 * len(widths) - 2 > room:
        return "\n".join(line for row in table for line in _stacked(row, room))
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


def _stacked(row: Sequence[str], room: int) -> list[str]:
    """The cells of a row on as few lines as they need; all but the first begin further in."""
    lines = [""]
    for cell in filter(None, row):
        joined = f"{lines[-1]}  {cell}" if lines[-1].strip() else lines[-1] + cell
        if len(joined) <= room or not lines[-1].strip():
            lines[-1] = joined
        else:
            lines.append(f"    {cell}")
    return folded("\n".join(lines), room).split("\n")


def format_option(command: F) -> F:
    """The option `--format terminal|json`, as the argument `format_`."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(["terminal", "json"]),
        default="terminal",
        show_default=True,
        help="How to print the result on stdout.",
    )(command)
