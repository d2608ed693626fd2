"""The options of commands that play a configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from faultwire.cli._play import _advance, _comparable, _findable, _target
from faultwire.cli._play_options import Play, Share
from faultwire.contract.cells import Prompt
from faultwire.contract.statistics import MOST_RUNS, Until
from faultwire.errors import UsageError
from faultwire.events import AgentResult, History
from faultwire.report.progress import Progress
from faultwire.runner.cells import planned
from faultwire.runner.phases import CALM, Phase, contract
from faultwire.runner.run import Played


def options(**changes: Any) -> Play:
    given: dict[str, Any] = {
        "config": Path("faultwire.yaml"), "seed": None, "repeat": None, "until": None, "most": None,
        "concurrency": None, "min_score": None, "allow_unknown": False, "baseline": None, "output": None,
        "quiet": False, "format_": "terminal",
    }  # fmt: skip
    return Play(**given | changes)


def test_until_names_two_rates() -> None:
    assert options(until="0.5:0.9").sequential() == Until(0.5, 0.9, most=MOST_RUNS)
    assert options(until="0.2:0.8", most=9).sequential() == Until(0.2, 0.8, most=9)
    assert options().sequential() is None


@pytest.mark.parametrize("text", ["", ":", "0.5", "0.9:0.5", "a:b", "0.5:", "0:1", "nan:0.9", "0.5:0.9:1"])
def test_other_errors_are_reported(text: str) -> None:
    with pytest.raises(UsageError):
        options(until=text).sequential()


def test_most_without_until_is_refused() -> None:
    with pytest.raises(UsageError, match="--until"):
        options(most=5).sequential()


@pytest.mark.parametrize("word", ["html", "json", "junit", "md", "terminal"])
def test_a_format_name_is_not_an_output_path(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="folder or a file"):
        _target(options(output=Path(word)))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / word).mkdir()
    assert _target(options(output=Path(word))) == (Path(word) / "report.html", "html")


def test_options_change_the_file(tmp_path: Path) -> None:
    file = tmp_path / "faultwire.yaml"
    file.write_text(
        'version: "2.0"\nagent: {type: command, command: [x, "{prompt}"]}\ngolden_prompts: [hi]\n'
        "invariants: [{type: completes}]\nadvanced: {seed: 1, concurrency: 2}\n"
    )
    assert (options(config=file).load().seed, options(config=file).load().advanced.concurrency) == (1, 2)
    changed = options(config=file, seed=5, repeat=3, concurrency=9).load().advanced
    assert (changed.seed, changed.repeat, changed.concurrency) == (5, 3, 9)


@pytest.mark.parametrize("text", ["0", "0.9", "1"])
def test_a_minimum_is_a_share(text: str) -> None:
    assert Share().convert(text, None, None) == float(text)


@pytest.mark.parametrize("text", ["nan", "-nan", "NaN", "inf", "-0.1", "1.1", "x"])
def test_a_nan_minimum_score_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Share().convert(text, None, None)


def test_which_drop_a_baseline_can_show_is_reported_with_the_runs_that_a_given_one_takes() -> None:
    plan = planned((CALM,), (Prompt("a", "a"),), repeat=12, phase="contract")
    phase = Phase("contract", (CALM,), (Prompt("a", "a"),), (), plan)
    before = {"score": {"clean_invocations": {"passed": 40, "total": 40}}}
    assert _findable(phase, before) == (
        "contract: 12 invocations against 40 before can show a drop from 95% to 49% or less, "
        "80% of the time; a drop of 20 points takes 45 in each (--repeat)"
    )
    enough = replace(phase, plan=planned((CALM,), (Prompt("a", "a"),), repeat=60, phase="contract"))
    known = {"score": {"clean_invocations": {"passed": 60, "total": 60}}}
    assert "takes" not in _findable(enough, known)
    poor = {"score": {"clean_invocations": {"passed": 1, "total": 10}}}
    assert "takes" not in _findable(phase, poor)  # it cannot fall by so much


def test_a_baseline_of_another_phase_is_refused_and_of_another_file_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "faultwire.yaml"
    file.write_text(
        'version: "2.0"\nagent: {type: command, command: [x, "{prompt}"]}\ngolden_prompts: [hi]\n'
        "invariants: [{type: completes}]\n"
    )
    config = options(config=file).load()
    same, other = {"run": {"config": config.digest}}, {"run": {"config": "0" * 64}}
    with pytest.raises(
        UsageError, match="found a run of `mutation` for --baseline, expected one of `contract`"
    ):
        _comparable({"mutation": same}, {"contract"}, config)
    _comparable(None, {"contract"}, config)
    _comparable({"contract": same}, {"contract", "mutation"}, config)
    assert capsys.readouterr().err == ""
    _comparable({"contract": other}, {"contract"}, config)
    assert "another configuration" in capsys.readouterr().err


def test_the_last_line_of_progress_counts_the_last_verdicts(tmp_path: Path) -> None:
    file = tmp_path / "faultwire.yaml"
    file.write_text(
        'version: "2.0"\nagent: {type: command, command: [x, "{prompt}"]}\ngolden_prompts: [hi]\n'
        "contract: {name: c, invariants: [{type: completes}], chaos_matrix: [{name: calm}]}\n"
    )
    phase = contract(options(config=file).load())
    (invocation,) = phase.plan
    lines: list[str] = []
    meter = Progress(1, say=lines.append, now=lambda: 0.0)
    history = History(invocation.id, (), agent=AgentResult("", 1, 0.1))
    _advance(meter, phase, Played(invocation, history), {invocation.id})
    assert lines == ["  1 of 1 invocation · cells so far 0 pass, 1 fail, 0 unknown · 0 faults fired"]


def test_an_unknown_verdict_that_nothing_can_change_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "faultwire.yaml"
    file.write_text(
        'version: "2.0"\nagent: {type: command, command: [x, "{prompt}"]}\ngolden_prompts: [hi]\n'
        "contract: {name: c, invariants: [completes, {type: behavior_unchanged, when: always}], "
        "chaos_matrix: [{name: down, faults: [{status: {code: 503}}]}, {name: calm}]}\n"
    )
    phase = contract(options(config=file).load())
    down, calm = phase.plan
    lines: list[str] = []
    meter = Progress(2, say=lines.append, now=lambda: 0.0)
    for invocation in (calm, down):
        history = History(invocation.id, (), agent=AgentResult("fine", 0, 0.1))
        _advance(meter, phase, Played(invocation, history), {down.id, calm.id})
    # Calm: the answer that it is held against may still come. Down: nothing was broken, whatever comes.
    assert lines[-1] == "  2 of 2 invocations · cells so far 1 pass, 0 fail, 2 unknown · 0 faults fired"
