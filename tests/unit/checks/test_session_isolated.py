import base64

import pytest
from pydantic import ValidationError

from faultwire.checks.session_isolated import LONGEST, SessionIsolated

CHECK = SessionIsolated(pattern="CUST-[0-9]{3}")
OWN = "I am CUST-001. Who am I?"


def judged(verdict, exchanges, answer="You are CUST-001.", prompt=OWN):
    return verdict(CHECK, exchanges, answer, prompt=prompt)


def test_own_words_may_be_everywhere(verdict, wire):
    own = [wire.talk(1, [wire.user(OWN)]), wire.used(2, arguments={"q": "CUST-001"})]
    found = judged(verdict, own)
    assert (found.verdict, found.explanation) == (
        "pass", "no word of another session in its requests and its answer",
    )  # fmt: skip
    negated = SessionIsolated(pattern="CUST-[0-9]{3}", negate=True)
    assert verdict(negated, own, prompt=OWN).verdict == "fail"


def test_words_of_others_in_a_request(verdict, wire):
    shared = [wire.talk(1, [wire.user("I am CUST-002."), wire.said("Hello."), wire.user(OWN)])]
    found = judged(verdict, shared)
    assert (found.verdict, found.exchanges) == ("fail", (1,))
    assert found.explanation == "1 word of other sessions in 1 request"


def test_words_of_others_in_the_answer_or_encoded(verdict, wire):
    found = judged(verdict, [wire.talk(1, [wire.user(OWN)])], "You are CUST-002, not CUST-003.")
    assert found.explanation == "2 words of other sessions in the answer"
    packed = base64.b64encode(b"memory of CUST-002 and more").decode()
    both = judged(verdict, [wire.used(1, arguments={"note": packed})], "CUST-003")
    assert both.explanation == "2 words of other sessions in 1 request and the answer"


def test_the_words_themselves_are_not_repeated(verdict, wire):
    assert "CUST-002" not in judged(verdict, [wire.talk(1)], "CUST-002").explanation


def test_without_a_word_of_its_own_nothing_is_known(verdict, wire):
    for prompt in (None, "Who am I?"):
        found = judged(verdict, [wire.talk(1)], prompt=prompt)
        assert found.explanation == "the prompt holds no word of the form `CUST-[0-9]{3}`"
    assert judged(verdict, []).explanation == "no exchange was seen"


def test_what_cannot_be_read_is_unknown(verdict, wire):
    odd = wire.used(1, headers=(("content-encoding", "gzip"),))
    assert judged(verdict, [odd]).explanation.startswith("1 request cannot be read: ")
    assert judged(verdict, [odd], "CUST-002").verdict == "fail", "what is seen is seen"


def test_a_long_text_of_words_is_read_once(verdict, wire):
    text = "CUST-001 " * 20_000
    assert judged(verdict, [wire.talk(1, [wire.user(text)])], text).verdict == "pass"
    assert len("CUST-001") < LONGEST


@pytest.mark.parametrize("pattern", ["", "[0-9]*", "(", "x?"])
def test_a_pattern_must_be_one_of_a_word(pattern):
    with pytest.raises(ValidationError):
        SessionIsolated(pattern=pattern)
