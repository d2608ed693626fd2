"""Mutants with their lineage: of a search, and of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.report.conftest import play

from faultwire.errors import UsageError
from faultwire.evolution.mutant import Evolved, child
from faultwire.evolution.report import document
from faultwire.evolution.search import Failure, Result, Seen, Tried
from faultwire.report import json as as_json
from faultwire.workbench.mutants_view import evolved, mutants

PROMPT, SEED = "What is 17 * 23?", 7


def grown(*types: str) -> Evolved:
    made: Evolved | None = Evolved(0, PROMPT)
    for type_ in types:
        assert made is not None
        made = child(made, type_, 0, SEED)
    assert made is not None
    return made


def written(folder: Path, change: Any = lambda found: None) -> Path:
    mutant = grown("tone_shift", "noise")
    failure = Failure(mutant, "the answer is empty", 2, 2)
    result = Result((Tried(1, "search", mutant, Seen(True, "b")),), (failure,), (), "finds", 3)
    found = document(
        result, [PROMPT], {mutant.id: "?\x1b"}, {mutant.id: "confirm-0003"},
        {"seed": SEED, "command": ["agent"], "budget": 40, "failing": "it exits with 1", "tape": "t"},
    )  # fmt: skip
    change(found)
    path = folder / "evolution.json"
    path.write_text(json.dumps(found))
    return path


def test_each_step_has_what_it_changed(tmp_path: Path) -> None:
    (one,) = evolved(written(tmp_path))["failures"]
    first, second = grown("tone_shift"), grown("tone_shift", "noise")
    assert one["made_again"] is True
    assert [step["type"] for step in one["steps"]] == ["tone_shift", "noise"]
    assert one["steps"][0]["change"] == [["-", PROMPT], ["+", first.text]]
    assert one["steps"][1]["change"] == [["-", first.text], ["+", second.text]]
    assert (one["text"], one["original"], one["session"]) == (second.text, PROMPT, "confirm-0003")
    assert "\x1b" not in one["answer"]


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["failures"][0].update(text="another text"),
        lambda found: found.update(seed=SEED + 1),
        lambda found: found["failures"][0]["lineage"][0].update(type="no_such_type"),
        lambda found: found.update(format="faultwire.evolution/2"),
    ],
    ids=["text", "seed", "type", "format"],
)
def test_a_lineage_that_does_not_give_the_text_is_not_claimed(tmp_path: Path, change: Any) -> None:
    (one,) = evolved(written(tmp_path, change))["failures"]
    assert one["made_again"] is False
    assert [step["change"] for step in one["steps"]] == [None, None]


def test_what_did_not_come_again_stands_apart(tmp_path: Path) -> None:
    def apart(found: dict[str, Any]) -> None:
        found["unconfirmed"], found["failures"] = found["failures"], []

    found = evolved(written(tmp_path, apart))
    assert (found["failures"], len(found["unconfirmed"])) == ([], 1)


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected what `faultwire evolve` writes"):
        evolved(written(tmp_path, lambda found: found.pop("failures")))


def report(folder: Path, *mutant: dict[str, Any]) -> Path:
    """A report whose second invocation asked a mutant of the first one's prompt."""
    made = json.loads(json.dumps(play()))
    for one in mutant:
        made["prompts"].append({"turns": [], "golden": "p1", "origin": "noise", **one})
    if mutant:
        made["invocations"][1]["prompt"] = mutant[0]["id"]
        rated = {"passed": 1, "total": 2, "low": 0.1, "high": 0.9, "rate": 0.5, "unknown": 0}
        types = [{"type": "noise", "weight": 0.8, **rated}]
        made["mutations"] = {"robustness": 0.5, **rated, "types": types, "notes": ["one was left out"]}
    path = folder / "report.json"
    path.write_text(as_json.render(made))
    return path


def test_a_mutant_of_a_run_stands_beside_its_prompt_with_its_verdicts(tmp_path: Path) -> None:
    path = report(tmp_path, {"id": "p1-m1", "text": "Wht is 17 * 23?\x1b"})
    path.with_suffix(".html").write_text("<p>")
    found = mutants(path)
    (one,) = found["mutants"]
    assert (one["origin"], one["golden"]) == ("noise", "p1")
    assert one["change"][0] == ["-", "What is 17 * 23?"]
    assert "\x1b" not in one["text"]
    verdicts = [cell["verdict"] for cell in one["cells"]]
    assert verdicts[0] == "fail"
    assert verdicts == sorted(verdicts)
    assert {cell["anchor"] for cell in one["cells"]} == {"i2"}
    assert found["report"] == "report.html"
    assert [(one["type"], one["passed"], one["total"]) for one in found["types"]] == [("noise", 1, 2)]


def test_a_run_without_mutants_has_none(tmp_path: Path) -> None:
    found = mutants(report(tmp_path))
    assert (found["mutants"], found["robustness"], found["report"]) == ([], None, None)
