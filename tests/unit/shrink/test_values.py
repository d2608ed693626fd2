from __future__ import annotations

import pytest

from faultwire.shrink.values import Numbers, items, numbers, without


@pytest.mark.parametrize(("start", "least"), [(4000, 900), (7, 3), (1, 1), (100, 0)])
def test_a_whole_number_comes_near_the_least_that_fails(start: int, least: int) -> None:
    found, tried = Numbers(start), 0
    while (number := found.middle()) is not None:
        found, tried = found.tried(number, failed=number >= least), tried + 1
    assert least <= found.high <= max(least + 1, least * 1.12)
    assert tried <= 10


def test_a_share_comes_near_the_least_that_fails() -> None:
    found = Numbers(0.9, whole=False)
    while (number := found.middle()) is not None:
        found = found.tried(number, failed=number >= 0.3)
    assert 0.3 <= found.high <= 0.34


@pytest.mark.parametrize("value", [True, "x", None, 0, -3, [1]])
def test_what_is_no_number(value: object) -> None:
    assert numbers(value) is None


def test_items_of_lists_and_texts() -> None:
    of_list, of_text = items(["a", "b", "c"]), items("one two")
    assert of_list is not None
    assert of_text is not None
    assert of_list.value(frozenset({0, 2})) == ["a", "c"]
    assert of_text.value(frozenset({1})) == "two"
    assert items("x") is None
    assert items(["a"]) is None
    assert items(5) is None
    assert without({"a": 1, "b": 2}, "a") == {"b": 2}
