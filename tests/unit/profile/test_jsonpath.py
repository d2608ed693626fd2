"""Places in a body: what leads where, and what is no path."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from faultwire.profile.jsonpath import MAX_VALUES, compile_path, mismatch, values

DOCUMENT = {"a": {"b": [1, 2, {"c": "x"}]}, "b c": True, "c": None, "list": [[1], [2]]}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", [DOCUMENT]),
        ("$.a.b[0]", [1]),
        ("$.a.b[-1].c", ["x"]),
        ("$.a.b[9]", []),
        ("$.a.b[3]", []),
        ("$.a.b[-3]", [1]),
        ("$.a.b[-4]", []),
        ("$.a[0]", []),
        ("$.a.b.c", []),
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


def test_what_is_wrong_is_reported_with_its_beginning():
    with pytest.raises(ValueError, match=r"^found no `\$` at the start of a path$"):
        compile_path("a.b")
    with pytest.raises(ValueError, match=r"^found `\[1:2\]\.abcdefghijklmn`, expected `\.name`, `\[0\]`, "):
        compile_path("$.a[1:2].abcdefghijklmnopq")


@pytest.mark.parametrize(("wrapped", "found"), [(0, MAX_VALUES // 2), (1, MAX_VALUES // 2 - 1)])
def test_a_search_looks_at_so_many_values_and_no_more(wrapped, found):
    """The document and all that is in it count: an object and its value here, one after the other."""
    document = [{"c": n} for n in range(MAX_VALUES)]
    for _ in range(wrapped):
        document = [document]
    assert len(list(values(document, compile_path("$..c")))) == found
    assert len(list(values(list(range(MAX_VALUES + 1)), compile_path("$[*]")))) == MAX_VALUES


@pytest.mark.parametrize(
    ("wanted", "missed"),
    [
        ({"$.a.b[*].c": "x"}, None),
        ({"$.a.b[*].c": "?"}, None),
        ({"$.a.b[*].c": "y"}, "$.a.b[*].c"),
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


def test_a_body_of_too_many_values_is_not_read():
    body = b'{"a": 1, "x": [' + b"[]," * 40_000 + b"[]]}"
    assert mismatch(b'{"a": 1, "x": []}', {"$.a": 1}) is None
    assert mismatch(body, {"$.a": 1}) == "$.a"


@given(st.text())
def test_any_text_is_a_path_or_an_error(path):
    try:
        steps = compile_path(path)
    except ValueError:
        return
    assert isinstance(list(values(DOCUMENT, steps)), list)
