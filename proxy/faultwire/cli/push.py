"""`faultwire push | pull | gc`: a run's results and tapes to and from where a team keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli._store_options import (
    StoreOptions,
    project_option,
    store_option,
    tapes_option,
    with_store,
)
from faultwire.cli.output import say, show
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.cli._store_options import Target
    from faultwire.store.objects import Objects


@click.command("push", short_help="Send runs' results and tapes to where a team keeps them.")
@click.argument("names", nargs=-1, metavar="RUN|TAPE…")
@click.option("--tapes", metavar="PLACE", help="Where tapes go: a folder, or s3://BUCKET/PREFIX.")
@click.option(
    "--blame",
    "blames",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Also send this `blame.json` of the run (repeatable), for the page of the run.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Send nothing: compare --store with --tapes; exits 1 if a run lacks its tape, or a tape its run.",
)
@store_option
@project_option
def push(
    names: tuple[str, ...], tapes: str | None, blames: tuple[Path, ...], check: bool, store_url: str | None,
    store_token: Path | None, project: str | None,
) -> None:  # fmt: skip
    """Send runs (by id, `last`, or folder) and tapes: results to --store, tapes to --tapes.

    Each tape must verify and be sealed. What is there already is not sent again, so that the same command
    goes on where one was cut. What `ci --explain` found is sent with the run.
    """
    from faultwire.cli._pushed import compare

    options = StoreOptions(store_url, project, store_token)
    if check:
        with with_store():
            compare(options.url, options.project, tapes, names)
        return
    found = _asked(names, tapes, store_url, blames)
    store = options.open()
    try:
        for name, run in found:
            if store is not None and run is not None:
                _push_run(store, run, blames)
            if tapes is not None:
                _push_tapes(tapes, name, run, options.project)
    finally:
        if store is not None:
            store.close()


def _asked(
    names: Sequence[str], tapes: str | None, store_url: str | None, blames: Sequence[Path]
) -> list[tuple[str, Path | None]]:
    """Each name with the run's folder. Raises UsageError for options that make no sense together."""
    from faultwire.errors import UsageError

    if not names:
        raise click.MissingParameter(param_type="argument", param_hint="RUN|TAPE…")
    if tapes is None and store_url is None:
        raise UsageError("found neither --store nor --tapes, expected one of them", code="usage.push")
    found = [(name, _run(name)) for name in names]
    if blames and (len(found) != 1 or found[0][1] is None or store_url is None):
        raise UsageError(
            "found `--blame`, expected one run and --store with it", code="usage.push",
            hint="`faultwire push RUN --blame .faultwire/blame/…/blame.json --store …`",
        )  # fmt: skip
    return found


def _push_run(store: Target, run: Path, blames: Sequence[Path]) -> None:
    from faultwire.cli._pushed_blame import blames_of
    from faultwire.store.results import run_of

    results = list(blames_of(run, blames))  # before anything is sent
    added = store.add(run_of(run))
    show(f"{run.name}: {'added to' if added else 'is already in'} the store")
    for note in store.notes:
        say(note)
    for path, document in results:
        fresh = store.add_blame(run.name, document)
        show(f"{path}: {'added to' if fresh else 'is already in'} the store")


def _run(name: str) -> Path | None:
    """The folder of a run; None for the name of a tape."""
    from faultwire.errors import UsageError
    from faultwire.runner.past_runs import run_folder

    if name.endswith(".tape"):
        return None
    try:
        return run_folder(name)
    except UsageError:
        from faultwire.tape.files.find import find

        find(name)
        return None


def _push_tapes(place: str, name: str, run: Path | None, project: str) -> None:
    from faultwire.store.objects import Objects
    from faultwire.store.results import tapes_of
    from faultwire.store.tapes import push as send
    from faultwire.tape.files.find import find

    objects = Objects(place)
    paths = [find(name)] if run is None else tapes_of(run)
    for path in paths:
        done = send(objects, path, project)
        pieces = counted(done.sent, "piece")
        show(f"{done.digest}  {path}")
        say(f"{pieces} sent, {done.known} there already")


@click.command("pull", short_help="Fetch a tape from where a team keeps it.")
@click.argument("digest", metavar="SHA256")
@tapes_option
@project_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The new tape."
)
@anywhere_option()
def pull(digest: str, tapes: str, project: str | None, output: Path) -> None:
    """Fetch a tape by the hash of its file, or the beginning of it, and verify it.

    Nothing is left in its place where anything of it was changed.
    """
    from faultwire.store.objects import Objects
    from faultwire.store.tapes import pull as fetch

    target = placed(output)
    fetch(Objects(tapes), digest, StoreOptions(None, project).project, target)
    show(f"{target}: verified; `faultwire tape verify` checks by whom it was sealed")


@click.command("gc", short_help="Remove what no tape needs from where a team keeps tapes.")
@tapes_option
@click.option("--dry-run", is_flag=True, help="Print what would be removed without removing it.")
@click.option(
    "--superseded",
    is_flag=True,
    help="Remove, instead, this project's tapes of which a copy with bodies erased is there, too.",
)
@project_option
def gc(tapes: str, dry_run: bool, superseded: bool, project: str | None) -> None:
    """Remove pieces that no tape of any project needs and that are older than a day.

    With --superseded, tapes go whose place a copy has taken that `tape erase` made, with the pieces that
    no other tape needs, at once. Each is fetched and compared first; one whose copy does not verify by a
    key that this project trusts stays, and the exit code is 1.
    """
    from faultwire.store.objects import Objects
    from faultwire.store.tapes import collect_garbage

    objects = Objects(tapes)
    if superseded:
        kept = _remove_superseded(objects, StoreOptions(None, project).project, dry_run=dry_run)
        raise SystemExit(1 if kept else 0)
    count = 0
    for piece in collect_garbage(objects, dry_run=dry_run):
        show(piece)
        count += 1
    say(f"{'would remove' if dry_run else 'removed'} {counted(count, 'piece')}")


def _remove_superseded(objects: Objects, project: str, *, dry_run: bool) -> int:
    """Remove them, or say what would go; how many stay."""
    from faultwire.store.superseded import remove, superseded
    from faultwire.tape.evidence.keyring import KeyRing

    removed = pieces = stay = 0
    for one in list(superseded(objects, project, KeyRing().trusted())):
        if one.kept_for is not None:
            show(f"{one.digest}  stays: its copy {one.by} does not verify: {one.kept_for}")
            stay += 1
            continue
        show(f"{one.digest}  superseded by {one.by}")
        removed += 1
        pieces += 0 if dry_run else remove(objects, project, one)
    if dry_run:
        say(f"would remove {counted(removed, 'tape')}")
    else:
        say(f"removed {counted(removed, 'tape')} and {counted(pieces, 'piece')}")
    return stay
