"""Documents of phases: what the runner adds to a report, and that nothing secret gets in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from faultwire.agents.settings import CommandSettings
from faultwire.campaign.documents import PhaseSummary, phase_document, summary_document
from faultwire.checks._registry import make
from faultwire.config.model import Config, ScoringSettings
from faultwire.contract.cells import Prompt
from faultwire.report.schema import problems
from faultwire.runner.cells import planned
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


def hide(text: str) -> str:
    return text.replace("sk-secret", "hidden")


def test_a_phase_says_what_it_is_and_is_valid(room: Any) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    made = phase_document(conduct(PHASE, world, world, Playing(7)), TOLD, hide)
    assert problems(made) == []
    run = made["run"]
    assert (run["phase"], run["command"], run["seed"], run["config"]) == ("contract", "ci", 42, "c" * 64)
    assert (run["partial"], run["tapes"]) == (False, ["run.tape", "replay1.tape"])
    assert "sk-secret" not in str(made)
    assert "hidden" in run["agent"]


def test_an_interrupted_phase_is_partial(room: Any) -> None:
    world = room(lambda _asked, _: "Paris", stops_after=1)
    made = phase_document(conduct(PHASE, world, world, Playing(7)), TOLD, hide)
    assert made["run"]["partial"] is True
    assert problems(made) == []


def test_an_interrupted_run_is_no_pass_however_well_it_began(room: Any) -> None:
    world = room(lambda _asked, _: "Paris", stops_after=1)
    broken_off = conduct(PHASE, world, world, Playing(7))
    made = phase_document(broken_off, TOLD, hide)
    assert (made["score"]["number"], made["score"]["gate"]) == (100.0, "unknown")
    scores = summed([scored(broken_off)], ScoringSettings().model_dump())
    assert scores.gate == "unknown"
    told = summary_document(scores, TOLD, hide, {"replay": "the run was interrupted before"}, None)
    assert told["gate"] == "unknown"
    assert "partial: the run was interrupted, and only what had finished is here" in told["run"]["warnings"]
    assert "interrupted before" in told["phases"][-1]["why"]
    rude = room(lambda _asked, _: "Rome", stops_after=1)
    assert scored(conduct(PHASE, rude, rude, Playing(7))).gate == "fail"  # what failed has failed
    whole = room(lambda _asked, _: "Paris")
    assert scored(conduct(PHASE, whole, whole, Playing(7))).gate == "pass"  # the control


def test_the_summary_tells_of_phases_that_did_not_run(room: Any) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    scores = summed([scored(conduct(PHASE, world, world, Playing(7)))], ScoringSettings().model_dump())
    made = summary_document(scores, TOLD, hide, {"replay": "there are no `replays`"}, 0.8)
    assert "there are no `replays`" in str(made)
    assert "contract.html" in str(made)
    assert "sk-secret" not in str(made)
