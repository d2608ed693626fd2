from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_limit, call, cut_call, result, said, user

from faultwire.checks.truncated_stream_not_accepted import TruncatedStreamNotAccepted

HALF = "The capital of"


@pytest.mark.parametrize(
    ("answer", "ended", "expected"),
    [
        (HALF, {}, "fail"),
        (f"Answer:  {HALF} ", {}, "fail"),
        ("Something went wrong, please try again.", {}, "pass"),
        (HALF, {"exit_code": 1}, "pass"),
        ("", {"timed_out": True, "exit_code": None}, "pass"),
    ],
)
def test_a_cut_answer(verdict, wire, answer, ended, expected):
    found = verdict(TruncatedStreamNotAccepted(), [wire.talk(1, answer=HALF, cut=True)], answer, **ended)
    assert found.verdict == expected


def test_asking_again_is_right(verdict, wire):
    exchanges = [wire.talk(1, answer=HALF, cut=True), wire.talk(2, answer="The capital of France is Paris.")]
    assert (
        verdict(TruncatedStreamNotAccepted(), exchanges, "The capital of France is Paris.").verdict == "pass"
    )
    again = [wire.talk(1, answer=HALF, cut=True), wire.talk(2, status=503)]
    assert verdict(TruncatedStreamNotAccepted(), again, HALF).verdict == "fail"


@pytest.mark.parametrize("whole_first", [True, False])
def test_of_two_models_that_were_asked_at_once_the_whole_answer_is_used(verdict, wire, whole_first):
    """Some agents hedge: the second request does not wait for the first one's end."""
    said = "The capital of France is Paris."
    cut, whole = (2, 1) if whole_first else (1, 2)
    exchanges = sorted(
        [
            wire.talk(cut, answer=HALF, cut=True, started_ms=1000),
            wire.talk(whole, answer=said, started_ms=1001, model="other"),
        ],
        key=lambda one: one.number,
    )
    found = verdict(TruncatedStreamNotAccepted(), exchanges, said)
    assert found.verdict == "pass", found.explanation
    assert verdict(TruncatedStreamNotAccepted(), exchanges, HALF).verdict == "fail"


def test_without_a_cut_nothing_is_known(verdict, wire):
    assert verdict(TruncatedStreamNotAccepted(), [wire.talk(1)], "done").verdict == "unknown"
    assert verdict(TruncatedStreamNotAccepted(negate=True), [], "done").verdict == "unknown"


def test_a_limit_counts_if_configured(verdict, wire):
    short = wire.talk(1, answer=HALF)
    body = short.delivered.body.replace(b'"finish_reason": "stop"', b'"finish_reason": "length"')
    cut = wire.talk(1, delivered=type(short.delivered)(200, "", short.delivered.headers, body))
    assert verdict(TruncatedStreamNotAccepted(), [cut], HALF).verdict == "unknown"
    assert verdict(TruncatedStreamNotAccepted(count_length=True), [cut], HALF).verdict == "fail"


ASKED = [user()]
HALF_CALL = said("", call("search", '{"q": "17'))


def test_a_result_of_a_cut_call_is_a_half_answer_that_was_accepted(verdict, wire):
    exchanges = [
        cut_call(1, ASKED),
        wire.talk(2, [*ASKED, HALF_CALL, result("no such thing")], answer="It is 391."),
    ]
    found = verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.")
    assert (found.verdict, found.exchanges) == ("fail", (1, 2))
    assert found.explanation == (
        "the agent answered the call of `search` from the answer of exchange 1, which was cut short, with a "
        "result in exchange 2"
    )
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "", exit_code=1).verdict == "fail"


def test_the_same_call_from_a_whole_answer_may_be_run(verdict, wire):
    """The mock and some providers give the call of the repeated request the same id."""
    again = wire.talk(2, ASKED, answer="", calls=[call("search")])
    told = wire.talk(3, [*ASKED, said("", call("search")), result("391")], answer="It is 391.")
    exchanges = [cut_call(1, ASKED), again, told]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.").verdict == "pass"


def test_a_result_that_was_there_before_the_cut_is_none_of_its_calls(verdict, wire):
    """Providers that count calls anew in each answer use an id twice."""
    first = wire.talk(1, ASKED, answer="", calls=[call("search")])
    history = [*ASKED, said("", call("search")), result("391")]
    exchanges = [first, cut_call(2, history), wire.talk(3, history, answer="It is 391.")]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.").verdict == "pass"


# ---------------------------------------------------------------- which answers are half ones


