"""`faultwire run`, `chaos` and `score`: robustness and chaos resilience of a real agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MUTATIONS = {"count": 4, "types": ["noise", "tone_shift"]}
CHAOS = {"llm_faults": [{"mode": "rate_limit"}]}


def scenarios(document: dict[str, Any]) -> set[tuple[str, bool]]:
    """Scenario, and whether a mutation made the prompt."""
    golden = {prompt["id"] for prompt in document["prompts"] if "-m" not in prompt["id"]}
    return {(part["scenario"], part["prompt"] not in golden) for part in document["invocations"]}


def test_mutants_of_every_golden_prompt_are_asked_exactly(project: Any) -> None:
    project.write(mutations=MUTATIONS)
    done = project.run("run")
    assert done.returncode == 0, done.stdout + done.stderr
    document = project.document()
    assert len(document["invocations"]) == 2 + 2 * 4
    texts = [prompt["text"] for prompt in document["prompts"]]
    assert len(set(texts)) == len(texts)
    assert project.about()["score"] == 1.0
    assert {kind["type"] for kind in document["mutations"]["types"]} == {"noise", "tone_shift"}


@pytest.mark.nightly
def test_chaos_is_there_only_when_it_is_asked_for(project: Any) -> None:
    project.write(mutations=MUTATIONS, chaos=CHAOS)
    assert project.run("run").returncode == 0
    assert scenarios(project.document()) == {("calm", False), ("calm", True)}
    done = project.run("run", "--chaos")
    assert done.returncode == 0, done.stdout + done.stderr
    assert scenarios(project.document()) == {("calm", False), ("chaos", True)}
    assert project.run("run", "--chaos-only").returncode == 0
    assert scenarios(project.document()) == {("calm", False), ("chaos", False)}


@pytest.mark.nightly
def test_a_named_profile_replaces_the_section(project: Any) -> None:
    project.write(mutations=MUTATIONS, chaos=CHAOS)
    done = project.run("run", "--chaos-only", "--chaos-profile", "api_outage")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert {name for name, _ in scenarios(project.document())} == {"calm", "api_outage"}


@pytest.mark.nightly
def test_chaos_resilience_counts_what_was_broken_only(project: Any) -> None:
    invariants = [{"type": "excludes_pattern", "patterns": ["Surely"]}]
    project.write(chaos=CHAOS, invariants=invariants)
    done = project.run("chaos", env={"TALKER": "careless"})
    assert done.returncode == 1
    assert project.about()["scores"] == {"chaos": 0.0}  # the calm ones passed, and are the baseline
    assert project.document()["score"]["cells"] == {"pass": 2, "fail": 2, "unknown": 0}


@pytest.mark.nightly
def test_score_prints_the_number_and_remembers_it(project: Any) -> None:
    project.write(mutations=MUTATIONS)
    done = project.run("score")
    assert (done.returncode, done.stdout) == (0, "1.0000\n")
    assert project.run("score", "last").stdout == "1.0000\n"
    listed = project.run("runs", "list")
    assert project.runs[-1].name in listed.stdout
    assert "1.0000" in listed.stdout


@pytest.mark.nightly
def test_the_report_of_an_earlier_run_comes_in_every_form(project: Any) -> None:
    project.write(mutations=MUTATIONS)
    project.run("run")
    for form, beginning in (("html", "<!doctype html>"), ("json", "{"), ("junit", "<?xml"), ("md", "")):
        done = project.run("report", "last", "--format", form)
        assert done.returncode == 0, done.stderr
        assert done.stdout.lower().lstrip().startswith(beginning)
    assert "score" in project.run("report", "last").stdout
    absent = project.run("report", "nothing")
    assert (absent.returncode, "found no single run `nothing`" in absent.stderr) == (2, True)


@pytest.mark.nightly
def test_verify_only_asks_once_and_plays_nothing(project: Any, tmp_path: Path) -> None:
    project.write(mutations=MUTATIONS)
    done = project.run("run", "--verify-only")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [run for run in project.runs if (run / "report.json").exists()]
