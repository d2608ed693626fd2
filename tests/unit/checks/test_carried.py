import pytest
from tests.unit.checks.conftest import at_limit, said, talk, user

from faultwire.checks._carried import carried
from faultwire.checks.truncated_stream_not_accepted import CARRIED_AT_LIMIT, TruncatedStreamNotAccepted
from faultwire.events import AgentResult, History

HALF = "The Seine has many"
ASKED = [user("Tell me of the Seine.")]
NEXT = user("And who built them?")


def seen(*exchanges, limits=False):
    found = carried(History("s", exchanges, AgentResult("", 0, 1.0)), limits=limits)
    return None if found is None else (found.cut.exchange.number, found.seen)


def half(text=HALF, messages=None):
    return talk(1, messages or ASKED, answer=text, cut=True)


def test_a_half_that_goes_on_as_the_words_of_the_assistant():
    assert seen(half(), talk(2, [*ASKED, said(HALF), NEXT])) == (1, 2)
    assert seen(half(), talk(2, [*ASKED, said(f"{HALF}  \n"), NEXT])) == (1, 2), "spaces do not count"
    assert seen(half("The"), talk(2, [*ASKED, said("The"), NEXT])) == (1, 2), "its place tells it"


def test_a_half_whose_end_the_agent_made_up():
    assert seen(half(), talk(2, [*ASKED, said(f"{HALF} [end]"), NEXT])) == (1, 2)


def test_a_half_in_a_conversation_that_was_shortened_or_got_other_instructions():
    assert seen(half(), talk(2, [said(HALF), NEXT])) == (1, 2)
    system = {"role": "system", "content": "Be brief."}
    assert seen(half(), talk(2, [system, *ASKED, said(HALF), NEXT])) == (1, 2)
    assert seen(half("The"), talk(2, [said("The"), NEXT])) is None, "few words may stand anywhere"


def test_a_half_that_is_sent_on_counts_whatever_becomes_of_the_request():
    assert seen(half(), talk(2, [*ASKED, said(HALF), NEXT], status=503)) == (1, 2)
    assert seen(half(), talk(2, [*ASKED, said(HALF), NEXT]), talk(3, ASKED)) == (1, 2)


@pytest.mark.parametrize(
    "words",
    ["You were cut off. Please continue.", "Go on.", "Finish your answer.", "The answer was truncated."],
)
def test_an_agent_that_asks_for_the_rest(words):
    assert seen(half(), talk(2, [*ASKED, said(HALF), user(words)])) is None


@pytest.mark.parametrize(
    "messages",
    [
        ASKED,
        [*ASKED, said(HALF)],
        [*ASKED, said(f"{HALF} (the answer was incomplete)"), NEXT],
        [*ASKED, said("Something else altogether."), NEXT],
        [*ASKED, said(f"{HALF[:-2]}"), NEXT],
        [*ASKED, user(HALF), NEXT],
    ],
)
def test_what_is_no_half_that_was_taken_for_a_whole(messages):
    assert seen(half(), talk(2, messages)) is None


def test_a_whole_answer_that_begins_with_the_half_or_is_the_same():
    whole = f"{HALF} bridges."
    asked_again = talk(2, ASKED, answer=whole)
    assert seen(half(), asked_again, talk(3, [*ASKED, said(whole), NEXT])) is None
    same = talk(2, ASKED, answer=HALF)
    assert seen(half(), same, talk(3, [*ASKED, said(HALF), NEXT])) is None


def test_a_text_that_stood_there_before():
    before = [*ASKED, said(HALF), user("Once more.")]
    assert seen(half(messages=before), talk(2, before)) is None
    assert seen(half(messages=before), talk(2, [*before, said(HALF), NEXT])) == (1, 2)


def test_a_request_that_was_on_its_way_before_the_cut():
    other = talk(2, [*ASKED, said(HALF), NEXT], started_ms=1000)
    assert seen(half(), other) is None


def test_an_answer_at_its_limit():
    exchanges = at_limit(1, ASKED, answer=HALF), talk(2, [*ASKED, said(HALF), NEXT])
    assert seen(*exchanges) is None
    assert seen(*exchanges, limits=True) == (1, 2)


def test_the_verdict_whatever_the_exit_code(verdict):
    exchanges = [half(), talk(2, [*ASKED, said(HALF), NEXT])]
    for code in (0, 1):
        found = verdict(TruncatedStreamNotAccepted(), exchanges, "Nobody knows.", exit_code=code)
        assert (found.verdict, found.exchanges, found.value) == ("fail", (1, 2), "carried")
    assert found.explanation == (
        "the agent sent `The Seine has many` from the answer of exchange 1, which was cut short, as a whole "
        "message of the assistant in exchange 2"
    )
    limit = [at_limit(1, ASKED, answer=HALF), talk(2, [*ASKED, said(HALF), NEXT])]
    found = verdict(TruncatedStreamNotAccepted(count_length=True), limit, "Nobody knows.")
    assert (found.verdict, found.value) == ("fail", CARRIED_AT_LIMIT)
    assert "which ended at its limit (`length`)" in found.explanation


def test_an_agent_that_asks_for_the_rest_and_gets_it(verdict):
    asks = [*ASKED, said(HALF), user("Please continue.")]

    def judged(*more, answer=f"{HALF} bridges."):
        return verdict(TruncatedStreamNotAccepted(), [half(), *more], answer)

    found = judged(talk(2, asks, answer="bridges."))
    assert (found.verdict, found.value, found.exchanges) == ("pass", "completed", (1,))
    assert found.explanation == "the agent asked for the rest of the answer and received it"
    assert judged(talk(2, [*ASKED, said(HALF)], answer="bridges.")).verdict == "pass", "as a prefill"
    assert judged(talk(2, asks, answer="bridges", cut=True)).verdict == "fail"
    assert judged(talk(2, asks, status=503), answer=HALF).verdict == "fail"
    assert judged(talk(2, ASKED, answer="Something else.", status=503), answer=HALF).verdict == "fail"
    assert judged(talk(2, asks, answer="bridges."), answer=HALF).verdict == "fail", "it printed the half"
