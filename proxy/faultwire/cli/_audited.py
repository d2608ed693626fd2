"""What `faultwire audit` does: run the command under one condition after the other, and report."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.audit.compare_runs import Run
from faultwire.cli._audited_folder import Snapshot
from faultwire.errors import CaptureError, FaultError, FaultwireError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from faultwire.agents._process import Ended
    from faultwire.audit.finding import Condition
    from faultwire.capture.chance import FixedChance
    from faultwire.capture.freeze import FrozenClock
    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.trials.shared import SharedRun

SESSION = "exec"
"""As `exec` calls it: the dice depend on it."""
SPREAD = (
    "{latency: {distribution: uniform, ms: 750, jitter_ms: 750}, id: audit-order-NUMBER, on: {host: '*'}}"
)
"""Each call waits for as long as its own dice say, so that answers come in the same order in each run."""
APART_MS, SPREADS = 200, 6
"""By how much answers must be apart for that, and how many dice are tried."""
INTERRUPTED = 130
MOST_RUNS = 1000
"""Of one proxy; an audit makes fewer."""
UNREACHED = "no program of the command took the preload (Python without -I, -E and -S, or Node)"
LINES, LINE = 20, 500
"""How many last lines of a command without traffic are repeated, and how many characters of each."""


def audit(
    against: str | None, command: tuple[str, ...], traffic: Traffic, timeout_s: float, format_: Format,
    *, quiet: bool,
) -> int:  # fmt: skip
    """Find the cause, and print it; the exit code. Raises UsageError, TapeError, FaultError."""
    from faultwire.audit.experiment import Audit
    from faultwire.audit.program import program_hash
    from faultwire.capture import child
    from faultwire.cli._audited_report import as_json, lines
    from faultwire.cli.output import say, show, show_json

    child.find(command, os.environ)
    earlier, known = _earlier(against, traffic) if against is not None else (None, None)
    now = program_hash(command)
    same = None if known is None or now is None else known == now
    profile = traffic.load()
    with tempfile.TemporaryDirectory(prefix="faultwire-audit-") as place:
        player = Player(
            traffic, traffic.launch("audit", profile=profile), profile, command, timeout_s, Path(place),
            Snapshot.take(Path.cwd(), Path(place)), (lambda _: None) if quiet else say,
        )  # fmt: skip
        with player:
            found = Audit(player.play, traffic.mask, player.why_not, earlier, same).run()
        found = replace(found, runs=player.runs)
    if format_ == "json":
        show_json(as_json(found))
    else:
        for line in lines(found, traffic.seed):
            show(line)
    if found.interrupted:
        return INTERRUPTED
    return 0 if found.cause is None else 1


def printed(*streams: str) -> list[str]:
    """The last lines of what a command printed, harmless for a terminal."""
    from faultwire.text import safe

    return [safe(line)[:LINE] for text in streams for line in text.splitlines()[-LINES:] if line.strip()]


def _earlier(source: str, traffic: Traffic) -> tuple[Run, str | None]:
    """An earlier run, and the hash of its program where its folder has one. Raises UsageError, TapeError."""
    from faultwire.errors import UsageError
    from faultwire.replay.reader import open_tape
    from faultwire.tape.files.find import find

    path = find(source)
    with open_tape(path, unverified=traffic.unverified) as tape:
        sessions = [one.name for one in tape.sessions()]
        if len(sessions) != 1:
            raise UsageError(
                f"found {counted(len(sessions), 'session')} in `{path}`, expected one", code="audit.session"
            )
        exchanges = tuple(tape.exchanges(sessions[0]))
    try:
        about = json.loads((path.parent / "run.json").read_text())
    except (OSError, ValueError):
        about = {}
    known = about.get("program_sha256") if isinstance(about, dict) else None
    return Run(exchanges, int(about.get("exit_code") or 0)), known if isinstance(known, str) else None


@dataclass
class Player:
    """A context in which `play` runs the command under a condition. Runs share a proxy: one with the answers
    that were asked for, and one with those of a tape."""

    traffic: Traffic
    settings: LaunchSettings
    profile: Profile
    command: tuple[str, ...]
    timeout_s: float
    place: Path
    snapshot: Snapshot
    say: Callable[[str], None]
    runs: int = 0
    _clock: FrozenClock | None = None
    _chance: FixedChance | None = None
    _shared: SharedRun | None = None
    _tape: Path | None = None
    _of_tape: bool = False
    """Does the proxy that is there answer from a tape?"""
    _sessions: list[tuple[Run, Path, str]] = field(default_factory=list)
    """Where each run stands; kept, so that no other one gets its identity."""
    _why_not: dict[Condition, str] = field(default_factory=dict)
    _spread: int = 1
    """Which dice delay calls, and whether they leave answers far enough apart."""
    _spread_known: bool = False

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shared is not None:
            self._shared.end(error)

    def why_not(self, condition: Condition) -> str:
        """Why a condition could not be tried."""
        return self._why_not.get(condition, "it is not to be had here")

    def play(self, condition: Condition, tape: Run | None) -> Run | None:
        """Run it; None where the condition is not to be had. Raises FaultError where a run proves nothing."""
        more = dict[str, str]()
        folder: Path | None = None
        clock = self.settings.frozen
        if condition == "frozen clock":
            try:
                clock = self._frozen()
            except FaultwireError as error:
                self._why_not[condition] = error.message
                return None
            more["PYTHONHASHSEED"] = "random"
        elif condition == "fixed hashes":
            more["PYTHONHASHSEED"] = "0"
        elif condition == "fixed order":
            return self._in_order()
        elif condition == "fresh folder":
            if self.snapshot.why_not:
                self._why_not[condition] = self.snapshot.why_not
                return None
            folder = self.snapshot.fresh()
        chance = self._fixed_chance() if condition == "fixed chance" else None
        made = self._once(condition, self._proxy(tape), self.profile, more, folder, clock, chance)
        if made is None:
            self._why_not[condition] = "the command sent no traffic under it"
        elif chance is not None and not chance.reached():
            self._why_not[condition] = UNREACHED
            return None
        return made

    def _in_order(self) -> Run | None:
        """Delay each call by its own dice. Servers take another time in each run: where they answer, the tape
        of the first run does so in their place. Dice that leave two answers close together are not kept."""
        from faultwire.audit.compare_runs import closest_answers
        from faultwire.profile.load import inline, merge

        proxy = self._proxy(None if self.settings.mock or self.settings.script else self._sessions[0][0])
        made: Run | None = None
        while made is None or not self._spread_known:
            profile = merge([self.profile, inline(SPREAD.replace("NUMBER", str(self._spread)))])
            made = self._once("fixed order", proxy, profile, {}, None, self.settings.frozen, None)
            if made is None:
                self._why_not["fixed order"] = "the command sent no traffic under it"
                return None
            if not self._spread_known:
                self._spread_known = closest_answers(made) >= APART_MS or self._spread >= SPREADS
                self._spread += not self._spread_known
        return made

    def _frozen(self) -> FrozenClock | None:
        from faultwire.cli._freeze import AUTO, freezing

        if self._clock is None:
            self._clock = freezing(AUTO, None, self.command)
        return self._clock

    def _fixed_chance(self) -> FixedChance:
        from faultwire.capture.chance import FixedChance

        if self._chance is None:
            self._chance = FixedChance.at(self.place / "chance")
        return self._chance

    def _proxy(self, answers: Run | None) -> SharedRun:
        """A proxy that is answered by an earlier run, or as was asked for. The one before is ended, so that
        its tape is whole."""
        from faultwire.trials.shared import SharedRun

        if self._shared is not None and self._of_tape == (answers is not None):
            return self._shared
        if self._shared is not None:
            self._shared.end()
        self._tape = self.place / f"{self.runs}.tape"
        settings = replace(self.settings, tape=self._tape)
        if answers is not None:
            from faultwire.replay.settings import ReplaySettings

            tape, session = next((tape, name) for run, tape, name in self._sessions if run is answers)
            replay = ReplaySettings(tape=tape, masks=self.traffic.mask, sessions={f"{SESSION}~": session})
            settings = replace(settings, mock=False, script=None, replay=replay)
        self._of_tape = answers is not None
        self._shared = SharedRun(settings, SESSION, MOST_RUNS)
        return self._shared

    def _once(
        self, condition: Condition, proxy: SharedRun, profile: Profile, more: dict[str, str],
        folder: Path | None, clock: FrozenClock | None, chance: FixedChance | None,
    ) -> Run | None:  # fmt: skip
        from faultwire.agents._process import Processes

        self.runs += 1
        with proxy.session() as (run, name):
            environment = {**run.open_session(name, profile, self.traffic.seed, SESSION), **more}
            for fixed in (clock, chance):
                environment = environment if fixed is None else fixed.environment(environment)
            ended = Processes().run(self.command, environment, timeout_s=self.timeout_s, cwd=folder)
            closed = run.close_session(name)
            history = run.history(name)
        if closed.voids:
            raise FaultError(f"a run is inconclusive: {'; '.join(closed.voids)}", code="run.void")
        if not history.exchanges:
            if condition != "plain":
                return None
            raise self._silent(ended)
        first = history.exchanges[0].number - 1
        exchanges = tuple(
            replace(one, session=SESSION, number=one.number - first) for one in history.exchanges
        )
        made = Run(exchanges, ended.code)
        assert self._tape is not None
        self._sessions.append((made, self._tape, name))
        self.say(
            f"run {self.runs}  {condition}  {counted(len(made.exchanges), 'exchange')}, exit {made.code}"
        )
        return made

    def _silent(self, ended: Ended) -> CaptureError:
        """The error for a command whose traffic did not come; what it printed is repeated."""
        from faultwire.capture.child import shell_code
        from faultwire.cli.output import say

        for line in printed(ended.stdout, ended.stderr):
            say(line)
        return CaptureError(
            f"`{self.command[0]}` exited with {shell_code(ended.code or 0)} and sent no traffic through "
            f"the proxy in run {self.runs}, so there is nothing to compare (exit 3)",
            hint="its output stands above; `faultwire doctor -- CMD` shows details",
        )
