import json
from dataclasses import replace

import pytest
from tests.unit.checks.conftest import (
    at_limit,
    at_once,
    call,
    cut_call,
    exchange,
    in_turn,
    result,
    said,
    talk,
    used,
    user,
)

from faultwire.events import Delivery, History
from faultwire.report.advice import RULES
from faultwire.report.halves import WORDS
from faultwire.report.noticed import BY_OUTPUT, ON_THE_WIRE, noticed

LIMITED = Delivery(429, "", (("retry-after", "2"),), b"{}")
DOWN = Delivery(503, "", (), b"{}")


def seen(*exchanges, code=0):
    return {rule.id: evidence for rule, evidence in noticed(History("exec", exchanges), code)}


def test_every_rule_that_is_asked_is_one():
    assert {*ON_THE_WIRE, "refuse_halves"} < {rule.id for rule in RULES}


def test_a_truncated_answer_before_exit_0():
    found = seen(talk(1, answer="The highest is the Gross", cut=True))
    assert found["refuse_halves"].exchanges == (1,)
    assert found["refuse_halves"].words == (
        "an incomplete answer: it ended after `The highest is the Gross` without its closing event, "
        "was not retried, and the command exited 0"
    )


def aborted(silence_ms):
    """Half an answer, whose client leaves so long after its last bytes."""
    half = talk(1, answer="The highest is", cut=True)
    got = replace(half.delivered, chunks=((0, 30_000_000),))
    sent = replace(got, body=got.body + b"data: more\n\n")
    return replace(half, delivered=got, upstream=sent, ending="client_aborted", duration_ms=30 + silence_ms)


def test_an_answer_that_the_agent_left_while_it_came_is_no_mistake():
    assert "refuse_halves" not in seen(aborted(20.0))


def test_an_answer_that_the_server_cut_is_not_said_to_be_left_by_the_agent():
    cut = replace(aborted(3200.0), ending="cut")
    assert "without its closing event" in seen(cut)["refuse_halves"].words


def test_an_answer_that_the_agent_waited_for_in_vain():
    assert seen(aborted(3200.0))["refuse_halves"].words == (
        "an incomplete answer: it ended after `The highest is` when the agent closed the connection after "
        "3.2 s of silence, was not retried, and the command exited 0"
    )


@pytest.mark.parametrize("code", [0, 1])
def test_a_call_of_a_truncated_answer_that_was_run(code):
    history = [user(), said("", call("search", '{"q": "17')), result("no such thing")]
    found = seen(cut_call(1, [user()]), talk(2, history, answer="It is 391."), code=code)
    assert found["refuse_halves"].exchanges == (1, 2)
    assert "answered the call of `search` from the answer of exchange 1, which was cut short" in (
        found["refuse_halves"].words
    )


@pytest.mark.parametrize(
    ("exchanges", "code"),
    [
        ((talk(1, answer="A whole answer."),), 0),
        ((talk(1, answer="Half an", cut=True), talk(2, answer="Half an answer.")), 0),
        ((talk(1, answer="Half an", cut=True),), 1),
        ((talk(1, answer="Half an", cut=True),), -15),
        ((talk(1, answer="", cut=True),), 1),
        ((cut_call(1, [user()]), talk(2, [user("And now?")])), 0),
        ((exchange(1),), 0),
        ((), 0),
    ],
)
def test_a_rejected_truncated_answer(exchanges, code):
    assert "refuse_halves" not in seen(*exchanges, code=code)


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (talk(1, answer="", cut=True), "an empty answer: it ended without its closing event before any text"),
        (
            cut_call(1, [user()]),
            "an incomplete answer: it ended in a call of `search` without its closing event",
        ),
    ],
)
def test_a_truncated_answer_without_text(cut, words):
    assert seen(cut)["refuse_halves"].words == f"{words}, was not retried, and the command exited 0"


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"])
def test_an_answer_at_its_limit(reason):
    found = seen(at_limit(1, answer="The highest is the Gross", reason=reason))
    assert found.keys() == {"heed_limits"}
    assert found["heed_limits"].words == (
        f"an incomplete answer: it ended after `The highest is the Gross` at its token limit (`{reason}`), "
        "was not retried, and the command exited 0"
    )
    more = talk(2, [user(), said("The highest is the Gross"), user("Go on.")], answer="glockner.")
    assert not seen(at_limit(1, answer="The highest is the Gross", reason=reason), more)
    assert not seen(at_limit(1, answer="A whole one.", reason="stop"))
    assert "heed_limits" not in seen(at_limit(1, answer="The highest", reason=reason), code=1)


def test_a_call_at_the_limit_that_was_run():
    history = [user(), said("", call("search", '{"q": "17"}')), result("nothing")]
    half = at_limit(1, calls=[call("search", '{"q": "17')])
    found = seen(half, talk(2, history, answer="It is 391."))
    assert found.keys() == {"heed_limits"}
    assert 'with the arguments `{"q": "17"}` in place of the unfinished' in found["heed_limits"].words


def test_the_last_truncated_answer_counts():
    found = seen(talk(1, answer="Half one", cut=True), talk(2, answer="Half two", cut=True))
    assert found["refuse_halves"].exchanges == (2,)


