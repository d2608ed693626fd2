"""Documents of phases: what the runner adds to a report, and that nothing secret gets in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.campaign.documents import PhaseSummary, phase_document, summary_document
from faultwire.checks._registry import make
from faultwire.config.model import Config, ScoringSettings
from faultwire.contract.cells import Prompt
from faultwire.report import faces
from faultwire.report.schema import problems
from faultwire.runner.cells import planned
from faultwire.runner.gate import Rule, gate
from faultwire.runner.phases import CALM, Phase
from faultwire.runner.play_phase import Playing, conduct
from faultwire.runner.scored import scored, summed

PROMPTS = (Prompt("a", "a"), Prompt("b", "b"))
CONFIG = Config(
    Path("faultwire.yaml"), Path(), "c" * 64, CommandSettings(command=("agent", "{prompt}")), PROMPTS
)
PHASE = Phase(
    "contract", (CALM,), PROMPTS, (make("contains", {"value": "Paris"}),),
    planned((CALM,), PROMPTS, phase="contract"), notes=("`x` cannot be applied",),
)  # fmt: skip
TOLD = PhaseSummary(
    "20261122T000000Z-00000000", "ci", "node agent.mjs --key sk-secret", CONFIG, "2026-11-22T00:00:00+00:00",
    1.23456, "0" * 64, ("run.tape", "replay1.tape"), warnings=("`agent` sk-secret",),
)  # fmt: skip


RULE = Rule()


def document_of(outcome: Any, rule: Rule = RULE) -> dict[str, Any]:
    scores = summed([scored(outcome)], ScoringSettings().weights)
    return phase_document(outcome, TOLD, hide, gate(scores, rule))


def hide(text: str) -> str:
    return text.replace("sk-secret", "hidden")


def test_a_phase_states_what_it_is_and_is_valid(room: Any) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    made = document_of(conduct(PHASE, world, world, Playing(7)))
    assert problems(made) == []
    run = made["run"]
    assert (run["phase"], run["command"], run["seed"], run["config"]) == ("contract", "ci", 42, "c" * 64)
    assert (run["partial"], run["tapes"]) == (False, ["run.tape", "replay1.tape"])
    assert "sk-secret" not in str(made)
    assert "hidden" in run["agent"]


def test_an_interrupted_phase_is_partial(room: Any) -> None:
    world = room(lambda _asked, _: "Paris", stops_after=1)
    made = document_of(conduct(PHASE, world, world, Playing(7)))
    assert made["run"]["partial"] is True
    assert problems(made) == []


def test_an_interrupted_run_is_no_pass_however_well_it_began(room: Any) -> None:
    world = room(lambda _asked, _: "Paris", stops_after=1)
    broken_off = conduct(PHASE, world, world, Playing(7))
    made = document_of(broken_off)
    assert (made["score"]["number"], made["score"]["gate"]) == (100.0, "unknown")
    scores = summed([scored(broken_off)], ScoringSettings().weights)
    missing = {"replay": "the run was interrupted before"}
    told = summary_document(scores, TOLD, hide, missing, None, gate(scores, RULE))
    assert told["gate"] == "unknown"
    assert "partial: the run was interrupted, and only what had finished is here" in told["run"]["warnings"]
    assert "interrupted before" in told["phases"][-1]["why"]
    rude = room(lambda _asked, _: "Rome", stops_after=1)
    assert document_of(conduct(PHASE, rude, rude, Playing(7)))["score"]["gate"] == "fail"  # it has failed
    whole = room(lambda _asked, _: "Paris")
    assert document_of(conduct(PHASE, whole, whole, Playing(7)))["score"]["gate"] == "pass"  # the control


@pytest.mark.parametrize(
    ("least", "word", "failures"), [(0.1, "pass", 0), (0.9, "fail", 2), (None, "fail", 2)]
)
def test_every_report_has_the_verdict_of_the_gate(room: Any, least: Any, word: str, failures: int) -> None:
    """`--min-score` decides what the exit code, JSON, HTML, Markdown, the terminal and JUnit say, alike."""
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    outcome = conduct(PHASE, world, world, Playing(7))
    verdict = gate(summed([scored(outcome)], ScoringSettings().weights), Rule(least))
    assert (verdict.code == 0) == (word == "pass")
    made = phase_document(outcome, TOLD, hide, verdict)
    assert made["score"]["gate"] == word
    said = {"pass": "passed", "fail": "failed"}[word]
    assert f"faultwire `contract`: {said}" in faces.render(made, "md").splitlines()[0]
    assert len(re.findall("<failure ", faces.render(made, "junit"))) == failures
    (chip,) = re.findall(r"verdict of the run</dt><dd>(.*?)</dd>", faces.render(made, "html"), re.DOTALL)
    assert (said in chip) == (verdict.rule.replace("`", "") in chip) is True
    assert problems(made) == []


def test_the_summary_reports_phases_that_did_not_run(room: Any) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    scores = summed([scored(conduct(PHASE, world, world, Playing(7)))], ScoringSettings().weights)
    missing = {"replay": "there are no `replays`"}
    made = summary_document(scores, TOLD, hide, missing, 0.8, gate(scores, Rule(0.8)))
    (contract,) = [phase for phase in made["phases"] if phase["name"] == "contract"]
    assert contract["coverage"] == {"judged": 2, "asked": 2, "unit": "cells"}
    assert "there are no `replays`" in str(made)
    assert "contract.html" in str(made)
    assert "sk-secret" not in str(made)
