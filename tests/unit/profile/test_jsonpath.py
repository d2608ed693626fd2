"""Places in a body: what leads where, and what is no path."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from faultwire.profile.jsonpath import compile_path, mismatch, values

DOCUMENT = {"a": {"b": [1, 2, {"c": "x"}]}, "b c": True, "c": None, "list": [[1], [2]]}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", [DOCUMENT]),
        ("$.a.b[0]", [1]),
        ("$.a.b[-1].c", ["x"]),
        ("$.a.b[9]", []),
        ("$['b c']", [True]),
        ('$["b c"]', [True]),
        ("$.a.b[*]", [1, 2, {"c": "x"}]),
        ("$.a.*", [[1, 2, {"c": "x"}]]),
        ("$.list[*][0]", [1, 2]),
        ("$.a.c", []),
        ("$.c", [None]),
    ],
)
def test_where_a_path_leads(path, expected):
    assert list(values(DOCUMENT, compile_path(path))) == expected


def test_at_any_depth():
    assert sorted(map(str, values(DOCUMENT, compile_path("$..c")))) == ["None", "x"]
    assert len(list(values(DOCUMENT, compile_path("$..*")))) == 13


@pytest.mark.parametrize("path", ["", "a", "$a", "$.", "$[", "$[a]", "$[?(@.x)]", "$.a b", "$...a", "$[1:2]"])
def test_what_is_no_path(path):
    with pytest.raises(ValueError, match="found"):
        compile_path(path)


@pytest.mark.parametrize(
    ("wanted", "missed"),
    [
        ({"$.a.b[*].c": "x"}, None),
        ({"$.a.b[*].c": "?"}, None),
        ({"$.a.b[0]": 1}, None),
        ({"$.a.b[0]": True}, "$.a.b[0]"),
        ({"$['b c']": True, "$.c": None}, None),
        ({"$.c": None, "$.zzz": "*"}, "$.zzz"),
        ({"$.a.b[0]": "1"}, "$.a.b[0]"),
    ],
)
def test_every_path_must_hold_what_is_wanted(wanted, missed):
    assert mismatch(json.dumps(DOCUMENT).encode(), wanted) == missed


@pytest.mark.parametrize("body", [None, b"", b"no json", b"[" * 100_000])
def test_no_json_no_match(body):
    assert mismatch(body, {"$": "*"}) == "$"


@given(st.text())
def test_any_text_is_a_path_or_an_error(path):
    try:
        steps = compile_path(path)
    except ValueError:
        return
    assert isinstance(list(values(DOCUMENT, steps)), list)
