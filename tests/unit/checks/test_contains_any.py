import pytest

from faultwire.checks.contains_any import ContainsAny


@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        ({"values": ["391", "three hundred"]}, "It is 391.", "pass"),
        ({"values": ["Rome", "Paris"]}, "paris", "pass"),
        ({"values": ["Rome", "Paris"], "case_sensitive": True}, "paris", "fail"),
        ({"values": ["Rome"]}, "Paris", "fail"),
        ({"values": ["Rome"], "negate": True}, "Paris", "pass"),
        ({"values": ["Rome"]}, "\ud800\x1b[2J", "fail"),
    ],
)
def test_verdicts(verdict, settings, answer, expected):
    assert verdict(ContainsAny(**settings), answer=answer).verdict == expected


def test_a_dead_agent_is_unknown_where_the_texts_are_not_wanted(verdict):
    assert verdict(ContainsAny(values=["x"], negate=True), answer="", exit_code=1).verdict == "unknown"


@pytest.mark.parametrize("values", [[], [""]])
def test_nothing_to_look_for_is_refused(values):
    with pytest.raises(ValueError, match="at least 1"):
        ContainsAny(values=values)
