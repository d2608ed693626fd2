"""`faultwire tape merge | split | prune`: keeping house."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import say, show

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.tape.copy import Copy
    from faultwire.tape.note import SignerKey

_output = click.option("-o", "--output", required=True, metavar="FILE", help="The new tape.")


@click.command()
@click.argument("names", nargs=-1, required=True)
@_output
def merge(names: tuple[str, ...], output: str) -> None:
    """Put the sessions of several tapes on one new tape; names that clash get a number."""
    from pathlib import Path

    from faultwire.tape.copy import merge as join
    from faultwire.tape.find import find

    target = Path(output)
    _made(join([find(name) for name in names], target, *origin_and_signer(target)))


@click.command()
@click.argument("name")
@click.option("--session", required=True, help="The session to take out.")
@_output
def split(name: str, session: str, output: str) -> None:
    """Put one session of a tape on a new tape of its own."""
    from pathlib import Path

    from faultwire.tape.copy import split as cut
    from faultwire.tape.find import find

    target = Path(output)
    _made(cut(find(name), session, target, *origin_and_signer(target)))


@click.command()
@click.option("--older-than", "age", required=True, metavar="AGE", help="For example 12h, 30d or 8w.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
def prune(age: str, dry_run: bool) -> None:
    """Remove this project's tapes (also those of runs) that were recorded longer ago than AGE."""
    from faultwire import clock
    from faultwire.errors import TapeError
    from faultwire.tape import prune as pruning
    from faultwire.tape.find import tapes

    found = pruning.old(tapes(), clock.wall_ms() - pruning.age_ms(age))
    for one in found:
        if not dry_run:
            try:
                pruning.remove(one)
            except OSError as error:
                raise TapeError(f"cannot remove `{one.path}`: {error.strerror}", code="tape.prune") from error
        show(f"{one.path}  {clock.iso(one.created_ms)}  {one.size / 1e6:.1f} MB")
    freed = sum(one.size for one in found) / 1e6
    say(f"{'would remove' if dry_run else 'removed'} {len(found)} tapes, {freed:.1f} MB")


def origin_and_signer(target: Path) -> tuple[str, SignerKey]:
    """Origin and signer of a tape that is made here."""
    from pathlib import Path

    from faultwire.tape.keys import KeyRing, name_for

    project = name_for(Path.cwd().name)
    return f"{project}/{target.stem}", KeyRing().signer_or_new(project)


def _made(copy: Copy) -> None:
    show(f"{copy.target}: {copy.events} events, sealed")
