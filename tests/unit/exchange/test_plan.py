"""Decisions: every trigger, attempts, the order of composition, and results of tools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, Request, RequestView, Response, ToolResult
from faultwire.exchange.plan import Decision, Plan, decide, decide_head, decide_result
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.profile.load import parse
from faultwire.profile.model import Profile

DICE = Dice(1, "s")
RESULT = ToolResult("call_1", "search", "{}", "42", False, ("messages", 2, "content"), True)
SUBJECT = Subject("tool:search", 0, 0, "search")


def profile(*entries: str) -> Profile:
    return parse("faults:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries), "p.yaml")


def call(n: int = 0, attempt: int = 0, key: str = "k", *, stream: bool = False) -> Exchange:
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions")
    view = RequestView("gpt-4o", stream)
    return Exchange("s", 1, request, "llm", "openai_chat", "openai", view=view, key=key, n=n, attempt=attempt)


def noted(plan: Plan, state: SessionState) -> Plan:
    for decision in plan.decisions:
        if decision.counted:
            state.note(decision.entry.id, decision.subject, decision.call, decision.at_s)
    return plan


def fired(made: Profile, exchanges: list[Exchange], dice: Dice = DICE) -> list[bool]:
    """Which of the exchanges meet the profile's only fault."""
    state = SessionState()
    return [bool(noted(decide(made, dice, exchange, state), state).firing) for exchange in exchanges]


def only(plan: Plan) -> Decision:
    (decision,) = plan.decisions
    return decision


CALLS = [call(n) for n in range(6)]


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ("{}", [1, 1, 1, 1, 1, 1]),
        ("{probability: 1}", [1, 1, 1, 1, 1, 1]),
        ("{after_calls: 2}", [0, 0, 1, 1, 1, 1]),
        ("{after_calls: 0}", [1, 1, 1, 1, 1, 1]),
        ("{first: 2}", [1, 1, 0, 0, 0, 0]),
        ("{max_times: 2}", [1, 1, 0, 0, 0, 0]),
        ("{after_calls: 1, max_times: 2}", [0, 1, 1, 0, 0, 0]),
        ("{first: 4, max_times: 1}", [1, 0, 0, 0, 0, 0]),
        ("{every: 2}", [0, 1, 0, 1, 0, 1]),
        ("{every: 2, after_calls: 1}", [0, 0, 1, 0, 1, 0]),
        ("{every: 3, after_calls: 1}", [0, 0, 0, 1, 0, 0]),
        ("{calls: [2, 5]}", [0, 1, 0, 0, 1, 0]),
        ("{calls: [2, 5], max_times: 1}", [0, 1, 0, 0, 0, 0]),
        ("{stages: [{for_calls: 2, probability: 0}, {for_calls: 1, probability: 1}]}", [0, 0, 1, 0, 0, 0]),
        ("{stages: [{for_calls: 4, probability: 0}, {probability: 1}]}", [0, 0, 0, 0, 1, 1]),
        ("{after_calls: 1, recover_after: {calls: 2}}", [0, 1, 1, 0, 0, 0]),
        ("{every: 2, recover_after: {calls: 3}}", [0, 1, 0, 1, 0, 0]),
    ],
)
def test_triggers(trigger, expected):
    assert fired(profile(f"rate_limit: , trigger: {trigger}"), CALLS) == [bool(e) for e in expected]


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ("{between_s: [10, 20]}", [0, 1, 1, 0, 0, 0]),
        ("{between_s: [0, 10.5]}", [1, 1, 0, 0, 0, 0]),
        ("{recover_after: {s: 15}}", [1, 1, 1, 0, 0, 0]),
        ("{between_s: [5, 99], recover_after: {s: 10}}", [0, 1, 1, 0, 0, 0]),
    ],
)
def test_triggers_by_time(trigger, expected):
    """The instants are those that the exchanges carry."""
    times = [replace(call(n), at_s=at) for n, at in enumerate((0.0, 10.0, 14.0, 20.0, 30.0, 40.0))]
    assert fired(profile(f"rate_limit: , trigger: {trigger}"), times) == [bool(e) for e in expected]


@pytest.mark.parametrize(
    ("trigger", "at_s", "reason"),
    [
        ("{every: 2}", 0, "call 1 is not one in 2"),
        ("{calls: [2, 5]}", 0, "call 1 is none of 2, 5"),
        ("{between_s: [1, 2]}", 0.5, "0.5 s is not between 1 and 2 s"),
        ("{stages: [{for_calls: 3, probability: 1}]}", 0, "rolled under 1.0 of stage 1"),
    ],
)
def test_reasons_of_the_other_triggers(trigger, at_s, reason):
    made = profile(f"rate_limit: , trigger: {trigger}")
    assert only(decide(made, DICE, replace(call(), at_s=at_s), SessionState())).reason.startswith(reason)


