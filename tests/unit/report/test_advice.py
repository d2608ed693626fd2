import pytest
from tests.unit.checks.conftest import at_once, call, exchange, in_turn, line, result, said, talk, used, user

from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.events import AgentResult, Delivery, History
from faultwire.profile.model import Profile
from faultwire.report.advice import EXAMINED, RULES, suggestions_part

LIMITED = Delivery(429, "", (("retry-after", "2"),), b"{}")
DOWN = Delivery(503, "", (), b"{}")
WRONG = Delivery(400, "", (), b"{}")
QUICK = {"delivered": DOWN, "body": b"same"}


def advise(*exchanges, answer="done", failures=1, voids=(), name="chaos", redact=lambda text: text, **ended):
    invocation = Invocation(Scenario(name, Profile(name=name)), Prompt("p1", "?"))
    agent = AgentResult(
        answer, ended.get("exit_code", 0), 1.0, ended.get("stderr", ""), ended.get("timed_out", False)
    )
    history = History("s", exchanges, agent, voids=voids)
    return suggestions_part([(invocation, history)], {invocation.id: failures}, redact)


def ids(parts):
    return {part["id"] for part in parts}


def evidence(parts, wanted):
    (part,) = [part for part in parts if part["id"] == wanted]
    (seen,) = part["evidence"]
    return seen["exchanges"], seen["words"]


def test_an_agent_that_comes_back_before_it_may():
    parts = advise(*in_turn(exchange(1, delivered=LIMITED, at_ms=1000), exchange(2, at_ms=1200)))
    assert evidence(parts, "honour_retry_after") == (
        [1, 2],
        "`api.openai.com/v1/chat` returned 429 with retry-after `2`; "
        "exchange 2 came before that time had passed",
    )
    for moment in (2600, 3200):  # nearly, and long enough
        waited = advise(exchange(1, delivered=LIMITED, at_ms=1000), exchange(2, at_ms=moment))
        assert "honour_retry_after" not in ids(waited)


def test_an_agent_that_hammers():
    parts = advise(*in_turn(*(exchange(n, at_ms=1000 + 5 * n, **QUICK) for n in (1, 2, 3))))
    numbers, words = evidence(parts, "back_off")
    assert (numbers, words) == ([1, 2, 3], "3 attempts of a call to `api.openai.com/v1/chat` without a pause")
    for step in (400, 4000):
        patient = advise(*(exchange(n, at_ms=step * n, **QUICK) for n in (1, 2, 3)))
        assert "back_off" not in ids(patient)
    once = advise(*in_turn(*(exchange(n, at_ms=1000 + 5 * n, **QUICK) for n in (1, 2))))
    assert "back_off" not in ids(once)
    quick = (exchange(n, at_ms=1000 + 5 * n, delivered=LIMITED, body=b"same") for n in (1, 2, 3))
    told = advise(*in_turn(*quick))
    assert "back_off" not in ids(told)  # it was told how long to wait, which is another matter


def test_an_agent_that_asks_several_times_at_once_hammers_nobody():
    quick = [exchange(n, at_ms=1000 + 5 * n, **QUICK) for n in range(1, 9)]
    assert ids(advise(*in_turn(*quick))) >= {"back_off", "cap_attempts"}
    assert not ids(advise(*at_once(*quick))) & {"back_off", "cap_attempts"}
    assert not ids(advise(*quick)) & {"back_off", "cap_attempts"}, "nobody saw their connections"


def test_a_storm():
    parts = advise(*(exchange(n, at_ms=4000 * n, **QUICK) for n in range(1, 9)))
    assert evidence(parts, "cap_attempts")[0] == list(range(1, 9))


def test_a_request_that_was_wrong_and_is_sent_again():
    parts = advise(*(exchange(n, delivered=WRONG, body=b"same") for n in (1, 2)))
    assert evidence(parts, "mend_before_retry")[0] == [1, 2]


