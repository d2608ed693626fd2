import pytest

from faultwire.checks._tools import uses
from faultwire.checks._walk import Walked, last_word
from faultwire.checks.valid_history import ValidHistory
from faultwire.events import Turn


def turns(*roles):
    return tuple(Turn(role, role) for role in roles)


def test_a_walk_goes_on_where_the_same_turns_begin():
    walked, said = Walked(), turns("user", "assistant", "user", "assistant")
    walked.keep(said[:2], "known")
    assert walked.resume(said[:1]) == (0, None), "less than what was walked through"
    assert walked.resume(turns("user", "assistant", "user")) == (0, None), "the same words, read anew"
    assert walked.resume((Turn("user", "other"), *said[1:])) == (0, None)
    assert walked.resume(said) == (2, "known")
    assert walked.resume(said) == (0, None), "it is put back by who walks on"


def test_few_conversations_are_kept_and_all_can_be_forgotten():
    walked, several = Walked(), [turns("user", "assistant") for _ in range(6)]
    for at, said in enumerate(several):
        walked.keep(said, at)
    assert [walked.resume(said)[1] for said in several] == [None, None, 2, 3, 4, 5]
    walked.keep(several[0], "known")
    walked.forget()
    assert walked.resume(several[0]) == (0, None)


def test_the_last_word():
    said = turns("user", "assistant", "tool", "assistant", "tool")
    assert [last_word(said, first) for first in range(6)] == [3, 3, 3, 3, -1, -1]


@pytest.fixture
def session(history, wire):
    """Requests that hold more and more of a conversation: the first ones end where these numbers say."""

    def make(messages, *ends, calls=None):
        made = {end: (calls or {}).get(end, []) for end in ends}
        return history("", *(wire.talk(end, messages[:end], calls=asked) for end, asked in made.items()))

    return make


def test_a_flaw_behind_what_was_legal_is_found(session, wire, verdict):
    one, two = wire.call("search", at="c1"), wire.call("search", at="c2")
    told = [wire.user(), wire.said("", one), wire.result("1"), wire.said("", two), wire.result("2", "c2")]
    whole = session([*told, wire.said("3."), wire.user()], 1, 3, 5, 7)
    assert ValidHistory().verdict(whole).verdict == "pass"
    twice = session([*told, wire.said("3."), wire.result("1"), wire.user()], 1, 3, 5, 8)
    found = ValidHistory().verdict(twice)
    assert (found.verdict, found.exchanges) == ("fail", (8,))
    assert "`c1` is answered twice" in found.explanation
    left = session([*told[:4], wire.said("3."), wire.user()], 1, 3, 6)
    assert "`c2` has no result" in ValidHistory().verdict(left).explanation


def test_results_count_once_however_often_they_are_sent(session, wire):
    one, two = wire.call("search", at="c1"), wire.call("search", at="c2")
    told = [wire.user(), wire.said("", one), wire.result("1"), wire.said("", two), wire.result("2", "c2")]
    found = uses(session([*told, wire.user()], 1, 3, 3, 5, 6))
    assert [(use.number, use.result) for use in found] == [(3, "1"), (5, "2")]


def test_the_same_call_answered_again_is_another_use(session, wire):
    one = wire.call("search", at="c1")
    told = [wire.user(), wire.said("", one), wire.result("1"), wire.said("", one), wire.result("2")]
    again = [*told, wire.said("", one), wire.result("3")]
    assert [use.number for use in uses(session(again, 1, 3, 5, 7))] == [3, 5, 7]


def test_a_call_that_changes_its_meaning_is_seen_in_the_earlier_messages(session, wire):
    unnamed = {"role": "tool", "tool_call_id": "c9", "content": "1"}
    told = [wire.user(), unnamed, wire.said("a"), wire.user(), wire.said("b"), wire.user()]
    assert uses(session(told, 4, 6)) == ()
    late = session(told, 4, 6, calls={4: [wire.call("refund", at="c9")]})
    assert [(use.name, use.number) for use in uses(late)] == [("refund", 6)]
