"""Values of secret names, and what marks in HTML stand for.

Covers faultwire.tape.redact.text and faultwire.tape.redact.packed.
"""

from __future__ import annotations

import pytest

from faultwire.tape.redact.edit import Edit
from faultwire.tape.redact.packed import unmarked
from faultwire.tape.redact.text import edits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"password": 12345}', Edit(13, 18, "key", "12345", '"', 1)),
        ("{'password': -1.5e3}", Edit(13, 19, "key", "-1.5e3", '"', 1)),
        ('{"password": "x"}', Edit(14, 15, "key", "x", "", 1)),
        ('{"password": ["", "x"]}', Edit(19, 20, "key", "x", "", 1)),
        ('{"password": ["redacted:v1:00", "x"]}', Edit(33, 34, "key", "x", "", 1)),
    ],
)
def test_a_value_goes_under_the_class_of_its_name(text: str, expected: Edit) -> None:
    assert edits(text) == [expected]


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("<b>a</b>", "a"),
        ("<i>a < b", "a < b"),
        ("a &amp; b", "a & b"),
        ("a&lt;b & c", "a<b & c"),
        ("&quot;a&#34;", "'a'"),
        ('<b>"a"</b>', '"a"'),
        ("<b>&amp;lt;", "&lt;"),
    ],
)
def test_marks_in_html_are_what_they_stand_for(text: str, inner: str) -> None:
    (found,) = unmarked(text)
    assert found.text == inner
    assert len(found.starts) == len(inner) + 1
    assert all(text[found.starts[at]] == letter for at, letter in enumerate(inner) if letter in text)
