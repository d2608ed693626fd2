"""`faultwire tape merge | split | prune`: manage tape files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli.output import say, show, size_text
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.files.copy import Copy

F = TypeVar("F", bound="Callable[..., Any]")

_output = click.option(
    "-o", "--output", required=True, metavar="NAME", help="The new tape: a name, or a path to a `.tape`."
)


def output_option(command: F) -> F:
    """Add `--output`, which `target_of` takes, and `--output-anywhere`."""
    return _output(anywhere_option()(command))


@click.command()
@click.argument("names", nargs=-1, required=True)
@output_option
def merge(names: tuple[str, ...], output: str) -> None:
    """Copy the sessions of several tapes to one new tape, numbering duplicate names."""
    from faultwire.tape.files.copy import merge as join
    from faultwire.tape.files.find import find

    target = target_of(output)
    _made(join([find(name) for name in names], target, *origin_and_signer(target)))


@click.command()
@click.argument("name")
@click.option("--session", required=True, help="The session to copy.")
@output_option
def split(name: str, session: str, output: str) -> None:
    """Copy one session of a tape to a new tape."""
    from faultwire.tape.files.copy import split as cut
    from faultwire.tape.files.find import find

    target = target_of(output)
    _made(cut(find(name), session, target, *origin_and_signer(target)))


@click.command()
@click.option("--older-than", "age", required=True, metavar="AGE", help="For example 12h, 30d or 8w.")
@click.option("--dry-run", is_flag=True, help="Print what would be removed without removing it.")
def prune(age: str, dry_run: bool) -> None:
    """Remove this project's tapes, including those of runs, that are older than AGE."""
    from faultwire import clock
    from faultwire.errors import TapeError
    from faultwire.tape.files import prune as pruning
    from faultwire.tape.files.find import tapes

    found = pruning.old(tapes(), clock.wall_ms() - pruning.age_ms(age))
    gone: list[pruning.Old] = []
    for one in found:
        try:
            if not dry_run and not pruning.remove(one):
                say(f"{one.path}  is in use and was kept")
                continue
        except OSError as error:
            raise TapeError(f"cannot remove `{one.path}`: {error.strerror}", code="tape.prune") from error
        gone.append(one)
        show(f"{one.path}  {clock.iso(one.created_ms)}  {size_text(one.size)}")
    count = f"{len(gone)} {'tape' if len(gone) == 1 else 'tapes'}"
    say(f"{'would remove' if dry_run else 'removed'} {count}, {size_text(sum(one.size for one in gone))}")


def target_of(output: str) -> Path:
    """Where a new tape goes: a bare name is one of this project's tapes. Raises UsageError."""
    from pathlib import Path

    from faultwire.tape.files.find import STATE
    from faultwire.tape.format.file import SUFFIX

    if "/" in output or output.endswith(SUFFIX):
        return placed(Path(output))
    return placed(STATE / "tapes" / f"{output}{SUFFIX}")


def origin_and_signer(target: Path) -> tuple[str, SignerKey]:
    """Origin and signer of a tape that is made here."""
    from pathlib import Path

    from faultwire.tape.evidence.keyring import name_for

    return f"{name_for(Path.cwd().name)}/{target.stem}", project_signer()


def project_signer() -> SignerKey:
    """This project's signing key, created on first use and kept out of git. Raises FaultwireError."""
    from pathlib import Path

    from faultwire.runner.folder import state
    from faultwire.tape.evidence.keyring import KeyRing

    state()
    return KeyRing().signer_or_new(Path.cwd().name)


def _made(copy: Copy) -> None:
    show(f"{copy.target}: {counted(copy.events, 'event')}, sealed")
