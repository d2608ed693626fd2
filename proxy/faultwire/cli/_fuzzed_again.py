"""What `faultwire fuzz --rerun DIR` does: run the case of a crash's folder once."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import FaultError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.cli.options import Traffic
    from faultwire.fuzz.repro import Repro
    from faultwire.fuzz.search import Seen
    from faultwire.runner.started_run import Run


def rerun(folder: Path, command: tuple[str, ...], traffic: Traffic) -> int:
    """Run the case: 1 if the agent crashes, 0 if not. Raises UsageError, and FaultError where the run proves
    nothing."""
    from faultwire.capture import child
    from faultwire.cli._failed_run import redactor
    from faultwire.cli._same_answers import taken
    from faultwire.cli.output import show
    from faultwire.fuzz import repro
    from faultwire.runner.launch import start_run
    from faultwire.text import safe

    found = repro.read(folder)
    started = command or found.about.command
    if started is None:
        raise UsageError(
            "found no command in the folder, expected one after `--`",
            code="fuzz.repro",
            hint="the recorded one may have held a secret, so it was left out",
        )
    child.find(started, os.environ)
    traffic = replace(taken(traffic, found.about.options), seed=found.about.seed)
    redact = redactor(traffic)
    with start_run(traffic.launch("fuzz", profile=traffic.load())) as run:
        seen = _played(run, found, started, traffic, redact)
        run.folder.end("finished")
    if seen.void:
        raise FaultError(f"the run proves nothing: {seen.void}", code="fuzz.undecided")
    if seen.crash is None:
        show("the agent did not crash")
        return 0
    same = seen.crash.key == found.key
    words = "the agent crashes as recorded" if same else "the agent crashes, but in another way"
    show(safe(f"{words}: {seen.crash.kind}: {redact(seen.crash.title)}"))
    return 1


def _played(
    run: Run, found: Repro, command: tuple[str, ...], traffic: Traffic, redact: Callable[[str], str]
) -> Seen:
    from faultwire.fuzz.journal import Journal
    from faultwire.fuzz.live import Player

    with tempfile.TemporaryDirectory(prefix="faultwire-fuzz-") as folder:
        journal = Journal(Path(folder) / "state.jsonl", "")
        player = Player(
            run, traffic.load(), command, found.about.prompts, found.about.timeout_s, found.about.seed,
            journal, None, redact, lambda *_: None,
        )  # fmt: skip
        try:
            return player.play(found.case, 1, "confirm")
        finally:
            journal.close()
