from dataclasses import replace

import pytest
from tests.unit.checks.conftest import exchange, line, talk, used

from faultwire.events import Delivery, History
from faultwire.report.cause import cause, last
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
    found = {rule.id: evidence for rule, evidence in noticed(history, 1)}
    assert found["catch_failures"].exchanges == (1,)
    assert "ended early (cut); the agent exited with 1" in found["catch_failures"].words


def test_telemetry_alone_explains_nothing():
    assert blamed(talk(1), traces(2)) is None
    assert not noticed(History("s", (talk(1), traces(2))), 1)


def test_a_failure_that_the_agent_got_over_is_none():
    assert blamed(exchange(1, delivered=DOWN)) == 1
    assert blamed(exchange(1, delivered=DOWN), exchange(2)) is None
    assert blamed(exchange(1, delivered=DOWN), exchange(2, delivered=DOWN)) == 2


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


def test_without_traffic_there_is_no_cause():
    assert blamed() is None
    assert last(History("s", (traces(1),))) is None


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
    assert found.evidence.words == (
        "`api.openai.com/v1/chat` was refused by the proxy (`'localhost' is a loopback address`); "
        "the agent exited with 1"
    )
    (found,) = noticed(History("s", (talk(1), exchange(2, delivered=DOWN))), 1)
    assert found.evidence.words == "`api.openai.com/v1/chat` answered 503; the agent exited with 1"
