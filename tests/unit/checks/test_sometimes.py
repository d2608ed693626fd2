import pytest

from faultwire.checks import _registry
from faultwire.checks.sometimes import Sometimes


def test_in_one_cell_it_repeats_the_other_check(verdict):
    check = Sometimes(check={"type": "contains", "value": "x"})
    assert check.label == "sometimes_contains"
    assert verdict(check, answer="x").verdict == "pass"
    assert verdict(check, answer="y").verdict == "fail"
    assert check.over_all


def test_what_is_unknown_stays_so(verdict):
    assert verdict(Sometimes(check={"type": "fallback_used"})).verdict == "unknown"


@pytest.mark.parametrize(
    "inner", [{}, {"type": "nothing"}, {"type": "sometimes", "check": {"type": "completes"}}]
)
def test_a_mistake_inside_is_found_at_once(inner):
    with pytest.raises(ValueError, match="found"):
        Sometimes(check=inner)


def test_without_a_registry_there_is_no_other_check(monkeypatch):
    assert Sometimes.read is _registry.read
    monkeypatch.setattr(Sometimes, "read", None)
    with pytest.raises(ValueError, match="found no checks"):
        Sometimes(check={"type": "completes"})