def test_half_of_a_stream_that_is_passed_on():
    parts = advise(talk(1, answer="17 times", cut=True), answer="17 times")
    assert evidence(parts, "refuse_halves")[0] == [1]
    assert "refuse_halves" not in ids(advise(talk(1, answer="17 times", cut=True), answer="It failed."))


def test_the_same_deed_twice():
    parts = advise(used(1, "refund", {"amount": 5}), used(2, "refund", {"amount": 5}))
    assert evidence(parts, "act_once")[0] == [1, 2]


def test_a_canary_that_came_back():
    planted = line("indirect_injection", site="result", effect="put `fw-canary-aaaa` into the result")
    back = line("indirect_injection", outcome="returned", reason="the canary is in the arguments of `mail`")
    parts = advise(talk(1, faults=(planted,)), used(2, "mail", faults=(back,)))
    assert "treat_as_data" in ids(parts)
    assert "treat_as_data" not in ids(advise(talk(1, faults=(planted,)), used(2, "mail")))


def test_a_failure_that_the_answer_repeats_as_a_fact():
    text = '{"error": "the search service is down for maintenance"}'
    told = talk(2, messages=[user(), said("", call("search")), result(text)])
    tool = used(1, "search", text=text, status=503)
    parts = advise(tool, told, answer=f"It is {text}.")
    assert evidence(parts, "name_failures")[0] == [1]
    assert "the tool `search` failed with" in evidence(parts, "name_failures")[1]
    assert "name_failures" not in ids(advise(tool, told, answer="The search failed."))


TRACE = "Traceback (most recent call last):\n  File …\nAPIError: 503\n"


@pytest.mark.parametrize(
    ("stderr", "crashed"),
    [
        (TRACE, True),
        ("panic: runtime error: index out of range\n\ngoroutine 1 [running]:\n", True),
        ("thread 'main' panicked at src/main.rs:4:9:\ncalled Option::unwrap\n", True),
        ("Error: 503\n    at ask (file:///agent.mjs:4:9)\n\nNode.js v22.21.0\n", True),
        ('Exception in thread "main" java.lang.RuntimeException\n\tat A.main(A.java:4)\n', True),
        ("The model is not available, please try again.\n", False),
        ("2026/11/24 12:00:00 model: 503\n", False),
        ("error: it was down at 12:30\n", False),
        ("", False),
    ],
)
def test_a_crash_differs_from_an_exit_with_a_message(stderr, crashed):
    parts = advise(exchange(1, delivered=DOWN), answer="", exit_code=1, stderr=stderr)
    assert ("catch_failures" in ids(parts)) is crashed


def test_an_agent_that_gives_up_at_once():
    parts = advise(exchange(1, delivered=DOWN), answer="", exit_code=1, stderr=TRACE)
    assert evidence(parts, "try_again") == (
        [1],
        "`api.openai.com/v1/chat` answered 503; it was not retried",
    )
    assert evidence(parts, "catch_failures") == (
        [1], "`api.openai.com/v1/chat` answered 503; the agent exited with 1: `APIError: 503`",
    )  # fmt: skip
    tried = advise(exchange(1, **QUICK), exchange(2, **QUICK), answer="", exit_code=1)
    assert "try_again" not in ids(tried)
    for never in (WRONG, Delivery(501, "", (), b"{}"), Delivery(505, "", (), b"{}")):
        assert "try_again" not in ids(advise(exchange(1, delivered=never), answer="", exit_code=1))


def test_a_connection_that_never_answered():
    refused = exchange(1, delivered=None, ending="reset")
    parts = advise(refused, answer="", exit_code=1)
    assert (
        evidence(parts, "try_again")[1]
        == "`api.openai.com/v1/chat` gave no response (reset); it was not retried"
    )


def test_a_stream_that_broke_off_may_be_asked_for_again():
    parts = advise(talk(1, cut=True), answer="", exit_code=1)
    assert evidence(parts, "try_again")[1].endswith("ended early (cut); it was not retried")


