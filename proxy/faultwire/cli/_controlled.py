"""Holds what `faultwire control arm` has armed, and looks at what the engine cannot: costs, and a command.

The engine disarms when this process says nothing any more. So every failure here leaves traffic alone.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from faultwire import clock
from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.mitm.engine.control_client import ControlClient

POLL_S = 0.1
"""How often the engine hears of us, and the watches are looked at."""
CONDITION = "aborted: "
OVER = "its window is over"
HOW = "start one with `faultwire proxy`"


class Place(NamedTuple):
    """A running proxy: its run's folder, its control socket and its tape."""

    folder: Path
    control: Path
    tape: Path


class Watch(Protocol):
    """An abort condition that is looked at here."""

    def look(self) -> str | None:
        """Why to abort, None where all is well."""

    def close(self) -> None:
        """Leave nothing behind."""


class Health:
    """A command that has to exit 0, run again and again. The first failure counts."""

    def __init__(self, command: str, every_s: float, limit_s: float) -> None:
        self._words = shlex.split(command)
        self._every_s, self._limit_s = every_s, limit_s
        self._running: subprocess.Popen[bytes] | None = None
        self._began = clock.monotonic() - every_s
        if not self._words:
            raise UsageError("found an empty command for `--abort-health`", code="control.health")

    def look(self) -> str | None:
        """Why to abort, None where all is well."""
        now = clock.monotonic()
        if self._running is None:
            if now - self._began < self._every_s:
                return None
            self._began = now
            try:
                self._running = subprocess.Popen(
                    self._words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                return f"the health command cannot be run: {error.strerror}"
        code = self._running.poll()
        if code is None:
            late = now - self._began > self._limit_s
            return f"the health command took over {self._limit_s:g} s" if late else None
        self._running = None
        return f"the health command exited {code}" if code else None

    def close(self) -> None:
        """Leave nothing behind."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()


class Cost:
    """What models cost since it was made, by the tape. A call whose cost nobody knows aborts as well."""

    def __init__(self, place: Place, most: Decimal) -> None:
        from faultwire import wire
        from faultwire.tape.read.reader import TapeReader
        from faultwire.wire.transcript import prices

        # All that takes long to load is here before anything is armed: the engine does not wait for it later.
        self._open, self._transcript_of = TapeReader.open, wire.transcript_of
        wire.protocols()
        prices.current()
        self._tape, self._most = place.tape, most
        self._journal = (place.folder / "events.jsonl").open("rb")
        self._journal.seek(0, os.SEEK_END)
        self._rest = b""
        self.total = Decimal(0)

    def look(self) -> str | None:
        """Why to abort, None where all is well."""
        *lines, self._rest = (self._rest + self._journal.read()).split(b"\n")
        return self._add([json.loads(line) for line in lines]) if lines else None

    def _add(self, ended: Sequence[dict[str, Any]]) -> str | None:
        with self._open(self._tape) as tape:
            for one in ended:
                recorded = tape.detail(one["session"], one["exchange"]).recorded
                if recorded.kind != "llm" or recorded.upstream is None or recorded.upstream.status >= 300:
                    continue
                transcript = self._transcript_of(recorded)
                if transcript is None or transcript.cost is None:
                    model = "unknown" if transcript is None else transcript.model
                    return f"the cost of a call to the model `{model}` is not known"
                self.total += transcript.cost
        if self.total > self._most:
            return f"models cost {self.total:f} dollars, allowed are {self._most:f}"
        return None

    def close(self) -> None:
        """Leave nothing behind."""
        self._journal.close()


def find(run_id: str | None, commands: Sequence[str] = ("proxy",), *, several: bool = False) -> Place:
    """A running proxy, or engine of these commands, by default the newest. Raises UsageError where there is
    none, and where it has several engines unless those are meant: what is armed is armed on one."""
    from faultwire.runner.folder import STATE

    runs = STATE / "runs"
    for folder in [runs / run_id] if run_id else sorted(runs.glob("*"), reverse=True):
        try:
            about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            tape = about["tapes"][0] if "tape" not in about else about["tape"]
            place = Place(folder, Path(about["control"]), Path(tape))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # no run's folder, or one whose start was cut short
        if about.get("command") in commands and about.get("status") == "running" and _answers(place):
            if len(about.get("controls", ())) > 1 and not several:
                raise UsageError(
                    "found a proxy with several engines, expected one",
                    code="control.engines",
                    hint="only `faultwire control drain` knows several; start the proxy without --engines",
                )
            return place
    if run_id:
        raise UsageError(f"found no proxy in the run `{run_id}`", code="proxy.not_running", hint=HOW)
    raise UsageError(f"found no running proxy below `{runs}`", code="proxy.not_running", hint=HOW)


def _answers(place: Place) -> bool:
    """Does its engine? A proxy that was killed leaves `running` behind."""
    try:
        with connected(place) as client:
            ask(client, op="armed")
    except FaultwireError:
        return False
    return True


class connected:  # noqa: N801 - a context manager, used as a function
    """A connection to a proxy's control socket. What it arms lives no longer than it."""

    def __init__(self, place: Place) -> None:
        from faultwire.mitm.engine.control_client import ControlClient

        self._client = ControlClient.at(place.control)

    def __enter__(self) -> ControlClient:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()


def ask(client: ControlClient, **message: Any) -> dict[str, Any]:
    """An answer of the engine. Raises its error, or FaultwireError where it does not answer."""
    try:
        reply = client.ask(message)
    except OSError as error:
        raise FaultwireError(
            f"the proxy does not answer on its control socket: {error}", code="control.lost"
        ) from error
    if "error" in reply:
        found = reply["error"]
        kind = UsageError if found["exit_code"] == UsageError.exit_code else FaultwireError
        raise kind(found["message"], code=found["code"], hint=found["hint"])
    return reply


def hold(
    client: ControlClient,
    ident: str,
    watches: Sequence[Watch],
    stopped: Callable[[], bool],
    rest: Callable[[float], None] = clock.pause,
) -> dict[str, Any]:
    """Keep it armed until it is over, a watch aborts it, or we are stopped; what it was in the end. `rest`
    lets seconds pass."""
    try:
        while True:
            if stopped():
                return ask(client, op="disarm", id=ident, why="its controller was stopped")
            listed = ask(client, op="hold")["interventions"]
            now: dict[str, Any] | None = next((one for one in listed if one["id"] == ident), None)
            if now is None:
                return {"id": ident, "why": "it was forgotten", "state": "disarmed"}
            if now["state"] == "disarmed":
                return now
            for watch in watches:
                why = watch.look()
                if why is not None:
                    return ask(client, op="disarm", id=ident, why=f"{CONDITION}{why}")
            rest(POLL_S)
    finally:
        for watch in watches:
            watch.close()
