from dataclasses import replace

import pytest
from tests.unit.checks.conftest import exchange, line, talk, used

from faultwire.events import AgentResult, Delivery, History
from faultwire.report import after_failure
from faultwire.report.after_failure import crashes, gives_up, was_refused
from faultwire.report.cause import cause, last, stopped
from faultwire.report.noticed import noticed

NOWHERE = Delivery(404, "Not Found", (), b"{}")
DOWN = Delivery(503, "", (), b"{}")
CUT = (line("early_end", site="stream"),)


def blamed(*exchanges):
    found = cause(History("s", exchanges))
    return found.number if found is not None else None


def traces(number, delivered=NOWHERE, **changes):
    made = exchange(number, path="/v1/traces/ingest", delivered=delivered, **changes)
    return replace(made, kind="other")


def test_a_cut_answer_goes_before_telemetry_that_nobody_takes():
    cut = talk(1, answer="Half an", cut=True, faults=CUT)
    history = History("s", (cut, traces(2)))
    assert cause(history) == last(history) == cut
    found = {rule.id: evidence for rule, evidence in noticed(history, -6)}
    assert found["find_signal"].exchanges == (1,)
    assert "ended early (cut); the agent exited with 1" in found["find_signal"].words


def test_telemetry_alone_explains_nothing():
    assert blamed(talk(1), traces(2)) is None
    assert not noticed(History("s", (talk(1), traces(2))), 1)


def test_a_failure_that_the_agent_got_over_is_none():
    assert blamed(exchange(1, delivered=DOWN)) == 1
    assert blamed(exchange(1, delivered=DOWN), exchange(2)) is None
    assert blamed(exchange(1, delivered=DOWN), exchange(2, delivered=DOWN)) == 2


def test_a_failure_before_a_miss_of_a_replay_may_not_be_what_it_died_of():
    def miss(number, **changes):
        return talk(number, ending="refused", error="diverged: new call", status=422, **changes)

    hit = talk(1, status=503, faults=(line(site="response"),))
    assert blamed(hit) == 1
    assert blamed(hit, miss(2)) is None
    assert blamed(hit, miss(2, started_ms=0)) == 1, "it was asked before"
    assert blamed(hit, replace(miss(2), kind="other")) == 1


def test_the_proxys_own_answer_is_not_called_the_servers():
    gone = replace(exchange(1, delivered=DOWN), upstream=None, ending="upstream_aborted")
    gone = replace(gone, error="it did not answer")
    words = "gave no response (the proxy answered 503: `it did not answer`)"
    assert after_failure.outcome(gone).endswith(words)
    assert after_failure.outcome(exchange(1, delivered=DOWN)).endswith("answered 503")


def test_what_no_fault_made_counts_only_where_nothing_came_after_it():
    assert blamed(used(1, status=404), talk(2)) is None
    assert blamed(used(1, status=404, faults=(line(site="response"),)), talk(2)) == 1
    assert blamed(talk(1), used(2, status=404)) == 2


def test_models_and_tools_go_before_other_traffic():
    other = used(2, "page", status=404, kind="other", tool=None)
    assert blamed(talk(1), other) == 2
    assert blamed(talk(1, status=503, duration_ms=5000.0), other) == 1


def test_of_several_at_the_same_time_one_that_a_fault_hit():
    hit = used(1, "a", status=503, faults=(line(site="response"),), duration_ms=2000.0)
    assert blamed(hit, used(2, "b", status=404)) == 1
    before = replace(hit, duration_ms=10.0)
    assert blamed(before, used(2, "b", status=404)) == 2


@pytest.mark.parametrize(("site", "expected"), [("result", 1), ("request", 1), ("stream", None)])
def test_a_fault_that_only_took_time_harmed_nothing(site, expected):
    assert blamed(talk(1, faults=(line("slow_tokens", site=site),))) == expected


@pytest.mark.parametrize(
    ("ending", "got", "expected"), [("complete", 400, None), ("client_aborted", 200, 1)], ids=["all", "half"]
)
def test_an_answer_whose_events_came_late_harmed_an_agent_only_that_left_it(ending, got, expected):
    slow = talk(1, answer="It is forty-two.", faults=(line("slow_tokens", site="stream"),))
    sent = replace(slow.delivered, body=b" " * 400, chunks=((0, 1_000_000),))
    drip = replace(sent, body=sent.body[:got], chunks=((0, 1_000_000), (100, 70_000_000)))
    assert blamed(replace(slow, upstream=sent, delivered=drip, ending=ending)) == expected


def test_without_traffic_there_is_no_cause():
    assert blamed() is None
    assert last(History("s", (traces(1),))) is None


