import pytest

from faultwire.checks._calls import calls
from faultwire.checks._once import compiled, once
from faultwire.checks._tools import uses


def test_what_is_asked_again_is_found_once():
    found = []

    @once
    def length(asked):
        found.append(asked)
        return len(asked)

    one, same = [1, 2], [1, 2]
    assert [length(one), length(one), length(same), length(one)] == [2, 2, 2, 2]
    assert [id(asked) for asked in found] == [id(one), id(same), id(one)], "told by identity, one is kept"


def test_what_cannot_be_found_is_looked_for_again():
    tries = []

    @once
    def fails(asked):
        tries.append(asked)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            fails("x")
    assert tries == ["x", "x"]


def test_checks_of_one_history_share_its_tools_and_calls(history, wire):
    one = history("done", wire.used(1), wire.used(2))
    other = history("done", wire.used(1))
    assert uses(one) is uses(one)
    assert [len(uses(told)) for told in (one, other, one)] == [2, 1, 2]
    assert calls(one.exchanges) is calls(one.exchanges)
    assert [len(calls(told.exchanges)) for told in (other, one)] == [1, 2]


def test_a_pattern_is_compiled_once():
    assert compiled("a+b") is compiled("a+b")
    assert compiled("a+b") is not compiled("a+c")
    with pytest.raises(ValueError, match="unclosed group"):
        compiled("(")
