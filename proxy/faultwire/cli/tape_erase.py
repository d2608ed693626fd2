"""`faultwire tape erase`: take bodies off tapes whose chain still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import say, show
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.tape.format.events import Event


@click.command()
@click.argument("name", metavar="NAME|FOLDER")
@click.option("--session", metavar="S", help="Bodies of this session only.")
@click.option(
    "--exchange",
    "exchanges",
    type=int,
    multiple=True,
    metavar="N",
    help="Bodies of this exchange; repeatable.",
)
@click.option("--older-than", "age", metavar="AGE", help="Of tapes older than that only: 12h, 30d or 8w.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; the tape keeps it.")
@click.option("--by", required=True, metavar="WHO", help="Who erases; the tape keeps it.")
@click.option("--yes", is_flag=True, help="Erase. Without it the command prints what it would erase.")
def erase(
    name: str,
    session: str | None,
    exchanges: tuple[int, ...],
    age: str | None,
    reason: str,
    by: str,
    yes: bool,
) -> None:
    """Erase bodies from a sealed tape, or from those in a folder.

    Events, hashes and seals stay, so the tape verifies, as PARTIAL; it says which bodies are gone,
    when, by whom and why. URLs, header fields and sizes stay as well. Copies of the tape, exports
    and reports are not reached. Without --session and --exchange all bodies are erased.

    Exits 0, or 1 if a tape in the folder could not be erased.
    """
    from pathlib import Path

    from faultwire.errors import TapeError, UsageError
    from faultwire.tape.files.find import find, tapes

    folder = Path(name)
    if folder.is_dir():
        if age is None or session is not None or exchanges:
            raise UsageError(
                f"found folder `{name}`, expected `--older-than AGE` and no `--session` or `--exchange`",
                code="usage.erase",
            )
        paths = tapes(folder)
    else:
        paths = [find(name)]
    total = failed = 0
    for path in _old(paths, age):
        try:
            total += _one(path, _wanted(session, exchanges), reason, by, yes=yes)
        except TapeError as error:
            if not folder.is_dir():
                raise
            failed += 1
            show(f"{path}: not erased: {error.message}")
    if not total and not folder.is_dir() and age is None:
        raise TapeError(f"tape `{paths[0]}` has no such body", code="tape.no_body")
    say(f"{'erased' if yes else 'would erase'} {counted(total, 'body', 'bodies')}")
    if not yes and total:
        say("nothing was erased yet: the same command with --yes erases")
    if failed:
        say(f"{counted(failed, 'tape')} could not be erased")
    raise SystemExit(1 if failed else 0)


def _old(paths: list[Path], age: str | None) -> list[Path]:
    from faultwire.clock import wall_ms
    from faultwire.tape.files import prune

    if age is None:
        return paths
    return [one.path for one in prune.old(paths, wall_ms() - prune.age_ms(age))]


def _wanted(session: str | None, exchanges: tuple[int, ...]) -> Callable[[Event], bool]:
    def wanted(event: Event) -> bool:
        if session is not None and event.get("session") != session:
            return False
        return not exchanges or event.get("exchange") in exchanges

    return wanted


def _one(path: Path, wanted: Callable[[Event], bool], reason: str, by: str, *, yes: bool) -> int:
    """Erase from one tape, or say what would be erased; how many bodies. Raises TapeError."""
    from faultwire.cli.tape_keep import project_signer
    from faultwire.tape.files import erase as erasing

    erasing.check(path)
    found = erasing.bodies(path, wanted)
    if not found:
        return 0
    if yes:
        erasing.erase(path, list(found), reason, by, project_signer())
    for digest, places in found.items():
        where = ", ".join(
            sorted(session if n is None else f"{session} exchange {n}" for session, n in places)
        )
        show(f"{path}: {digest}  {where}")
    return len(found)