def test_a_long_truncated_answer_is_clipped():
    text = " ".join(f"word{n}" for n in range(400)) + " and `here`"
    words = seen(talk(1, answer=text, cut=True))["refuse_halves"].words
    told = words.split("`")[1]
    assert told.startswith("…word")
    assert told.endswith("and 'here'")
    assert len(told) <= WORDS


def test_a_call_that_is_made_again_though_it_was_done():
    lost = used(1, "refund", delivered=Delivery(504, "", (), b"{}"))
    lost = replace(lost, upstream=used(1).delivered)
    assert seen(lost, used(2, "refund"))["act_once"].exchanges == (1, 2)
    assert not seen(used(1), used(2)), "a tool that only reads may be asked twice"


@pytest.mark.parametrize("code", [-6, -11, 134, 139])
def test_a_program_that_a_signal_ended_after_a_failure(code):
    found = seen(exchange(1, delivered=DOWN), code=code)
    assert found.keys() == {"find_signal"}, "that it died of the failure is not known"
    shown = "139 (SIGSEGV)" if code in (-11, 139) else "134 (SIGABRT)"
    assert found["find_signal"].words.endswith(f"the agent exited with {shown}")


@pytest.mark.parametrize("code", [1, 2, 3, 70, 255])
def test_a_code_of_the_programs_own_is_no_mistake(code):
    assert not seen(exchange(1, delivered=DOWN), code=code), "it may have reported the failure"


def test_a_program_that_ends_well_after_its_last_call_failed():
    found = seen(talk(1), talk(2, status=503), talk(3, status=503))
    assert found.keys() == {"say_so"}
    assert found["say_so"].exchanges == (3,)
    assert found["say_so"].words == (
        "`api.openai.com/v1/chat/completions` answered 503, no call of a model succeeded after it, and the "
        "command exited 0"
    )
    lost = talk(1, delivered=None, ending="reset")
    assert "gave no response (reset), no call" in seen(lost)["say_so"].words


TRACES = replace(talk(2, status=404), request=replace(talk(2).request, path="/v1/traces/ingest"))


@pytest.mark.parametrize(
    "exchanges",
    [
        (talk(1, status=503), talk(2)),
        (talk(1, status=503), talk(2, host="api.anthropic.com")),
        (talk(1, status=503, duration_ms=500.0), talk(2, started_ms=1050)),
        (talk(1), used(2, status=503)),
        (talk(1), TRACES),
        (talk(1), replace(talk(2, status=403), ending="refused", error="`localhost` is a loopback address")),
        (),
    ],
    ids=["retried", "another provider", "beside it", "a tool", "telemetry", "the proxy", "nothing"],
)
def test_a_failure_that_was_not_the_last_word_of_a_model(exchanges):
    assert "say_so" not in seen(*exchanges)


def test_a_last_call_that_failed_in_a_program_that_ended_otherwise():
    assert "say_so" not in seen(talk(1, status=503), code=1)
    interrupted = noticed(History("exec", (talk(1, status=503),)), 0, interrupted=True)
    assert not interrupted


def test_where_it_depends_on_the_output_the_action_says_so():
    halves = [
        (talk(1, status=503),),
        (talk(1, answer="Half an", cut=True),),
        (at_limit(1, answer="Half an"),),
    ]
    for exchanges in halves:
        ((rule, _),) = noticed(History("exec", exchanges), 0)
        assert rule.action == BY_OUTPUT[rule.id]
        assert "utput" in rule.action
    ran = [user(), said("", call("search", '{"q": "17')), result("no such thing")]
    sent = [user(), said("Half an answer that"), user("And now?")]
    for half, messages in (
        (cut_call(1, [user()]), ran),
        (talk(1, answer="Half an answer that", cut=True), sent),
    ):
        ((rule, evidence),) = noticed(History("exec", (half, talk(2, messages))), 0)
        assert rule.action not in BY_OUTPUT.values(), "the traffic alone shows it"
        assert evidence.exchanges == (1, 2)


def test_a_program_that_comes_back_too_early():
    pair = exchange(1, delivered=LIMITED, at_ms=1000), exchange(2, at_ms=1100)
    assert seen(*in_turn(*pair)).keys() == {"honour_retry_after"}
    assert seen(*at_once(*pair)).keys() == set()


@pytest.mark.parametrize(
    ("name", "limit", "told"), [("max_tokens", 1, False), ("max_completion_tokens", 16, False),
    ("max_tokens", 17, True), ("max_tokens", None, True), ("n", 1, True)],
)  # fmt: skip
def test_a_limit_of_a_few_tokens_was_asked_for(name, limit, told):
    half = at_limit(1, answer="Yes")
    body = json.dumps({**json.loads(half.request.body), name: limit}).encode()
    asked = replace(half, request=replace(half.request, body=body))
    assert ("heed_limits" in seen(asked)) is told
    shortened = replace(asked, upstream=talk(1, answer="Yes, it is").delivered)
    assert "heed_limits" in seen(shortened), "a fault put the limit there"
