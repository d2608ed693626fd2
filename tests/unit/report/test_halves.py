from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_limit, call, cut_call, result, said, talk, user

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
