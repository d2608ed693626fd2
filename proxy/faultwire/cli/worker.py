"""`faultwire worker`: plays one batch of a campaign's cells; engines start it, not people."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.campaign.worker import Request
    from faultwire.config.model import Config

    Play = Callable[[Request, Config], tuple[dict[str, Any], bytes]]


@click.command("worker", short_help="Play one batch of a campaign's cells (engines start it).")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The configuration.",
)
@click.option(
    "--series",
    is_flag=True,
    help="Take a request on each line until the input ends; before each answer comes its length.",
)
def worker(config: Path, series: bool) -> None:
    """Play the cells in a request on the standard input, and answer on the standard output.

    `run`, `ci`, `contract run` and `explore` with --on have an engine start it on each worker. Its answer is
    a line of JSON and the batch's tape; an error is a line of JSON, too. SIGTERM ends the batch early.
    """
    from faultwire.campaign.series import Series
    from faultwire.campaign.worker import answer
    from faultwire.cli._ended import interruptible
    from faultwire.parent_death import bind_to_parent
    from faultwire.runner.folder import STATE

    bind_to_parent()  # an engine's worker that is killed takes its batch with it
    with interruptible():
        if not series:
            alone = partial(answer, base=STATE)
            _write(_answered(lambda: _played(sys.stdin.read(), config, alone)))
            return
        with Series(STATE) as batches:
            for line in sys.stdin:
                found = _answered(partial(_played, line, config, batches.answer))
                _write(b"%d\n" % len(found) + found)


def _played(text: str, config: Path, play: Play) -> tuple[dict[str, Any], bytes]:
    """A batch of cells, or of a search's runs. The configuration is read for each: it may have changed."""
    from faultwire.campaign.trial_request import asks_for_trials
    from faultwire.campaign.worker import Request
    from faultwire.config.load import load

    if asks_for_trials(text):
        from faultwire.cli import _explored_search

        return _explored_search.answer(text), b""
    return play(Request.parse(text), load(config))


def _answered(play: Callable[[], tuple[dict[str, Any], bytes]]) -> bytes:
    """The answer to a batch, or the error in its place, and the tape behind it."""
    from faultwire.errors import FaultwireError

    try:
        found, tape = play()
    except FaultwireError as error:
        about = {"code": error.code, "message": error.message, "hint": error.hint}
        found, tape = {"error": {**about, "exit_code": error.exit_code}}, b""
    return json.dumps(found).encode() + b"\n" + tape


def _write(answer: bytes) -> None:
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
