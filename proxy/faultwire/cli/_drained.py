"""`faultwire control drain`: one engine of several takes no new sessions, and ends once it has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from faultwire.cli._controlled import Place

CLOSE_S = 60.0
"""Seconds for an engine's sessions to be closed and its tape to be verified."""


@click.command("drain", short_help="Drain one engine of several.")
@click.option("--run", "run", metavar="ID", help="The proxy's run; by default the newest.")
@click.option(
    "--within",
    "within_s",
    type=click.FloatRange(0, 86400),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long clients of its sessions may stay connected.",
)
@click.argument("number", type=click.IntRange(2), metavar="ENGINE")
def drain(run: str | None, within_s: float, number: int) -> None:
    """Drain engine ENGINE of a running `faultwire proxy --engines N`, from 2 on.

    It takes no new sessions. Those it has go on until their clients have left; then they are closed, its tape
    is sealed and verified, and it ends. The other engines go on.

    Exit codes: 0 when it has ended with a tape that verifies, 3 if not.
    """
    from faultwire.cli import _controlled as controlled
    from faultwire.cli.output import say
    from faultwire.mitm.engine.control_client import ControlClient

    place = controlled.find(run, several=True)
    about = _about(place)
    controls = about.get("controls", [])
    if number > len(controls):
        raise UsageError(
            f"found engine `{number}`, expected one of 2 to {len(controls)}"
            if len(controls) > 1
            else "found a proxy with one engine, expected several to drain one of",
            code="engine.drain",
        )
    client = ControlClient.at(Path(controls[number - 1]))
    try:
        controlled.ask(client, op="drain", within_s=within_s)
    finally:
        client.close()
    say(f"engine {number} of {len(controls)} takes no new sessions")
    _wait(place, number, within_s + CLOSE_S)
    say(f"engine {number} of {len(controls)} has ended; its tape `{about['tapes'][number - 1]}` verifies")


def _wait(place: Place, number: int, limit_s: float) -> None:
    """Until the proxy says that the engine was drained. Raises FaultwireError where it was not."""
    from faultwire import clock
    from faultwire.cli._controlled import POLL_S

    deadline = clock.monotonic() + limit_s
    while clock.monotonic() < deadline:
        about = _about(place)
        if number in about.get("drained", ()):
            return
        failed = about.get("drain_failed", {}).get(str(number))
        if failed or about.get("status") != "running":
            raise FaultwireError(
                f"engine {number} was not drained: {failed or 'the proxy has ended'}", code="engine.drain"
            )
        clock.pause(POLL_S)
    raise FaultwireError(f"engine {number} was not drained in {limit_s:g} seconds", code="engine.drain")


def _about(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place.folder / "run.json").read_text(encoding="utf-8"))
    return found
