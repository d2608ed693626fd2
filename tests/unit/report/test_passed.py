from dataclasses import replace

import pytest
from tests.unit.checks.conftest import talk, user

from faultwire.contract.cells import Cell, Invocation, Prompt, Scenario
from faultwire.contract.matrix import Matrix
from faultwire.events import AgentResult, History, Verdict
from faultwire.profile.model import Profile
from faultwire.report.noticed import BY_OUTPUT, ON_THE_WIRE
from faultwire.report.passed import JUDGES, passed_warnings

DOWN = (talk(1, status=503), talk(2, status=503, started_ms=9000))
LIE = "Hello! (all good)"


def played(answer=LIE, exchanges=DOWN, *, scenario="outage", code=0):
    one = Invocation(Scenario(scenario, Profile(name=scenario)), Prompt("hi", "Say hello"))
    return one, History("s", exchanges, AgentResult(answer, code, 1.0))


def warnings(*invocations, verdict="pass", asked=()):
    cells = tuple(Cell("completes", "high", one, Verdict(verdict, "")) for one, _ in invocations)
    return passed_warnings(invocations, Matrix(cells), frozenset(asked))


def test_an_answer_after_calls_of_which_all_failed():
    assert warnings(played()) == [
        "1 invocation of `outage` failed no check (`recovers_within` would judge this), and: "
        "`api.openai.com/v1/chat/completions` answered 503, no call of a model succeeded after it, and the "
        "command exited 0"
    ]


def test_what_the_contract_asks_itself_is_not_recommended():
    (text,) = warnings(played(), asked=["recovers_within"])
    assert text.startswith("1 invocation of `outage` failed no check, and: `api")


def test_one_line_for_a_rule_that_names_the_scenarios():
    (text,) = warnings(played(), played(scenario="limits"))
    assert text.startswith("2 invocations of `outage`, `limits` failed no check (`recovers_within`")
    assert "would judge this), and, in the first: `api" in text


@pytest.mark.parametrize(
    "one",
    [
        played("Sorry, the service is unavailable."),
        played(exchanges=(talk(1, status=503), talk(2))),
        played(code=1),
        played(exchanges=(talk(1),)),
        played(exchanges=(talk(1), talk(2, [user("A title?")], status=503))),
        played("The answer is incomplete: Half an", (talk(1, answer="Half an", cut=True),)),
    ],
    ids=["admitted", "retried", "reported", "answered", "optional", "half is admitted"],
)
def test_an_agent_that_takes_it_well_is_not_warned_of(one):
    assert warnings(one) == []


def test_half_an_answer_that_was_handed_on():
    half = (talk(1, answer="The highest mountain of all is", cut=True),)
    (text,) = warnings(played("The highest mountain of all is", half))
    assert "(`truncated_stream_not_accepted` would judge this), and: the answer `The highest" in text
    assert text.endswith("is what came before the cut")


@pytest.mark.parametrize("verdict", ["fail", "unknown"])
def test_an_invocation_that_did_not_pass_has_its_own_findings(verdict):
    assert warnings(played(), verdict=verdict) == []


def test_a_void_invocation_is_not_looked_at():
    one, history = played()
    assert warnings((one, replace(history, voids=("no proxy",)))) == []


def test_the_check_that_is_named_for_a_rule_is_one_of_a_rule():
    assert set(JUDGES) <= {*ON_THE_WIRE, *BY_OUTPUT}
