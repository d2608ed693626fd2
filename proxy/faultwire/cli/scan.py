"""`faultwire scan`: personal data, secrets and prompt injections in a text, a file or standard input."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.errors import UsageError
from faultwire.patterns import KINDS, Hit, Pattern, compile_patterns, read_patterns, scan as find

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command()
@click.argument("target", metavar="TEXT|FILE|-")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="What to look for; repeatable. Default: everything but dates and urls.",
)
@click.option(
    "--locale", "locales", multiple=True, metavar="CC", help="Country code; repeatable. Default: all."
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A faultwire.yaml with `patterns:`.",
)
@click.option("--recall", is_flag=True, help="Take checked numbers without a context word.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of lines.")
def scan(
    target: str,
    kinds: tuple[str, ...],
    locales: tuple[str, ...],
    config: Path | None,
    recall: bool,
    as_json: bool,
) -> None:
    """Scan TEXT, a FILE, or standard input (-).

    Exits 1 if something is found. Values are masked in every output.
    """
    text, name = _read(target)
    user = compile_patterns(_patterns(config)) if config else None
    hits = find(text, kinds=kinds, locales=locales or None, user=user, recall=recall)
    if as_json:
        click.echo(json.dumps({"source": name, "hits": [asdict(hit) for hit in hits]}, indent=2))
    else:
        for line in _lines(name, text, hits):
            click.echo(line)
        click.echo(f"{len(hits)} found" if hits else "nothing found", err=True)
    raise SystemExit(1 if hits else 0)


def _read(target: str) -> tuple[str, str]:
    if target == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace"), "-"
    try:
        path = Path(target)
        if path.is_file():
            return path.read_bytes().decode("utf-8", "replace"), target
    except OSError:  # a long text is no path
        pass
    return target, "text"


def _lines(name: str, text: str, hits: list[Hit]) -> Iterator[str]:
    """One line a hit. Line ends are counted from hit to hit, so the text is read once for all of them."""
    row, first, at = 1, 0, 0
    for hit in hits:
        ends = text.count("\n", at, hit.start)
        if ends:
            row += ends
            first = text.rfind("\n", at, hit.start) + 1
        at = hit.start
        place = f"{row}:{hit.start - first + 1}"
        yield f"{name}:{place}: {hit.kind} {hit.id} ({hit.severity}, {hit.score:.2f}) {hit.masked}"


def _patterns(config: Path) -> tuple[Pattern, ...]:
    from faultwire.cli._config_file import section

    entries = section(config, "patterns")
    if entries is None:
        raise UsageError(f"`{config}` has no `patterns`")
    return read_patterns(entries)
