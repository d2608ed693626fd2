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

    from faultwire.audit.experiment import Condition
    from faultwire.capture.freeze import FrozenClock
    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings

SPREAD = "{latency: {distribution: uniform, ms: 500, jitter_ms: 500}, id: audit-order, on: {host: '*'}}"
"""Each call waits for as long as its own dice say, so that answers come in the same order in each run."""

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
        found = Audit(player.play, traffic.mask, player.why_not, earlier, same).run()
    if format_ == "json":
        show_json(as_json(found))
    else:
        for line in lines(found, traffic.seed):
            show(line)
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
    """Runs the command under a condition, each time behind a proxy of its own."""

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
    _kept: list[Run] = field(default_factory=list)
    """Runs whose tapes may be asked for; kept, so that no other one gets their identity."""
    _tapes: dict[int, Path] = field(default_factory=dict)
    _why_not: dict[Condition, str] = field(default_factory=dict)

    def why_not(self, condition: Condition) -> str:
        """Why a condition could not be tried."""
        return self._why_not.get(condition, "it is not to be had here")

    def play(self, condition: Condition, tape: Run | None) -> Run | None:
        """Run it; None where the condition is not to be had. Raises FaultError where a run proves nothing."""
        settings, profile, more = self.settings, self.profile, dict[str, str]()
        folder: Path | None = None
        if condition == "frozen clock":
            try:
                settings = replace(settings, frozen=self._frozen())
            except FaultwireError as error:
                self._why_not[condition] = error.message
                return None
            more["PYTHONHASHSEED"] = "random"
        elif condition == "fixed hashes":
            more["PYTHONHASHSEED"] = "0"
        elif condition == "fixed order":
            from faultwire.profile.load import inline, merge

            profile = merge([profile, inline(SPREAD)])
        elif condition == "replayed answers":
            from faultwire.replay.settings import ReplaySettings

            assert tape is not None
            answers = ReplaySettings(tape=self._tapes[id(tape)], masks=self.traffic.mask)
            settings = replace(settings, mock=False, script=None, replay=answers)
        elif condition == "fresh folder":
            if self.snapshot.why_not:
                self._why_not[condition] = self.snapshot.why_not
                return None
            folder = self.snapshot.fresh()
        return self._once(condition, settings, profile, more, folder)

    def _frozen(self) -> FrozenClock | None:
        from faultwire.cli._freeze import AUTO, freezing

        if self._clock is None:
            self._clock = freezing(AUTO, None, self.command)
        return self._clock

    def _once(
        self, condition: Condition, settings: LaunchSettings, profile: Profile, more: dict[str, str],
        folder: Path | None,
    ) -> Run:  # fmt: skip
        import shutil

        from faultwire.agents._process import Processes
        from faultwire.capture.child import shell_code
        from faultwire.cli.output import say
        from faultwire.runner.launch import start_run

        self.runs += 1
        tape = self.place / f"{self.runs}.tape"
        run_folder: Path | None = None
        try:
            with start_run(replace(settings, tape=tape)) as run:
                run_folder = run.folder.path
                environment = {**run.open_session("exec", profile, self.traffic.seed), **more}
                if settings.frozen is not None:
                    environment = settings.frozen.environment(environment)
                ended = Processes().run(self.command, environment, timeout_s=self.timeout_s, cwd=folder)
                closed = run.close_session("exec")
                history = run.history("exec")
                run.folder.end("finished")
        finally:
            if run_folder is not None:
                shutil.rmtree(run_folder, ignore_errors=True)
        if closed.voids:
            raise FaultError(f"a run is inconclusive: {'; '.join(closed.voids)}", code="run.void")
        if not history.exchanges:
            for line in printed(ended.stdout, ended.stderr):
                say(line)
            raise CaptureError(
                f"`{self.command[0]}` exited with {shell_code(ended.code or 0)} and sent no traffic through "
                f"the proxy in run {self.runs}, so there is nothing to compare (exit 3)",
                hint="its output stands above; `faultwire doctor -- CMD` shows details",
            )
        made = Run(history.exchanges, ended.code)
        self._tapes[id(made)] = tape
        self._kept.append(made)
        self.say(
            f"run {self.runs}  {condition}  {counted(len(made.exchanges), 'exchange')}, exit {made.code}"
        )
        return made