@pytest.mark.parametrize(
    ("came", "answer", "expected"),
    [
        ("I", "I was not given a complete reply.", "unknown"),
        ("I", "I", "fail"),
        (HALF, f"{HALF} [the answer was cut short]", "pass"),
        (HALF, f"Error, the stream was interrupted after: {HALF}", "pass"),
        (HALF, f'{{"answer": "{HALF}"}}', "fail"),
        ("The cap", "The capital of France is Paris.", "pass"),
    ],
)
def test_an_answer_that_holds_the_cut_text_is_not_always_the_cut_text(verdict, wire, came, answer, expected):
    found = verdict(TruncatedStreamNotAccepted(), [wire.talk(1, answer=came, cut=True)], answer)
    assert found.verdict == expected, found.explanation


@pytest.mark.parametrize(
    ("answer", "stderr", "expected"),
    [
        ("", "", "fail"),
        ("None\n", "", "fail"),
        ("", "error: the model sent nothing\n", "pass"),
        ("No answer came, please try again.", "", "pass"),
    ],
)
def test_a_cut_before_any_text(verdict, wire, answer, stderr, expected):
    cut = wire.talk(1, answer="", cut=True)
    assert verdict(TruncatedStreamNotAccepted(), [cut], answer, stderr=stderr).verdict == expected


def test_a_cut_stream_that_nobody_can_read_proves_nothing(verdict, wire):
    cut = wire.talk(1, answer="17", cut=True)
    strange = replace(cut.delivered, body=b'data: {"parts": ["17 times"]}\n\n')
    found = verdict(TruncatedStreamNotAccepted(), [replace(cut, delivered=strange)], "17 times")
    assert (found.verdict, found.explanation) == ("unknown", "what came before the cut could not be read")
    nothing = replace(cut, delivered=replace(strange, body=b""))
    assert verdict(TruncatedStreamNotAccepted(), [nothing], "").verdict == "fail"


@pytest.mark.parametrize(
    ("answer", "expected"), [("", "fail"), ("391", "unknown"), ("The answer was cut short.", "pass")]
)
def test_a_cut_call_that_nobody_saw_executed(verdict, answer, expected):
    """A tool inside the agent whose result is the answer is seen nowhere."""
    assert verdict(TruncatedStreamNotAccepted(), [cut_call(1, ASKED)], answer).verdict == expected


def test_going_on_without_the_result_shows_that_the_call_was_not_executed(verdict, wire):
    again = [*ASKED, said("The call was lost."), user("Answer without tools.")]
    exchanges = [cut_call(1, ASKED), wire.talk(2, again, answer="It is 391.")]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.").verdict == "pass"


def test_another_question_is_no_retry(verdict, wire):
    other = wire.talk(2, [user("Give this chat a title.")], answer="Capitals")
    exchanges = [wire.talk(1, answer=HALF, cut=True), other]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, HALF).verdict == "fail"
    assert "retried" not in verdict(TruncatedStreamNotAccepted(), exchanges, "Capitals").explanation


def test_a_retry_whose_answer_is_not_used_is_none(verdict, wire):
    exchanges = [wire.talk(1, answer=HALF, cut=True), wire.talk(2, answer="The capital of France is Paris.")]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, HALF).verdict == "fail"
    same = [exchanges[0], wire.talk(2, answer=HALF)]
    assert verdict(TruncatedStreamNotAccepted(), same, HALF).verdict == "pass", "the cut came after all of it"


def test_a_request_of_the_same_instant_is_no_retry(verdict, wire):
    exchanges = [
        wire.talk(1, answer=HALF, cut=True),
        wire.talk(2, answer="Paris, of course.", started_ms=1050),
    ]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, HALF).verdict == "fail"


def test_each_cut_answer_counts_not_only_the_last(verdict, wire):
    exchanges = [
        wire.talk(1, [user("One?")], answer=HALF, cut=True),
        wire.talk(2, [user("Two?")], answer="A second", cut=True),
        wire.talk(3, [user("Two?")], answer="A second one."),
    ]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, HALF).exchanges == (1,)


# ---------------------------------------------------------------- arguments that nobody wrote


@pytest.mark.parametrize("ran", ['{"q": "17"}', '{"q":"17"}', "{}"])
def test_arguments_that_the_sdk_closed_are_named(verdict, wire, ran):
    told = wire.talk(2, [*ASKED, said("", call("search", ran)), result("nothing")], answer="It is 391.")
    found = verdict(TruncatedStreamNotAccepted(), [cut_call(1, ASKED), told], "It is 391.")
    assert found.verdict == "fail"
    assert f'with the arguments `{ran}` in place of the unfinished `{{"q": "17`' in found.explanation


