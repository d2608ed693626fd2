from __future__ import annotations

from pathlib import Path

import click
import pytest
from tests.unit.tape.import_ import made

from faultwire.cli.replay_options import CONTROLLED, FINDINGS, as_timing, import_findings
from faultwire.replay.settings import ReplaySettings
from faultwire.tape.import_ import agentops
from faultwire.tape.import_._api import store
from faultwire.tape.record.writer import TapeWriter


@pytest.mark.parametrize(
    ("text", "factor"), [("none", 0), ("recorded", 1), ("scaled:0.1", 0.1), ("scaled:20", 20)]
)
def test_timing_is_a_factor(text: str, factor: float) -> None:
    context = click.Context(click.Command("x"))
    assert as_timing(context, click.Option(["--timing"]), text) == factor


@pytest.mark.parametrize("text", ["scaled:0", "scaled:-1", "scaled:nan", "scaled:", "fast", "scaled:101", ""])
def test_an_invalid_timing_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="scaled:F"):
        as_timing(click.Context(click.Command("x")), click.Option(["--timing"]), text)


def imported(folder: Path, *events: tuple[str, dict[str, object]]) -> Path:
    folder.mkdir()
    (folder / "log").write_bytes(made.lines(made.old_log(made.START, *events, made.END)))
    return store(agentops.read(folder / "log"), folder / "t.tape", "agentops", "p/t").path


def controlled(path: Path, *codes: str) -> ReplaySettings:
    writer = TapeWriter.create(path, origin="p/t", settings={})
    for code in codes:
        writer.note(code, "words")
    writer.close()
    return ReplaySettings(tape=path)


def test_a_replay_of_armed_faults_says_that_it_arms_none(tmp_path: Path) -> None:
    armed = controlled(tmp_path / "a.tape", "control.armed", "control.disarmed")
    assert import_findings(armed) == [CONTROLLED]
    assert import_findings(armed.model_copy(update={"unverified": True})) == [CONTROLLED]
    assert import_findings(controlled(tmp_path / "b.tape", "controlled")) == []


def test_an_unverified_replay_repeats_what_is_wrong_with_the_imported_file(tmp_path: Path) -> None:
    drop = ("LOG_DROP", {"dropped_count": 4})
    bad, worse = imported(tmp_path / "a", drop), imported(tmp_path / "b", *[drop] * (FINDINGS + 2))
    (line,) = import_findings(ReplaySettings(tape=bad, unverified=True))
    assert line.startswith(
        "the replayed tape has the finding agentops_drop: event 1 of session `s-1` says that 4 "
    )
    lines = import_findings(ReplaySettings(tape=worse, unverified=True))
    assert len(lines) == FINDINGS + 1
    assert lines[-1] == "and 2 more findings: `faultwire tape verify` lists them"
    sound = imported(tmp_path / "c")
    assert import_findings(ReplaySettings(tape=sound, unverified=True)) == []
    assert import_findings(ReplaySettings(tape=bad)) == import_findings(None) == []
