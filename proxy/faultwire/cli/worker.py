"""`faultwire worker`: plays one batch of a campaign's cells; engines start it, not people."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from faultwire.cli._play_options import DEFAULT


@click.command("worker", short_help="Play one batch of a campaign's cells (engines start it).")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The configuration.",
)
def worker(config: Path) -> None:
    """Play the cells in a request on the standard input, and answer on the standard output.

    `run`, `ci`, `contract run` and `explore` with --on have an engine start it on each worker. Its answer is
    a line of JSON and the batch's tape; an error is a line of JSON, too. SIGTERM ends the batch early.
    """
    from faultwire.campaign.trial_request import asks_for_trials
    from faultwire.campaign.worker import Request, answer
    from faultwire.cli import _explored_search
    from faultwire.cli._ended import interruptible
    from faultwire.config.load import load
    from faultwire.errors import FaultwireError
    from faultwire.parent_death import bind_to_parent
    from faultwire.runner.folder import STATE

    bind_to_parent()  # an engine's worker that is killed takes its batch with it
    try:
        with interruptible():
            text = sys.stdin.read()
            if asks_for_trials(text):
                found, tape = _explored_search.answer(text), b""
            else:
                found, tape = answer(Request.parse(text), load(config), STATE)
    except FaultwireError as error:
        about = {"code": error.code, "message": error.message, "hint": error.hint}
        found, tape = {"error": {**about, "exit_code": error.exit_code}}, b""
    sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + tape)
    sys.stdout.buffer.flush()