def test_closed_arguments_are_not_those_of_the_same_call_in_a_whole_answer(verdict, wire):
    whole = wire.talk(2, ASKED, answer="", calls=[call("search", '{"q": "17*23"}')])
    for ran, expected in (('{"q": "17"}', "fail"), ('{"q":"17*23"}', "pass"), ('{"q": "x"}', "pass")):
        told = wire.talk(3, [*ASKED, said("", call("search", ran)), result("?")], answer="It is 391.")
        found = verdict(TruncatedStreamNotAccepted(), [cut_call(1, ASKED), whole, told], "It is 391.")
        assert found.verdict == expected, ran


@pytest.mark.parametrize(("asked", "expected"), [("17", "fail"), ("17*23", "unknown")])
def test_a_tool_at_its_own_exchange_shows_the_execution(verdict, wire, asked, expected):
    exchanges = [cut_call(1, ASKED), wire.used(2, arguments={"q": asked})]
    found = verdict(TruncatedStreamNotAccepted(), exchanges, "391")
    assert found.verdict == expected


def test_a_tool_that_a_whole_answer_asked_for_was_not_run_from_the_cut_one(verdict, wire):
    again = wire.talk(2, ASKED, answer="", calls=[call("search", '{"q": "17"}')])
    exchanges = [cut_call(1, ASKED), again, wire.used(3, arguments={"q": "17"})]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "391").verdict == "pass"


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_call_that_the_limit_cut_counts_in_any_case(verdict, wire, reason):
    half = at_limit(1, ASKED, calls=[call("search", '{"q": "17')], reason=reason)
    ran = [*ASKED, said("", call("search", '{"q": "17"}')), result("nothing")]
    found = verdict(TruncatedStreamNotAccepted(), [half, wire.talk(2, ran)], "done")
    assert found.verdict == "fail"
    assert f"which ended at its limit (`{reason}`), with the arguments" in found.explanation
    complete = at_limit(1, ASKED, calls=[call("search", '{"q": "17"}')], reason=reason)
    exchanges = [complete, wire.talk(2, ran)]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "done").verdict == "unknown"
    assert verdict(TruncatedStreamNotAccepted(count_length=True), exchanges, "done").verdict == "fail"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERROR: the call arrived incomplete and was NOT executed", "pass"),
        ("330 m; nobody was called", "fail"),
    ],
)
def test_a_result_that_says_that_the_cut_call_was_not_executed(verdict, wire, text, expected):
    history = [wire.user(), wire.said("", wire.call("search", "{}")), wire.result(text)]
    exchanges = [cut_call(1, [wire.user()]), wire.talk(2, history, answer="It failed.")]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "It failed.").verdict == expected


ECHO = "I am a mock model, so I can only repeat this:"
CUT_ECHO = "I am a mock model,"
APOLOGY = f"{ECHO} Write a polite apology to the customer"


def begun_alike(wire, asked="Write a polite apology to the customer", answer=APOLOGY, **more):
    """The half of one answer, and the whole answer to another question that begins alike."""
    first = wire.talk(1, [wire.user("Explain the refund rules")], answer=CUT_ECHO, cut=True)
    return [first, wire.talk(2, [wire.user(asked)], answer=answer, **more)]


def test_the_whole_answer_to_another_question_may_begin_like_the_half(verdict, wire):
    found = verdict(TruncatedStreamNotAccepted(), begun_alike(wire), APOLOGY)
    assert (found.verdict, found.exchanges) == ("pass", (1, 2))
    assert found.explanation.endswith("is that of exchange 2, which is whole")


@pytest.mark.parametrize(
    ("printed", "asked", "more"),
    [
        (f"{APOLOGY}\n\n{CUT_ECHO}", "Write a polite apology to the customer", {}),  # the half beside it
        (APOLOGY, f"Translate: {CUT_ECHO}", {}),  # made of the half
        (APOLOGY, "Write a polite apology to the customer", {"cut": True}),  # a half as well
    ],
)
def test_that_excuses_no_half_which_was_printed_passed_on_or_cut_too(verdict, wire, printed, asked, more):
    found = verdict(TruncatedStreamNotAccepted(), begun_alike(wire, asked, **more), printed)
    assert found.verdict == "fail"


def test_of_a_longer_answer_only_the_half_is_said_to_have_come(verdict, wire):
    cut = [wire.talk(1, answer=CUT_ECHO, cut=True)]
    whole = verdict(TruncatedStreamNotAccepted(), cut, f"Dear all,\n{CUT_ECHO} best regards")
    assert whole.explanation.endswith(f"holds `{CUT_ECHO}`, which is what came before the cut")
    bare = verdict(TruncatedStreamNotAccepted(), cut, CUT_ECHO)
    assert bare.explanation == f"the answer `{CUT_ECHO}` is what came before the cut"
