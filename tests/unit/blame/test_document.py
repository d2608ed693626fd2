from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.blame.test_compare import exchange

from faultwire.blame.design import Design
from faultwire.blame.document import About, document, needs
from faultwire.blame.parts import Part
from faultwire.blame.rates import Coalition
from faultwire.blame.session import Blaming
from faultwire.report._blame_shape import schema
from faultwire.trials.execute import NOT_ON_TAPE
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome, Pin
from faultwire.trials.series import Budget

ABOUT = About("run.tape", "exec", None, "python", "the agent's exit code is not 0", 3, 0.05)
PARTS = [
    Part(
        at,
        "fault",
        f"status on its call {at} sk-secret",
        "model (openai)",
        Pin("status", at),
        failed="503",
        calm="ok",
    )
    for at in (1, 3, 4)
]
EXCHANGES = [exchange(number, f"q{number}", "said") for number in range(1, 6)]


def searched(path: Path, causes: Coalition, *, curve: bool = False, lacking: bool = False) -> Blaming:
    """A search whose agent fails with these parts; `lacking`: the tape cannot answer for one part alone."""

    def attempt(coalition: Coalition) -> Outcome:
        if lacking and coalition == {2}:
            return Outcome(None, reason=f"{NOT_ON_TAPE} to 1 call")
        return Outcome(causes <= coalition, 5, 0.001, 1.0)

    journal = Journal.open(path / "state.jsonl", "about", "blame")
    search = Blaming(PARTS, attempt, journal, Budget(500), Design(3, curve=curve))
    search.run()
    return search


def made(path: Path, causes: Coalition, **more: Any) -> dict[str, Any]:
    search = searched(path, causes, **more)
    return document(search, ABOUT, EXCHANGES, lambda text: text.replace("sk-secret", "***"))


def test_a_document_fits_its_schema_and_names_the_cause(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({1}), curve=True)
    jsonschema.validate(found, schema())
    assert found["blamed"] == [1]
    assert found["parts"][1]["verdict"] == "cause"
    assert [step["parts"] for step in found["steps"]] == [[0], [], [1], [2], []]
    assert (found["curve"]["change"]["step"], found["curve"]["change"]["exchange"]) == (2, 3)
    assert [point["exchange"] for point in found["curve"]["points"]] == [0, 1, 3, 4]
    assert found["baselines"] == {
        "first_step": 1, "last_step": 5, "first_fault": 1, "random": pytest.approx(1 / 3),
    }  # fmt: skip
    assert found["needs"] is None


def test_no_secret_is_in_it(tmp_path: Path) -> None:
    text = json.dumps(made(tmp_path, frozenset({1})))
    assert "sk-secret" not in text
    assert "***" in text


def test_a_pair_has_values_and_an_interaction(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({0, 2}))
    assert found["blamed"] == [0, 2]
    assert found["parts"][0]["shapley"]["value"] == pytest.approx(0.5)
    assert found["pairs"][0]["interaction"]["value"] == pytest.approx(1.0)
    assert found["explained"]["value"] == pytest.approx(1.0)


def test_what_the_tape_lacks_is_said(tmp_path: Path) -> None:
    search = searched(tmp_path, frozenset({1}), lacking=True)
    assert needs(search) == "--mock or --live"
    found = document(search, ABOUT, EXCHANGES, str)
    assert found["parts"][2]["alone"] == {"failed": 0, "passed": 0, "undecided": 2}
    assert found["parts"][2]["verdict"] in ("untestable", "none")
    assert found["undecided"] == {f"{NOT_ON_TAPE} to 1 call": 2}
