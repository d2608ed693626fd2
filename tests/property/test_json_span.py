"""A span found in the text parses to what Python's `json` finds; edits leave the rest untouched."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import assume, given, strategies as st

from faultwire import _core

keys = st.sampled_from(["a", "b", "é", "a\n", '"', "\\", ""]) | st.text(max_size=3)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
Path = list[str | int]


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, Any]:
    """Text and value; spacing and escaping vary."""
    value = draw(values)
    text = json.dumps(
        value,
        indent=draw(st.sampled_from([None, 0, 2, "\t"])),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
        ensure_ascii=draw(st.booleans()),
    )
    return text.encode(), value


def paths(value: Any, above: Path | None = None) -> list[Path]:
    above = above or []
    found = [above]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths(inner, [*above, key])
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found += paths(inner, [*above, index])
    return found


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


@given(documents())
def test_every_span_parses_to_the_value(document):
    body, value = document
    for path in paths(value):
        span = _core.json_span(body, path)
        assert span is not None
        text = body[slice(*span)]
        assert json.loads(text) == at(value, path)
        assert text == text.strip()


@given(documents(), st.data())
def test_children_are_the_spans_of_the_paths(document, data):
    body, value = document
    path = data.draw(st.sampled_from(paths(value)))
    inner = at(value, path)
    names = (
        list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
    )
    expected = [(name, *(_core.json_span(body, [*path, name]) or ())) for name in names]
    assert _core.json_children(body, path) == expected


@given(documents(), st.data())
def test_removing_a_member_removes_nothing_else(document, data):
    body, value = document
    path = data.draw(st.sampled_from(paths(value)))
    assume(path)
    span = _core.json_member_span(body, path)
    assert span is not None
    del at(value, path[:-1])[path[-1]]
    assert json.loads(_core.json_splice(body, [(*span, b"")])) == value


@given(documents(), st.data())
def test_replacing_a_value_keeps_every_other_byte(document, data):
    body, value = document
    path = data.draw(st.sampled_from(paths(value)))
    span = _core.json_span(body, path)
    assert span is not None
    edited = _core.json_splice(body, [(*span, b'"new"')])
    assert edited == body[: span[0]] + b'"new"' + body[span[1] :]
    assert at(json.loads(edited), path) == "new"


members = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), values.filter(lambda value: not isinstance(value, str)))
)


@given(members, st.sampled_from([["a"], ["b"], ["a", 0], ["a", "b"]]))
def test_last_duplicate_counts_as_for_python(members, path):
    text = "{" + ",".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in members) + "}"
    span = _core.json_span(text.encode(), path)
    try:
        expected = at(json.loads(text), path)
    except (KeyError, IndexError, TypeError):
        assert span is None
    else:
        assert span is not None
        assert json.loads(text[slice(*span)]) == expected


@given(st.binary(max_size=30) | st.text('[]{},:"\\ 0123.e-+truefalsn', max_size=30).map(str.encode))
def test_what_python_refuses_is_refused(body):
    try:
        json.loads(body.decode())
        valid = not any(word in body for word in (b"NaN", b"Infinity"))
    except ValueError:
        valid = False
    try:
        assert _core.json_span(body, []) is not None
        accepted = True
    except ValueError:
        accepted = False
    assert accepted == valid or body.startswith(b"\xef\xbb\xbf")


@given(documents())
def test_spacing_escapes_and_order_leave_the_fingerprint(document):
    body, _ = document
    other = json.dumps(json.loads(body, object_pairs_hook=lambda pairs: dict(reversed(pairs))), indent=1)
    assert _core.json_fingerprint(other.encode(), []) == _core.json_fingerprint(body, [])


@given(documents())
def test_canonical_text_is_stable_and_equal(document):
    body, _ = document
    try:
        canonical = _core.jcs(body)
    except ValueError:
        assume(False)
    assert _core.jcs(canonical) == canonical
    assert json.loads(canonical, parse_int=float) == json.loads(body, parse_int=float)
    assert _core.sha256_hex(canonical) == hashlib.sha256(canonical).hexdigest()
