from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_limit, call, cut_call, result, said, talk, user

from faultwire.checks._truncated import beside, truncated
from faultwire.events import History
from faultwire.report.halves import BY_ERROR
from faultwire.report.noticed import noticed

TEXT = "I am a mock provider and the moon is"


def seen(*exchanges, code=0):
    return [(rule.action, found) for rule, found in noticed(History("exec", exchanges), code)]


def half(number=1, **changes):
    return talk(number, [user("The moon?")], answer=TEXT, cut=True, **changes)


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
    ["The moon?", "Continue, you were cut off.", f"Is this right? {TEXT}", "Write the rest of it"],
)
def test_a_request_about_the_half_is_an_attempt(question):
    assert seen(half(), talk(2, [user(question)])) == []


def test_another_question_before_a_bad_end():
    assert seen(half(), talk(2, [user("And the sun?")]), code=1) == []


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
