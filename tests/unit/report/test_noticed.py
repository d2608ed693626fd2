from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_limit, call, cut_call, exchange, result, said, talk, used, user

from faultwire.events import Delivery, History
from faultwire.report.advice import RULES
from faultwire.report.noticed import ON_THE_WIRE, WORDS, noticed

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
    assert "ran `search` from the answer of exchange 1, which was cut short" in found["refuse_halves"].words


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


def test_a_program_that_dies_of_a_failure():
    found = seen(exchange(1, delivered=DOWN), code=1)
    assert found.keys() == {"catch_failures"}
    assert found["catch_failures"].words.endswith("the agent exited with 1")
    assert not seen(exchange(1, delivered=DOWN), code=0), "what it printed is not known"


def test_a_program_that_comes_back_too_early():
    found = seen(exchange(1, delivered=LIMITED, at_ms=1000), exchange(2, at_ms=1100))
    assert found.keys() == {"honour_retry_after"}