def test_an_agent_that_dies_of_its_own_is_not_advised_to_catch_failures():
    assert "catch_failures" not in ids(advise(exchange(1), answer="", exit_code=1))


def test_an_agent_that_waits_for_ever():
    hanging = exchange(1, delivered=None, ending="open")
    parts = advise(hanging, answer="", exit_code=-9, timed_out=True)
    assert evidence(parts, "set_timeouts") == (
        [1], "the agent was stopped while `api.openai.com/v1/chat` had not finished its response",
    )  # fmt: skip
    assert "set_timeouts" not in ids(advise(exchange(1), answer="", exit_code=-9, timed_out=True))


def test_silence_that_looks_like_success():
    parts = advise(exchange(1, delivered=DOWN), answer=" ")
    assert (
        evidence(parts, "say_so")[1]
        == "`api.openai.com/v1/chat` answered 503; the agent exited 0 and printed nothing"
    )
    assert "say_so" not in ids(advise(exchange(1), answer=""))


def test_passed_and_inconclusive_invocations_get_no_suggestion():
    bad = exchange(1, delivered=DOWN)
    assert advise(bad, answer="", failures=0) == []
    assert advise(bad, answer="", voids=("the engine ended",)) == []
    assert advise(answer="") == []


def test_names_say_nothing():
    """The advice is that of the evidence, whatever the scenario is called."""
    quiet = (exchange(1),)
    assert advise(*quiet, name="rate_limit_retry_after_storm_truncated_stream") == []
    bad = exchange(1, delivered=DOWN)
    called = [ids(advise(bad, answer="", exit_code=1, name=name)) for name in ("calm", "latency", "x")]
    assert called[0] == called[1] == called[2] != set()


def test_what_is_seen_often_comes_first_and_is_shown_a_few_times():
    scenario = Scenario("chaos", Profile(name="chaos"))
    storm = tuple(exchange(n, at_ms=4000 * n, **QUICK) for n in range(1, 9))
    played = []
    for at in range(20):
        invocation = Invocation(scenario, Prompt(f"p{at}", "?"))
        traffic = storm if at == 0 else (exchange(1, delivered=DOWN),)
        played.append((invocation, History("s", traffic, AgentResult("", 1, 1.0, TRACE))))
    parts = suggestions_part(played, {i.id: 1 for i, _ in played}, lambda text: text)
    assert [part["id"] for part in parts] == ["catch_failures", "try_again", "cap_attempts"]
    assert (parts[0]["invocations"], len(parts[0]["evidence"])) == (20, 5)


def test_only_so_many_are_looked_at():
    scenario = Scenario("chaos", Profile(name="chaos"))
    history = History("s", (exchange(1, delivered=DOWN),), AgentResult("", 1, 1.0))
    played = [(Invocation(scenario, Prompt(f"p{at}", "?")), history) for at in range(EXAMINED + 50)]
    parts = suggestions_part(played, {i.id: 1 for i, _ in played}, lambda text: text)
    assert parts[0]["invocations"] == EXAMINED


def test_what_the_agent_printed_is_redacted():
    parts = advise(
        exchange(1, delivered=DOWN), answer="", exit_code=1, stderr=f"{TRACE}bad key sk-secret",
        redact=lambda text: text.replace("sk-secret", "redacted"),
    )  # fmt: skip
    assert "sk-secret" not in str(parts)
    assert "redacted" in str(parts)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_states_what_to_do_in_a_sentence(rule):
    assert rule.action[0].isupper()
    assert rule.action.endswith(".")
    assert rule.find(History("s", ())) is None


def test_an_invented_fact_while_a_tool_failed():
    failing = used(1, "search", text='{"error": "no route"}', status=503)
    told = talk(2, messages=[user("How tall is the tower?"), said("", call("search")), result("failed")])
    parts = advise(failing, told, answer="The tower is 312 metres tall.")
    assert evidence(parts, "do_not_invent")[1] == "the agent's inputs do not contain `312`, and a tool failed"
    assert "do_not_invent" not in ids(advise(failing, told, answer="I could not find out."))