def test_recovery_and_the_last_stage_report_that():
    for trigger, reason in (
        ("{recover_after: {calls: 1}}", "recovered after 1 call"),
        ("{stages: [{for_calls: 1, probability: 1}]}", "call 2 is past the last stage"),
    ):
        state, made = SessionState(), profile(f"rate_limit: , trigger: {trigger}")
        decisions = [only(noted(decide(made, DICE, exchange, state), state)) for exchange in CALLS[:2]]
        assert [d.verb for d in decisions] == ["fire", "skip"]
        assert decisions[1].reason == reason
        assert decisions[1].unit is None, "a skipped trigger rolls nothing"


def test_the_probability_holds_in_the_long_run():
    hits = fired(profile("rate_limit: , trigger: {probability: 0.3}"), [call(n) for n in range(3000)])
    assert sum(hits) / len(hits) == pytest.approx(0.3, abs=0.03)


def test_max_times_counts_only_what_fired():
    made = profile("rate_limit: , trigger: {probability: 0.3, max_times: 3}")
    hits = fired(made, [call(n) for n in range(200)])
    without = fired(profile("rate_limit: , trigger: {probability: 0.3}"), [call(n) for n in range(200)])
    assert sum(hits) == 3
    assert hits[: hits.index(True) + 1] == without[: without.index(True) + 1]


def test_reasons_are_stated():
    state = SessionState()
    made = profile("rate_limit: , trigger: {after_calls: 1, max_times: 1}")
    reasons = [only(noted(decide(made, DICE, exchange, state), state)).reason for exchange in CALLS[:3]]
    assert reasons == ["call 1 of the first 1 passes", "call 2 matches", "fired 1 of at most 1 time"]
    first = profile("rate_limit: , trigger: {first: 1}")
    state = SessionState()
    reasons = [only(noted(decide(first, DICE, exchange, state), state)).reason for exchange in CALLS[:2]]
    assert reasons == ["call 1 matches", "call 2 is past the first 1"]


def test_a_roll_is_recorded_and_a_skipped_trigger_rolls_nothing():
    rolled = only(decide(profile("rate_limit: , trigger: {probability: 0.5}"), DICE, call(), SessionState()))
    assert rolled.unit == DICE.roll("rate_limit", "k", 0)
    assert rolled.reason == ("rolled under 0.5" if rolled.unit < 0.5 else "rolled 0.5 or more")
    assert str(rolled.unit)[:6] not in rolled.reason, "reasons are stored, rolls are not"
    skipped = only(
        decide(
            profile("rate_limit: , trigger: {probability: 0.5, after_calls: 9}"), DICE, call(), SessionState()
        )
    )
    assert skipped.unit is None


# ---------------------------------------------------------------- attempts


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [("all", [1, 1, 1, 1]), ("first", [1, 0, 0, 0]), ("1", [1, 0, 0, 0]), ("2", [1, 1, 0, 0])],
)
def test_attempts_of_one_call(attempts, expected):
    made = profile(f"rate_limit: , trigger: {{first: 1, attempts: {attempts}}}")
    assert fired(made, [call(0, attempt) for attempt in range(4)]) == [bool(e) for e in expected]


def test_retries_share_the_decision_of_their_call():
    made = profile("rate_limit: , trigger: {probability: 0.5}")
    exchanges = [call(n, attempt) for n in range(40) for attempt in range(3)]
    hits = fired(made, exchanges)
    calls = [set(hits[i : i + 3]) for i in range(0, len(hits), 3)]
    assert all(len(outcomes) == 1 for outcomes in calls)
    assert {True} in calls
    assert {False} in calls


def test_a_retry_counts_as_no_further_call():
    made = profile("rate_limit: , trigger: {after_calls: 1, max_times: 1}")
    exchanges = [call(0), call(0, 1), call(1), call(1, 1), call(2)]
    assert fired(made, exchanges) == [False, False, True, True, False]


def test_an_attempt_that_is_let_through_reports_that():
    state = SessionState()
    made = profile("rate_limit: , trigger: {attempts: first}")
    noted(decide(made, DICE, call(), state), state)
    second = only(decide(made, DICE, call(0, 1), state))
    assert (second.verb, second.reason) == ("skip", "attempt 1 is let through")
    assert second.call == ("fire", "call 1 matches", None)


