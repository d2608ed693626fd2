"""This run compared with earlier ones: is a difference significant, and what is the trend?

Pure, over report documents and the facts of `run.json`. Subjects are invocations without a failed cell,
as in `report.statistics`; two runs share a subject where scenario, prompt text and repeat are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from faultwire.contract.score import CONFIDENCE
from faultwire.contract.statistics import compare_all
from faultwire.report.statistics import samples
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Subjects = dict[tuple[str, str, int], bool]
"""Did it come through clean, by scenario, prompt text and repeat."""
CHANGED = 200
"""Cells with another verdict that a comparison lists; the rest are counted."""
RUNS = 50
"""Earlier runs that a trend shows, the newest."""
ABOUT = ("id", "started_at", "seed", "ledger")


def comparison_part(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Compare a report document with that of an earlier run.

    A difference is `significant` if its p-value, adjusted for all comparisons made here (Holm), is below
    the level; intervals are simultaneous. The test is McNemar's where both runs judged each prompt once, else
    Boschloo's.
    """
    current, previous = _clean(now), _clean(before)
    names = [s["name"] for s in now["scenarios"]]
    shared = [name for name in names if name in {s["name"] for s in before["scenarios"]}]
    each = [(_only(current, name), _only(previous, name)) for name in shared]
    # With one scenario in both runs the whole is that scenario, which is no second test.
    single = len(names) == len(before["scenarios"]) == len(shared) == 1
    pairs = each if single else [(current, previous), *each]
    found = compare_all([samples(first, second) for first, second in pairs])
    rows = [
        asdict(one) | {"now": _counts(first), "before": _counts(second)}
        for one, (first, second) in zip(found, pairs, strict=True)
    ]
    changed = _profiles(now, before)
    return {
        "before": {key: before["run"][key] for key in ABOUT} | result(before),
        "same_seed": now["run"]["seed"] == before["run"]["seed"],
        "confidence": CONFIDENCE,
        "overall": rows[0],
        "scenarios": [
            {"scenario": name, "profile_changed": name in changed, **row}
            for name, row in zip(shared, rows if single else rows[1:], strict=True)
        ],
        "only_now": [name for name in names if name not in shared],
        "only_before": [s["name"] for s in before["scenarios"] if s["name"] not in shared],
        **_changed(now, before),
    }


def trend_part(runs: Iterable[Mapping[str, Any]], left_out: Mapping[str, int]) -> dict[str, Any]:
    """Comparable runs, oldest first, from what `run.json` says of them: `id`, `started_at`, `score` (0 to
    100, None without one), `gate` and `seed`. `left_out` counts the other runs by what they were made of
    differently."""
    ordered = sorted(runs, key=lambda run: (str(run.get("started_at", "")), str(run.get("id", ""))))
    shown = ordered[max(0, len(ordered) - RUNS) :]
    return {
        "runs": [_run(run) for run in shown],
        "runs_not_shown": len(ordered) - len(shown),
        "left_out": {**left_out},
    }


def of_phase(runs: Iterable[Mapping[str, Any]], phase: str) -> Iterator[Mapping[str, Any]]:
    """The runs with the score of one phase in place of that of all: from their `scores` by phase, each 0 to
    1. Without a phase, and where a run does not say them, they are as they were."""
    for run in runs:
        scores = run.get("scores")
        if not phase or not isinstance(scores, Mapping):
            yield run
            continue
        share = scores.get(phase)
        known = isinstance(share, int | float) and not isinstance(share, bool)
        yield {**run, "score": round(float(share) * 100, 2) if known else None}  # type: ignore[arg-type]


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    score, gate, seed = run.get("score"), run.get("gate"), run.get("seed")
    known = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 100
    return {
        "id": clip(str(run.get("id", "")), 100),
        "started_at": clip(str(run.get("started_at", "")), 40),
        "score": float(score) if known else None,  # type: ignore[arg-type]
        "gate": gate if gate in ("pass", "fail", "unknown") else "unknown",
        "seed": seed if isinstance(seed, int) else None,
    }


def result(document: Mapping[str, Any]) -> dict[str, Any]:
    """A run's result in one line."""
    return {"score": document["score"]["number"], "gate": document["score"]["gate"]}


def invocation_places(document: Mapping[str, Any]) -> dict[str, tuple[str, str, int]]:
    """Every invocation's subject, by its id."""
    texts = {prompt["id"]: prompt["text"] for prompt in document["prompts"]}
    return {
        part["id"]: (part["scenario"], texts.get(part["prompt"], part["prompt"]), part["repeat"])
        for part in document["invocations"]
    }


def _clean(document: Mapping[str, Any]) -> Subjects:
    places, found = invocation_places(document), Subjects()
    for cell in document["cells"]:
        if cell["verdict"] != "unknown":
            subject = places[cell["invocation"]]
            found[subject] = found.get(subject, True) and cell["verdict"] == "pass"
    return found


def _only(subjects: Subjects, scenario: str) -> Subjects:
    return {subject: passed for subject, passed in subjects.items() if subject[0] == scenario}


def _counts(subjects: Subjects) -> dict[str, int]:
    return {"passed": sum(subjects.values()), "total": len(subjects)}


def _profiles(now: Mapping[str, Any], before: Mapping[str, Any]) -> set[str]:
    """Scenarios whose faults have changed."""
    old = {scenario["name"]: scenario["digest"] for scenario in before["scenarios"]}
    return {s["name"] for s in now["scenarios"] if s["name"] in old and s["digest"] != old[s["name"]]}


def _changed(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Cells that passed and now fail, and the other way round."""
    places = invocation_places(before)
    old = {(places[cell["invocation"]], cell["invariant"]): cell["verdict"] for cell in before["cells"]}
    places = invocation_places(now)
    turned: dict[str, list[dict[str, str]]] = {"pass": [], "fail": []}
    for cell in now["cells"]:
        verdict = cell["verdict"]
        was = old.get((places[cell["invocation"]], cell["invariant"]))
        if {verdict, was} == {"pass", "fail"}:
            turned[verdict].append({"invariant": cell["invariant"], "invocation": cell["invocation"]})
    return {
        "worse": turned["fail"][:CHANGED],
        "worse_count": len(turned["fail"]),
        "better": turned["pass"][:CHANGED],
        "better_count": len(turned["pass"]),
    }
