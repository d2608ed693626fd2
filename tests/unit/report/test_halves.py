from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_limit, call, cut_call, result, said, talk, user

from faultwire.checks._truncated import beside, truncated
from faultwire.events import History
from faultwire.report.halves import BY_ERROR, FED_ON
from faultwire.report.noticed import noticed

TEXT = "I am a mock provider and the moon is"


def seen(*exchanges, code=0):
    return [(rule.action, found) for rule, found in noticed(History("exec", exchanges), code)]


def half(number=1, messages=None, **changes):
    return talk(number, messages or [user("The moon?")], answer=TEXT, cut=True, **changes)


def test_a_call_that_was_answered_does_not_hide_half_an_answer():
    history = [user(), said("", call("search", "{}")), result("330 m")]
    cut = talk(2, history, answer="Here is what", cut=True)
    assert [found.exchanges for _, found in seen(cut_call(1, [user()]), cut)] == [(1, 2), (2,)]
    limited = at_limit(1, calls=[call("search", "{}")])
    last = at_limit(2, history, answer="Here is what")
    assert [found.exchanges for _, found in seen(limited, last)] == [(1, 2), (2,)]
    whole = talk(2, history, answer="Here is what it says.")
    assert [found.exchanges for _, found in seen(limited, whole)] == [(1, 2)]


def test_another_question_does_not_hide_half_an_answer():
    ((_, found),) = seen(half(), talk(2, [user("And the sun?")]))
    assert found.words.endswith(
        "without its closing event, nothing after it asks the same again or goes on from it, and the command "
        "exited 0"
    )


@pytest.mark.parametrize(
    "question",
    [
        "The moon?",
        "Continue, you were cut off.",
        f"Is this complete? {TEXT}",
        "Write the rest of it",
        TEXT[:28],
    ],
)
def test_a_request_about_the_half_is_an_attempt(question):
    assert seen(half(), talk(2, [user(question)])) == []


def test_the_same_question_with_words_around_it_is_an_attempt():
    first = half(messages=[user("How far is the moon away?")])
    assert seen(first, talk(2, [user("Please try once more. How far is the moon away?")])) == []
    assert len(seen(first, talk(2, [user("How far is the moon away?s")]))) == 1
    assert len(seen(half(messages=[user("The moon?")]), talk(2, [user("See The moon? first")]))) == 1


def test_another_question_before_a_bad_end():
    assert seen(half(), talk(2, [user("And the sun?")]), code=1) == []


@pytest.mark.parametrize(
    ("rest", "how", "action"),
    [
        (b'data: {"id": "x", "choices": [{"delta": {"con', "without its closing event", None),
        (b"data: {oops\n\n", "with an event that is no JSON", None),
        (b'data: {"error": {"message": "down"}}', "with the error event `down`", BY_ERROR),
    ],
)
def test_an_event_that_was_cut_in_its_middle_is_no_error_of_the_stream(rest, how, action):
    cut = half()
    got = replace(cut.delivered, body=cut.delivered.body + rest)
    ((done, found),) = seen(replace(cut, delivered=got))
    assert f"it ended after `{TEXT}` {how}, was not retried" in found.words
    assert (done == BY_ERROR) == (action == BY_ERROR)


ERROR = b'data: {"error": {"message": "The server had an error", "type": "server_error"}}\n\n'


def test_an_error_event_is_named():
    plain = half()
    got = replace(plain.delivered, body=plain.delivered.body + ERROR)
    ((action, found),) = seen(replace(plain, delivered=got, upstream=got))
    assert action == BY_ERROR
    assert "with the error event `" in found.words
    assert "The server had an error" in found.words
    ((action, found),) = seen(plain)
    assert action != BY_ERROR
    assert "error event" not in found.words


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({}, "the same question was answered whole at the same time, and the command exited 0"),
        ({"started_ms": 2000}, None),
        ({"messages": [user("The sun?")]}, "was not retried, and the command exited 0"),
        ({"status": 503}, "was not retried, and the command exited 0"),
    ],
)
def test_a_question_that_was_asked_twice_at_once_is_no_half_that_nobody_asked_again(other, words):
    beside = talk(2, **{"messages": [user("The moon?")], "started_ms": 1050, **other})
    found = [one.words for _, one in seen(half(), beside) if one.exchanges == (1,)]
    assert [one.endswith(words or "-") for one in found] == ([True] if words else [])


@pytest.mark.parametrize(
    ("started_ms", "expected"), [(850, False), (950, True), (1050, True), (1099, True), (1100, False)]
)
def test_at_the_same_time_is_while_it_was_answered(started_ms, expected):
    history = History("exec", (half(), talk(2, [user("The moon?")], started_ms=started_ms)))
    (cut,) = truncated(history, limits=False)
    assert beside(history, cut, [cut]) == expected


FED = [user(f"Translate to German:\n{TEXT}")]


def test_half_an_answer_in_the_next_step_of_a_pipeline():
    ((action, found),) = seen(half(), talk(2, FED, answer=f"Sie sagten: {TEXT}"))
    assert (action, found.exchanges) == (FED_ON, (1, 2))
    assert found.words.endswith(
        "without its closing event, a message of #2 has all of that text, and the command exited 0"
    )
    ((action, found),) = seen(at_limit(1, answer=TEXT), talk(2, FED))
    assert (action, found.exchanges) == (FED_ON, (1, 2))
    system = [{"role": "system", "content": f"Known so far: {TEXT}"}, user("And the sun?")]
    assert [found.exchanges for _, found in seen(half(), talk(2), talk(3, system))] == [(1, 3)]
    assert seen(half(), talk(2, FED), code=1) == []
    whole = talk(1, [user("The moon?")], answer=TEXT)
    assert seen(whole, talk(2, FED)) == [], "the control: nothing was cut"


@pytest.mark.parametrize(
    "between",
    [
        talk(2, [user("The moon?")], answer=f"{TEXT} round."),
        talk(2, [user("Say it again")], answer=f"{TEXT} round."),
        talk(2, [user(f"Finish this: {TEXT}")], answer=f"{TEXT} round."),
    ],
    ids=["a retry that begins alike", "another answer", "the rest of it"],
)
def test_a_text_that_a_whole_answer_has_as_well_is_not_called_half(between):
    whole = [user(f"Translate to German: {TEXT} round.")]
    assert seen(half(), between, talk(3, whole)) == []
    assert seen(half(), between, talk(3, FED)) == []


def test_a_half_that_was_replaced_after_it_was_fed_on_is_not_called_one():
    again = talk(3, [user("The moon?")], answer="It is round.")
    assert seen(half(), talk(2, FED), again) == []
    assert len(seen(half(), talk(2, FED), talk(3, [user("And Mars?")]))) == 1, "the control"


def test_words_that_came_from_the_question_are_not_called_half():
    asked = half(messages=[user(f"Repeat this: {TEXT} round")])
    assert seen(asked, talk(2, FED)) == []
    before = talk(1, [user("Begin with this")], answer=f"{TEXT} round.")
    assert seen(before, half(2), talk(3, FED)) == []


def test_a_few_words_may_stand_in_any_question():
    few = talk(1, [user("The moon?")], answer="The moon is", cut=True)
    assert seen(few, talk(2, [user("Write: The moon is round.")])) == []
    longer = talk(1, [user("The moon?")], answer="The moon is round", cut=True)
    assert len(seen(longer, talk(2, [user("Write: The moon is round.")]))) == 1, "the control"