def test_an_attempt_that_is_passed_by_has_the_reason_of_its_call() -> None:
    state = SessionState()
    made, dice = profile("rate_limit: , trigger: {attempts: first, probability: 0.4}"), Loaded(1, "s")
    reasons = [only(noted(decide(made, dice, call(0, n), state), state)).reason for n in range(2)]
    assert reasons == ["rolled 0.4 or more"] * 2


class Loaded(Dice):
    def roll(self, fault: str, key: str, n: int, purpose: str = "fire") -> float:
        return 0.5


@pytest.mark.parametrize(("probability", "verb"), [(0.4, "skip"), (0.5, "skip"), (0.6, "fire")])
def test_a_roll_fires_below_the_probability(probability, verb):
    made = profile(f"rate_limit: , trigger: {{probability: {probability}}}")
    assert only(decide(made, Loaded(1, "s"), call(), SessionState())).verb == verb


# ---------------------------------------------------------------- a call that came to nothing


def test_a_retry_takes_the_place_of_its_call_again_unless_another_has_it():
    made, state = profile("rate_limit: , trigger: {max_times: 1, probability: 1}"), SessionState()
    first = only(noted(decide(made, DICE, call(0), state), state))
    state.record_outcome("rate_limit", first.subject, fired=False)
    retry = only(decide(made, DICE, call(0, 1), state))
    assert (retry.verb, retry.reason, retry.unit) == ("fire", "rolled under 1.0", first.unit)
    noted(decide(made, DICE, call(1), state), state)
    late = only(decide(made, DICE, call(0, 1), state))
    assert (late.verb, late.reason, late.unit) == ("skip", "fired 1 of at most 1 time", first.unit)


def test_without_a_bound_every_retry_fires_again():
    made, state = profile("rate_limit: "), SessionState()
    noted(decide(made, DICE, call(0), state), state)
    state.record_outcome("rate_limit", Subject("k", 0, 0), fired=False)
    assert only(decide(made, DICE, call(0, 1), state)).verb == "fire"


def test_a_call_whose_number_comes_again_is_judged_anew():
    """A session that has forgotten a key counts its calls from 0 again."""
    made, state = profile("rate_limit: , trigger: {max_times: 1}"), SessionState()
    noted(decide(made, DICE, call(0), state), state)
    state.record_outcome("rate_limit", Subject("k", 0, 0), fired=False)
    noted(decide(made, DICE, call(0, key="other"), state), state)
    again = only(decide(made, DICE, call(0), state))
    assert (again.verb, again.reason, again.unit) == ("skip", "fired 1 of at most 1 time", None)


# ---------------------------------------------------------------- matching and composition


def test_what_does_not_match_is_neither_decided_nor_counted():
    state = SessionState()
    made = profile("rate_limit: , on: {model: other}")
    assert noted(decide(made, DICE, call(), state), state) == Plan()
    assert state.counts("rate_limit") == (0, 0)


def test_a_fault_that_cannot_act_states_it_and_is_not_counted():
    state = SessionState()
    made = profile("cut_stream: {after_events: 1}, trigger: {after_calls: 1}")
    decision = only(noted(decide(made, DICE, call(stream=False), state), state))
    assert (decision.verb, decision.reason) == ("inapplicable", "the request asks for no stream")
    assert state.counts("cut_stream") == (0, 0)
    noted(decide(made, DICE, call(stream=True), state), state)
    assert state.counts("cut_stream") == (1, 0)


def test_faults_are_composed_by_site_and_within_a_site_by_file():
    made = profile(
        "slow_tokens: {ms: 1}",
        "timeout_after_commit: ",
        "rate_limit: ",
        "latency: {ms: 1}",
        "tool_error: ",
        "bandwidth: {bytes_per_s: 1}",
    )
    order = ["latency", "bandwidth", "tool_error", "timeout_after_commit", "rate_limit", "slow_tokens"]
    assert [entry.fault.name for entry in made.composed] == order
    plan = decide(made, DICE, call(stream=True), SessionState())
    assert [d.entry.fault.name for d in plan.firing] == [name for name in order if name != "tool_error"]


def test_an_added_fault_changes_no_other_decision():
    trigger = "trigger: {probability: 0.5}"
    alone = profile(f"rate_limit: , {trigger}")
    more = profile(f"latency: {{ms: 1}}, {trigger}", f"rate_limit: , {trigger}", f"reset: , {trigger}")
    exchanges = [call(n) for n in range(100)]

    def of(made: Profile) -> list[bool]:
        state = SessionState()
        plans = [noted(decide(made, DICE, e, state), state) for e in exchanges]
        return [d.verb == "fire" for plan in plans for d in plan.decisions if d.entry.id == "rate_limit"]

    assert of(alone) == of(more)