TRACE = "Traceback (most recent call last):\n  File …\nAPIError: 503"


def refused(number, why, status=502):
    made = exchange(number, delivered=Delivery(status, "", (), b"{}"), ending="refused")
    return replace(made, error=why)


def test_what_a_replay_had_no_answer_for_explains_nothing():
    miss = refused(2, "diverged: it differs from s#1 in `$.messages[1]`", 422)
    assert blamed(talk(1), miss) is None
    assert not noticed(History("s", (talk(1), miss)), 1)
    assert blamed(talk(1), replace(miss, ending="complete", error=None)) == 2


def test_an_answer_of_the_proxy_is_not_said_to_be_the_servers():
    why = "`localhost` is a loopback address"
    (found,) = noticed(History("s", (talk(1), refused(2, why))), 1)
    assert found.rule.id == "allow_or_answer"
    assert found.evidence.words == (
        "`api.openai.com/v1/chat` was refused by the proxy (`'localhost' is a loopback address`); "
        "the agent exited with 1"
    )
    (found,) = noticed(History("s", (talk(1), exchange(2, delivered=DOWN))), -6)
    assert found.rule.id == "find_signal"
    assert (
        found.evidence.words == "`api.openai.com/v1/chat` answered 503; the agent exited with 134 (SIGABRT)"
    )


def test_the_reason_of_a_changed_answer_names_its_fault():
    spoiled = talk(1, faults=(line("malformed_body", site="response"),))
    spoiled = replace(spoiled, delivered=replace(spoiled.delivered, body=b"{"))
    (found,) = noticed(History("s", (spoiled,)), 134)
    assert found.evidence.words == (
        "`api.openai.com/v1/chat/completions` answered 200 with the fault `malformed_body`; "
        "the agent exited with 134 (SIGABRT)"
    )
    armed = replace(spoiled, faults=(line("malformed_body", "no_effect", site="response"),))
    assert not noticed(History("s", (armed,)), 134)


@pytest.mark.parametrize("code", [-15, -2, -9, -1, 143, 130, 137])
@pytest.mark.parametrize(
    "spoiled", [exchange(2, delivered=DOWN), refused(2, "`localhost` is a loopback address")]
)
def test_a_program_that_others_ended_is_not_blamed_for_how_it_ended(code, spoiled):
    history = History("s", (talk(1), spoiled))
    assert not noticed(history, code)
    assert noticed(history, -11), "a crash of its own is"


def test_a_program_that_the_user_interrupted_is_not_blamed_for_how_it_ended():
    history = History("s", (talk(1), exchange(2, delivered=DOWN)))
    assert not noticed(history, -6, interrupted=True)
    assert noticed(history, -6)
    half = History("s", (talk(1, answer="Half an", cut=True),))
    assert noticed(half, 0, interrupted=True), "what it took for an answer is"


@pytest.mark.parametrize(
    ("code", "timed_out", "expected"),
    [(1, False, False), (-11, False, False), (None, True, True), (-15, False, True), (143, False, True)],
)
def test_an_agent_that_was_ended_from_outside_neither_crashed_nor_gave_up(code, timed_out, expected):
    agent = AgentResult("", code, 0.0, TRACE, timed_out=timed_out)
    assert stopped(agent) is expected
    failing = History("s", (exchange(1, delivered=DOWN),), agent=agent)
    assert [find(failing) is None for find in (crashes, gives_up, was_refused)] == [expected, expected, True]
    refusing = History("s", (refused(1, "`localhost` is a loopback address"),), agent=agent)
    assert [find(refusing) is None for find in (crashes, was_refused)] == [True, expected]


@pytest.mark.parametrize(("stderr", "finds"), [("", "killed"), ("terminate called after", "crashes")])
def test_a_signal_is_laid_to_the_failure_only_where_a_trace_says_so(stderr, finds):
    down = talk(1, status=503)
    history = History("s", (down,), AgentResult("", -6, 1.0, stderr))
    found = {name for name in ("killed", "crashes") if getattr(after_failure, name)(history) is not None}
    assert found == {finds}


def test_a_question_that_another_model_answered_is_got_over():
    down = talk(1, status=503, faults=(line("status", site="response"),))
    elsewhere = talk(2, host="other.test")
    assert blamed(down, elsewhere) is None
    assert blamed(down, talk(2, [{"role": "user", "content": "Something else?"}], host="other.test")) == 1
    assert blamed(down, talk(2, host="other.test", status=503, delivered=DOWN)) == 2
    assert blamed(down, replace(elsewhere, kind="other")) == 1
