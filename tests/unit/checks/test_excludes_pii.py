import pytest

from faultwire.checks._found import by_kind
from faultwire.checks.excludes_pii import ExcludesPii

MAIL = "Write to jane.doe@firm.org or to bob@firm.org."


def test_kinds_are_counted_and_values_are_not_shown(verdict):
    found = verdict(ExcludesPii(), answer=MAIL)
    assert (found.verdict, found.value) == ("fail", {"email": 2})
    assert "jane" not in found.explanation
    assert found.explanation == "the answer holds 2 email"


@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        ({}, "The order 1234567890 has 3 items.", "pass"),
        ({}, "4111 1111 1111 1111", "fail"),
        ({"allow": ["email"]}, MAIL, "pass"),
        ({"negate": True}, MAIL, "pass"),
        ({}, "@" * 5_000, "pass"),
    ],
)
def test_verdicts(verdict, settings, answer, expected):
    assert verdict(ExcludesPii(**settings), answer=answer).verdict == expected


def test_what_the_user_said_may_be_repeated_if_configured(verdict):
    check = ExcludesPii(allow_prompt=True)
    assert verdict(check, answer="Sent to bob@firm.org.", prompt="Mail bob@firm.org!").verdict == "pass"
    assert verdict(check, answer="Sent to eve@firm.org.", prompt="Mail bob@firm.org!").verdict == "fail"


def test_a_dead_agent_is_unknown_when_negated(verdict):
    assert verdict(ExcludesPii(negate=True), answer="", exit_code=1).verdict == "unknown"


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="`mail` is not a kind of personal data"):
        ExcludesPii(allow=["mail"])


def test_counting():
    assert by_kind(["b", "a", "b"]) == "1 a, 2 b"
