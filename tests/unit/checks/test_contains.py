import pytest

from faultwire.checks.contains import Contains


@pytest.mark.parametrize(
    ("settings", "answer", "verdict"),
    [
        ({"value": "Paris"}, "It is paris.", "pass"),
        ({"value": "Paris", "case_sensitive": True}, "It is paris.", "fail"),
        ({"value": "Paris", "case_sensitive": True}, "It is Paris.", "pass"),
        ({"value": "STRASSE"}, "Straße", "pass"),
        ({"value": "Paris"}, "It is Par", "fail"),
        ({"value": "Paris"}, "", "fail"),
        ({"value": "a.c"}, "abc", "fail"),
        ({"value": "Paris", "negate": True}, "It is Rome", "pass"),
    ],
)
def test_verdicts(history, settings, answer, verdict):
    assert Contains(**settings).verdict(history(answer)).verdict == verdict


def test_it_states_what_it_looked_for(history):
    verdict = Contains(value="Paris").verdict(history("It is\n `Rome`"))
    assert verdict.explanation == "`Paris` is not in the answer `It is 'Rome'`"
    found = Contains(value="Paris").verdict(history("It is Paris"))
    assert found.explanation == "`Paris` is in the answer"


def test_an_empty_value_would_always_pass_and_is_refused():
    with pytest.raises(ValueError, match="at least 1 character"):
        Contains(value="")
