"""`faultwire tape tree`: which tape was forked from which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import format_option, show, show_json
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.replay.lineage import Branch


@click.command()
@click.argument("places", nargs=-1, metavar="[DIR|TAPE]...")
@format_option
def tree(places: tuple[str, ...], format_: str) -> None:
    """Show which tape was forked from which, and at which exchange.

    Without arguments: the tapes of this project and its runs. A parent is found by its digest under any
    file name.
    """
    from pathlib import Path

    from faultwire.replay.lineage import tree as grown
    from faultwire.tape.files.find import find, tapes

    named = [
        path for place in places for path in (tapes(Path(place)) if Path(place).is_dir() else [find(place)])
    ]
    found = grown(named if places else tapes())
    if format_ == "json":
        show_json([branch.as_json() for branch in found])
        return
    for branch in found:
        for line in _lines(branch, "", ""):
            show(safe(line))
    if not found:
        show("no tapes")


def _lines(branch: Branch, first: str, rest: str) -> Iterator[str]:
    count = f"{branch.exchanges} {'exchange' if branch.exchanges == 1 else 'exchanges'}"
    yield f"{first}{branch.path}  {count}{_left(branch)}"
    for child in branch.children:
        last = child is branch.children[-1]
        yield from _lines(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def _left(branch: Branch) -> str:
    """Its fork point and change."""
    if branch.fork is None or branch.parent is None:
        return ""
    fork = branch.fork
    change = fork.get("change")
    how = f", {next(iter(change), '')}" if isinstance(change, dict) else ""
    lost = f" of `{branch.parent.get('tape')}`, which was not found" if branch.lost else ""
    return f", forked at {fork.get('at')}{lost}{how}, then {fork.get('tail')}"
