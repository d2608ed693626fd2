from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from faultwire.blame.json_fields import Fields, fields
from faultwire.errors import WireError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def compared(failed: object, calm: object) -> Fields:
    made = fields(json.dumps(failed).encode(), json.dumps(calm).encode())
    assert made is not None
    return made


def test_each_field_that_differs_is_a_piece_and_the_others_keep_their_bytes() -> None:
    made = fields(
        b'{"unit": "F", "degrees": 50.0, "at": [1, 2]}', b'{"unit": "C", "degrees": 1e1,  "at": [1, 3]}'
    )
    assert made is not None
    assert made.pieces == (
        ("$.unit", '"F"', '"C"'),
        ("$.degrees", "50.0", "1e1"),
        ("$.at[1]", "2", "3"),
    )
    assert made.mixed({0}) == (b'{"unit": "F", "degrees": 1e1,  "at": [1, 3]}',)


def test_json_in_a_string_is_read_as_tools_give_it() -> None:
    failed = {"content": [{"type": "text", "text": '{"degrees": 50, "unit": "F"}'}]}
    calm = {"content": [{"type": "text", "text": '{"degrees": 10, "unit": "C"}'}]}
    made = compared(failed, calm)
    assert [one[0] for one in made.pieces] == ["$.content[0].text→$.degrees", "$.content[0].text→$.unit"]
    (text,) = made.mixed({1})
    assert json.loads(json.loads(text)["content"][0]["text"]) == {"degrees": 10, "unit": "F"}


def test_members_that_one_of_both_lacks_and_lists_of_another_length() -> None:
    made = compared({"a": 1, "rows": [1, 2]}, {"b": 2, "rows": [1]})
    assert made.pieces == (("$.a", "1", "nothing"), ("$.rows", "[1, 2]", "[1]"), ("$.b", "nothing", "2"))
    assert json.loads(made.mixed({0, 2})[0]) == {"a": 1, "rows": [1]}


@given(JSON, JSON)
def test_all_pieces_make_the_failed_text_and_none_the_calm_one(failed: object, calm: object) -> None:
    made = fields(json.dumps(failed).encode(), json.dumps(calm).encode())
    if made is None:
        assert json.dumps(failed, sort_keys=True) == json.dumps(calm, sort_keys=True)
        return
    everything = set(range(len(made.pieces)))
    assert json.loads(made.mixed(everything)[0]) == failed
    assert made.mixed(set()) == (json.dumps(calm).encode(),)


def test_a_text_that_is_no_json_is_refused_and_what_differs_in_blanks_only_is_no_piece() -> None:
    assert fields(b'{"a":1}', b'{"a": 1}') is None
    with pytest.raises(WireError):
        fields(b'{"a":1', b'{"a":1}')


def test_what_lies_deep_is_one_field() -> None:
    deep: object = 1
    other: object = 2
    for _ in range(100):
        deep, other = {"a": deep}, {"a": other}
    made = compared(deep, other)
    assert len(made.pieces) == 1
    assert json.loads(made.mixed({0})[0]) == deep
    with pytest.raises(WireError):
        fields(b'{"a":' * 300 + b"1" + b"}" * 300, b'{"a":' * 300 + b"2" + b"}" * 300)
