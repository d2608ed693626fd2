import pytest

from faultwire.checks.valid_history import ValidHistory


def test_whole_conversations_are_legal(verdict, wire):
    one, two = wire.call("a"), wire.call("b", at="c2")
    both = [wire.user(), wire.said("", one, two), wire.result("1"), wire.result("2", at="c2")]
    again = [*both, wire.said("Next.", wire.call("a")), wire.result("3"), wire.user("?")]
    assert verdict(ValidHistory(), [wire.talk(1), wire.talk(2, both), wire.talk(3, again)]).verdict == "pass"


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("user result", "the result `c1` has no call before it"),
        ("user call user", "the call `c1` has no result before the next `user` speaks"),
        ("user call said", "the call `c1` has no result before the next `assistant` speaks"),
        ("user call", "the call `c1` has no result"),
        ("user call result result", "the call `c1` is answered twice"),
    ],
)
def test_broken_ones_are_not(verdict, wire, shape, words):
    parts = {
        "user": wire.user(), "call": wire.said("", wire.call("a")), "said": wire.said("Well."),
        "result": wire.result("1"),
    }  # fmt: skip
    found = verdict(ValidHistory(), [wire.talk(1), wire.talk(2, [parts[word] for word in shape.split()])])
    assert (found.verdict, found.value, found.exchanges) == ("fail", words, (2,))


def test_without_a_readable_conversation_nothing_is_known(verdict, wire):
    request = wire.talk(1).request
    hostile = type(request)("POST", "https", "api.openai.com", 443, request.path, (), b'{"messages": [[[')
    assert verdict(ValidHistory(), [wire.used(1)]).verdict == "unknown"
    assert verdict(ValidHistory(), [wire.talk(1, request=hostile)]).verdict == "unknown"