def test_deciding_changes_nothing():
    state = SessionState()
    made = profile("rate_limit: , trigger: {probability: 0.5, max_times: 1}")
    assert decide(made, DICE, call(), state) == decide(made, DICE, call(), state)
    assert state == SessionState()


# ---------------------------------------------------------------- on the response


def test_entries_on_the_status_wait_for_the_head():
    state = SessionState()
    made = profile(
        "truncate_response: {max_tokens: 1}, on: {status: [200, 201]}", "rate_limit: , on: {status: 500}"
    )
    plan = decide(made, DICE, call(), state)
    assert plan.decisions == ()
    assert [entry.id for entry in plan.deferred] == ["truncate_response", "rate_limit"]
    answered = replace(call(), response=Response(200))
    head = noted(decide_head(plan, DICE, answered, state), state)
    assert [(d.entry.id, d.verb) for d in head.decisions] == [("truncate_response", "fire")]
    assert state.counts("rate_limit") == (0, 0), "it did not match"


def test_what_waits_for_the_head_is_about_the_same_call():
    made = profile("status: {code: 503}, on: {status: 200}, trigger: {probability: 1}")
    asked = replace(call(2, 1), tool="search", response=Response(200))
    decision = only(decide_head(decide(made, DICE, asked, SessionState()), DICE, asked, SessionState()))
    assert decision.subject == Subject("k", 2, 1, "search")
    assert decision.unit == DICE.roll("status", "k", 2)
    assert only(
        decide_head(
            decide(made, DICE, asked, SessionState()),
            DICE,
            replace(asked, tool=None, agent="writer"),
            SessionState(),
        )
    ).subject == Subject("k", 2, 1, "writer")


# ---------------------------------------------------------------- results of tools


def test_a_result_is_matched_by_the_tool_that_gave_it():
    made = profile("tool_error: , on: {tool: 'sea*'}", "tool_error: , on: {tool: mail}")
    plan = decide_result(made, DICE, call(), RESULT, SUBJECT, SessionState())
    assert [d.entry.id for d in plan.firing] == ["tool_error"]
    assert only(plan).subject is SUBJECT
    assert decide(made, DICE, call(), SessionState()) == Plan(), "the request itself is not its business"


def test_only_the_first_that_fires_replaces_a_result():
    made = profile(
        "tool_error: {message: a}, trigger: {calls: [2]}",
        "tool_error: {message: b}",
        "tool_error: {message: c}",
        "tool_error: {message: d}",
        "tool_error: {message: e}, trigger: {calls: [2]}",
    )
    plan = decide_result(made, DICE, call(), RESULT, SUBJECT, SessionState())
    assert [(d.entry.id, d.verb) for d in plan.decisions] == [
        ("tool_error", "skip"),
        ("tool_error#2", "fire"),
        ("tool_error#3", "skip"),
        ("tool_error#4", "skip"),
        ("tool_error#5", "skip"),
    ]
    taken = "another fault already replaced this result"
    assert [d.reason for d in plan.decisions[2:]] == [taken, taken, "call 1 is none of 2"]


def test_a_tool_nobody_knows_matches_no_name_but_is_matched_without_one():
    unnamed = replace(RESULT, name=None)
    subject = Subject("tool:", 0, 0)
    assert (
        decide_result(
            profile("tool_error: , on: {tool: '*'}"), DICE, call(), unnamed, subject, SessionState()
        )
        == Plan()
    )
    assert decide_result(profile("tool_error: "), DICE, call(), unnamed, subject, SessionState()).firing


def test_results_are_counted_one_by_one():
    state = SessionState()
    made = profile("tool_error: , trigger: {after_calls: 1, max_times: 1}")
    hits = []
    for n in range(4):
        plan = decide_result(made, DICE, call(), RESULT, Subject("tool:search", n, 0, "search"), state)
        hits.append(bool(noted(plan, state).firing))
    assert hits == [False, True, False, False]


@pytest.mark.parametrize(
    ("entry", "history", "key", "n"),
    [
        ("memory_poisoning: {payload: x}", "digest", "digest", 0),
        ("memory_poisoning: {payload: x}", "", "k", 4),
        ("rate_limit: ", "digest", "k", 4),
    ],
)
def test_the_chance_of_an_attack_on_a_conversation_depends_on_its_texts_alone(entry, history, key, n):
    made = profile(f"{entry}, trigger: {{probability: 0.5}}")
    exchange = replace(call(4), history=history)
    found = only(decide(made, DICE, exchange, SessionState()))
    assert found.unit == DICE.roll(found.entry.id, key, n)
