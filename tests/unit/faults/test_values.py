"""Other values: another of the same form, and everything around them as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from faultwire.dice import Dice
from faultwire.faults._values import altered

HELD = Dice(3, "s").held("f", "k", 0)


@pytest.mark.parametrize("number", ["0", "1", "7", "99", "12.50", "0.001", "123456789"])
def test_a_number_becomes_another_of_the_same_form(number):
    made = altered(f"it is {number} now", HELD).removeprefix("it is ").removesuffix(" now")
    assert made != number
    assert len(made.partition(".")[2]) == len(number.partition(".")[2])
    assert float(made) >= 0


def test_names_and_dates():
    made = altered("Alice flew to Paris on 2024-02-29.", HELD)
    assert not any(word in made for word in ("Alice", "Paris", "2024-02-29"))
    assert made.startswith(("Bob", "Carol", "David", "Emma"))


def test_json_keeps_keys_ids_and_every_other_byte():
    text = '{ "id": 5,\t"n": 1.50, "who": {"name": "Bob"}, "ok": true, "none": null, "list": [3, "x"] }'
    made = altered(text, HELD)
    assert json.loads(made).keys() == json.loads(text).keys()
    assert made.startswith('{ "id": 5,\t"n": ')
    assert '"ok": true, "none": null' in made


SCALARS = st.one_of(st.integers(), st.text(), st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=15
)


@given(VALUES)
def test_json_stays_json_of_the_same_shape(value):
    def shape(node):
        if isinstance(node, dict):
            return {key: shape(item) for key, item in node.items()}
        return [shape(item) for item in node] if isinstance(node, list) else type(node)

    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict | list):
        assert shape(json.loads(altered(text, HELD))) == shape(value)
    assert altered(text, HELD) == altered(text, HELD)


@given(st.text())
def test_any_text_is_survived(text):
    assert isinstance(altered(text, HELD), str)
