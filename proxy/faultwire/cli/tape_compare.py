"""`faultwire tape diff | learn`: two tapes side by side."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import format_option, say, show, show_json
from faultwire.text import safe

if TYPE_CHECKING:
    from faultwire.replay.match import Index
    from faultwire.tape.read import TapeReader


@click.command()
@click.argument("one")
@click.argument("other")
@click.option("--mask", "masks", multiple=True, metavar="[HOST/PATH ]$.PATH", help="Ignore this place.")
@format_option
def diff(one: str, other: str, masks: tuple[str, ...], format_: str) -> None:
    """Compare two tapes up to their first divergence.

    Calls are paired by what they ask, as in a replay. Exits 1 where the tapes diverge.
    """
    from faultwire.replay.compare import compare

    with _opened(one) as first, _opened(other) as second:
        found = compare(_index(first, masks), second.exchanges())
    if format_ == "json":
        show_json(
            {"same": found.same, "divergence": found.divergence.as_json() if found.divergence else None}
        )
    else:
        show(f"{found.same} {'call is' if found.same == 1 else 'calls are'} the same")
        if found.divergence is not None:
            told = found.divergence
            show(safe(f"then: {told.kind}: {told.method} {told.url}: {told.reason}"))
            for place in told.differences:
                show(safe(f"  {place.path}"))
                show(safe(f"    - {place.recorded}"))
                show(safe(f"    + {place.asked}"))
    sys.exit(1 if found.divergence is not None else 0)


@click.command()
@click.argument("one")
@click.argument("other")
@format_option
def learn(one: str, other: str, format_: str) -> None:
    """Propose masks: places in requests that differ between two recorded runs of the same agent.

    Look at each before you use it: a mask makes a replay blind to that place.
    """
    from faultwire.replay.compare import learn as compared

    with _opened(one) as first, _opened(other) as second:
        found = compared(_index(first, ()), second.exchanges())
    if format_ == "json":
        about = ("mask", "calls", "recorded", "asked", "minted")
        show_json([{name: getattr(proposal, name) for name in about} for proposal in found])
        return
    for proposal in found:
        show(safe(f"--mask '{proposal.mask}'"))
        kind = "an id or an instant" if proposal.minted else "no id or instant: look twice"
        count = f"{proposal.calls} {'call' if proposal.calls == 1 else 'calls'}"
        say(safe(f"  {count}, {kind}: `{proposal.recorded}` and `{proposal.asked}`"))
    if not found:
        say("no place differs that a mask can name")


def _opened(name: str) -> TapeReader:
    from faultwire.replay.reader import open_tape
    from faultwire.tape.find import find

    return open_tape(find(name))


def _index(reader: TapeReader, masks: tuple[str, ...]) -> Index:
    from faultwire.replay.reader import index

    return index(reader, masks)
