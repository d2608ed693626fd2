"""`faultwire scan`: pattern matches in a text, and leaked secrets in files and tapes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import Format, format_option
from faultwire.errors import UsageError
from faultwire.patterns import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.patterns import Hit, Pattern

TAPE_SUFFIX = ".tape"


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="TEXT|FILE|FOLDER|TAPE|-...")
@click.option(
    "--leaks",
    is_flag=True,
    help="Find leaked secrets in any number of files, folders and tapes (by name or path).",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="What to look for in a text; repeatable. Default: everything but dates and urls.",
)
@click.option(
    "--locale", "locales", multiple=True, metavar="CC", help="Country code; repeatable. Default: all."
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A faultwire.yaml with `patterns:`.",
)
@click.option("--recall", is_flag=True, help="In a text, take checked numbers without a context word.")
@format_option
@click.option("--json", "format_", flag_value="json", help="The same as --format json.")
def scan(
    targets: tuple[str, ...],
    leaks: bool,
    kinds: tuple[str, ...],
    locales: tuple[str, ...],
    config: Path | None,
    recall: bool,
    format_: Format,
) -> None:
    """Find secrets, personal data and prompt injections.

    A TEXT, a FILE or standard input (-) is matched against the built-in patterns and those of
    --config. Folders and tapes are searched for leaked secrets; --leaks does that for plain files
    too. Matches are masked in every output. Exits 0 if nothing is found, 1 if something is, 3 if
    something cannot be read.
    """
    if leaks or all(_holds_files(target) for target in targets):
        from faultwire.cli.tape_scan import scan_leaks

        if kinds or locales or recall or config is not None:
            raise UsageError(
                "found `--kind`, `--locale`, `--recall` or `--config` in a search for leaked secrets, "
                "expected none of them",
                code="usage.scan",
            )
        raise SystemExit(scan_leaks(targets, format_))
    if len(targets) > 1:
        raise UsageError(
            f"found {len(targets)} targets, expected one text, file or `-`",
            code="usage.scan",
            hint="`--leaks` takes any number of files, folders and tapes",
        )
    raise SystemExit(_scan_text(targets[0], kinds, locales, config, format_, recall=recall))


def _holds_files(target: str) -> bool:
    """Is it a folder or a tape? A long text is neither."""
    try:
        path = Path(target)
        return path.is_dir() or (path.suffix == TAPE_SUFFIX and path.is_file())
    except (OSError, ValueError):
        return False


def _scan_text(
    target: str,
    kinds: tuple[str, ...],
    locales: tuple[str, ...],
    config: Path | None,
    format_: Format,
    *,
    recall: bool,
) -> int:
    """Print the pattern matches in one text; the exit code."""
    from dataclasses import asdict

    from faultwire.patterns import compile_patterns, scan as find

    text, name = _read(target)
    user = compile_patterns(_patterns(config)) if config else None
    hits = find(text, kinds=kinds, locales=locales or None, user=user, recall=recall)
    if format_ == "json":
        click.echo(json.dumps({"source": name, "hits": [asdict(hit) for hit in hits]}, indent=2))
    else:
        for line in _lines(name, text, hits):
            click.echo(line)
        click.echo(f"{len(hits)} found" if hits else "nothing found", err=True)
    return 1 if hits else 0


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
    from faultwire.patterns import read_patterns

    entries = section(config, "patterns")
    if entries is None:
        raise UsageError(f"`{config}` has no `patterns`")
    return read_patterns(entries)
