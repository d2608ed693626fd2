from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import UsageError
from faultwire.profile.load import parse
from faultwire.shrink.case import Case
from faultwire.shrink.session import Shrinking, fewest_runs
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome, Pin
from faultwire.trials.series import Budget

PROFILE = parse(
    "faults:\n"
    "  - status: {code: 503, message: 'one two bad three'}\n    trigger: {probability: .9}\n"
    "  - latency: {ms: 4000}\n"
    "  - cut_stream: {after_events: 7}\n",
    "p.yaml",
)
PINS = tuple(Pin(entry, call) for entry in ("status", "latency", "cut_stream") for call in (1, 2, 3))


def shrinking(path: Path, fails: Callable[[Case], bool | None], **more: Any) -> Shrinking:
    journal = Journal.open(path / "state.jsonl", "about")
    attempt = more.pop("attempt", lambda case: Outcome(fails(case), 3, 0.01, 2.0, "why"))
    return Shrinking(PINS, PROFILE, attempt, journal, more.pop("budget", Budget()), **more)


def settings(case: Case, entry: str) -> dict[str, Any]:
    profile = case.profile(PROFILE)
    assert profile is not None
    return next(one for one in profile.entries if one.id == entry).fault.non_default_settings()


def planted(case: Case) -> bool:
    """The second latency, if it is long enough, and the first status, if its message is bad."""
    both = {Pin("latency", 2), Pin("status", 1)} <= set(case.pins)
    slow, bad = settings(case, "latency").get("ms", 0), settings(case, "status").get("message", "")
    return both and slow >= 900 and "bad" in bad


def test_decisions_and_values(tmp_path: Path) -> None:
    found = shrinking(tmp_path, planted).run()
    assert found.ended == "found"
    assert set(found.case.pins) == {Pin("latency", 2), Pin("status", 1)}
    assert 900 <= settings(found.case, "latency")["ms"] <= 1000
    assert settings(found.case, "status")["message"] == "bad"
    assert (found.seconds, found.last) == (2.0 * found.runs, "why")
    assert found.runs < 120


def test_the_prompt(tmp_path: Path) -> None:
    prompt = "Hello there. Cancel my order. Thank you."
    found = shrinking(
        tmp_path,
        lambda case: Pin("status", 1) in case.pins and "Cancel" in (case.prompt or ""),
        prompt=prompt,
    ).run()
    assert found.case.prompt == "Cancel my order."
    assert found.case.pins == (Pin("status", 1),)


def test_it_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    whole: list[str] = []

    def tried(case: Case) -> Outcome:
        whole.append(case.key)
        return Outcome(planted(case))

    shrinking(tmp_path, planted, attempt=tried).run()
    (tmp_path / "state.jsonl").unlink()
    first: list[str] = []

    def killed(case: Case) -> Outcome:
        if len(first) == 17:
            raise SystemError("killed")
        first.append(case.key)
        return Outcome(planted(case))

    dying = shrinking(tmp_path, planted, attempt=killed)
    with pytest.raises(SystemError):
        dying.run()
    dying.journal.close()
    second: list[str] = []

    def rest(case: Case) -> Outcome:
        second.append(case.key)
        return Outcome(planted(case))

    found = shrinking(tmp_path, planted, attempt=rest).run()
    assert first + second == whole, "no trial is made twice, and none is left out"
    assert found.runs == len(whole)


def test_ctrl_c_keeps_what_was_learned(tmp_path: Path) -> None:
    runs: list[int] = []

    def attempt(case: Case) -> Outcome:
        runs.append(1)
        if len(runs) == 20:
            raise KeyboardInterrupt
        return Outcome(planted(case))

    found = shrinking(tmp_path, planted, attempt=attempt).run()
    assert (found.ended, found.runs) == ("interrupted", 19)
    assert {Pin("latency", 2), Pin("status", 1)} <= set(found.case.pins) < set(PINS)


@pytest.mark.parametrize(
    ("budget", "most", "limit"),
    [(Budget(runs=15), 15, "runs"), (Budget(seconds=29.0), 15, "time"), (Budget(cost_usd=0.145), 15, "cost")],
)
def test_a_budget_ends_it(tmp_path: Path, budget: Budget, most: int, limit: str) -> None:
    found = shrinking(tmp_path, planted, budget=budget).run()
    assert (found.ended, found.runs) == ("budget", most)
    assert planted(found.case)
    assert found.limit == limit


@pytest.mark.parametrize(("failed", "ended"), [(False, "not_reproduced"), (True, "no_cause")])
def test_an_oracle_that_never_changes(tmp_path: Path, failed: bool, ended: str) -> None:
    found = shrinking(tmp_path, lambda _: failed).run()
    assert found.ended == ended
    assert found.calm[1] == 0
    assert bool(found.calm[0]) is failed, "runs without faults are counted apart"
    if not failed:
        assert found.counts == (0, found.runs)


def test_what_cannot_be_judged_is_counted_and_kept(tmp_path: Path) -> None:
    def fails(case: Case) -> bool | None:
        if not case.pins:
            return False
        return None if Pin("status", 2) not in case.pins else Pin("cut_stream", 1) in case.pins

    found = shrinking(tmp_path, fails).run()
    assert set(found.case.pins) == {Pin("status", 2), Pin("cut_stream", 1)}
    assert found.untestable == (Pin("status", 2),)
    assert found.undecided["why"] >= 2


def test_a_state_of_other_trials_is_refused(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "state.jsonl", "about")
    journal.append("0" * 64, Outcome(True))
    journal.close()
    with pytest.raises(UsageError, match="trials are not those"):
        shrinking(tmp_path, planted).run()


def test_what_a_fault_does_not_take_is_not_tried(tmp_path: Path) -> None:
    assert Case(PINS, {"status": {"code": "x"}}).profile(PROFILE) is None
    assert Case(PINS, {"status": {"code": 500}}).profile(PROFILE) is not None


def test_the_fewest_runs_that_decide_anything() -> None:
    assert 5 <= fewest_runs(0.05, 0.01) <= 12
    assert fewest_runs(0.001, 0.01) > fewest_runs(0.05, 0.01)


@pytest.mark.parametrize("repeats", [True, False])
def test_runs_that_repeat_byte_for_byte_are_made_once(repeats: bool, tmp_path: Path) -> None:
    count = iter(range(10_000))

    def attempt(case: Case) -> Outcome:
        bytes_ = "the same" if repeats else f"another {next(count)}"
        return Outcome(PINS[3] in case.pins, 1, digest=f"{case.key} {bytes_}")

    journal = Journal.open(tmp_path / "once.jsonl", "about")
    found = Shrinking(PINS, PROFILE, attempt, journal, Budget(200)).run()
    assert found.ended == "found"
    assert PINS[3] in found.case.pins
    assert bool(found.repeated) is repeats
