"""Prompts of several fields (faultwire.mutations._lines)."""

import pytest

from faultwire.agents._template import Template
from faultwire.mutations._lines import Form, lines, normalised, structured

PROMPT = "Product name: Desk lamp\r\nTone = friendly\n\nPlease be brief.\nPrice - 3 €\n"
FORM = Form({"productName", "tone"})


def test_keys_are_found_however_they_are_written():
    values = structured("productName: Pear: phone\nTarget Group = young & old\nPrice - 3 €\nno key here")
    assert values["productName"] == values["productname"] == "Pear: phone"
    assert values["targetgroup"] == "young & old"
    assert values["Price"] == "3 €"
    for name in ("productName", "productname", "product_name", "ProductName"):
        assert Template(f'{{"x": "{{{name}}}"}}').filled(values) == '{"x": "Pear: phone"}'
    assert normalised("Target-Group é") == "targetgroup"


def test_a_line_knows_where_its_value_stands():
    found = [(line.key, PROMPT[line.start : line.end]) for line in lines(PROMPT)]
    assert found == [("Product name", "Desk lamp"), ("Tone", "friendly"), ("Price", "3 €")]
    assert [(line.key, line.start, line.end) for line in lines("a:")] == [("a", 2, 2)]


def test_only_lines_that_the_request_is_made_of_are_fields():
    assert [line.key for line in FORM.fields(PROMPT)] == ["Product name", "Tone"]
    assert (FORM.missing(PROMPT), FORM.missing("tone: x")) == (None, "productName")
    assert FORM.fields("tone: x") == ()
    # The last line of a name is the one that is read.
    (field,) = Form({"tone"}).fields("tone: old\nTone: new")
    assert "tone: old\nTone: new"[field.start : field.end] == "new"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("lampe de bureau", "lampe de bureau"),
        ("two\nlines\u2028and three", "two lines and three"),
        ("a = b - c: d", "a = b - c: d"),
        ("  ", ""),
        ("Tone: rude", "Tone: rude"),
    ],
)
def test_a_value_is_changed_and_nothing_else(value, expected):
    field = FORM.fields(PROMPT)[0]
    changed = FORM.with_value(PROMPT, field, value)
    values = structured(changed)
    assert (values["Product name"], values["Tone"], values["Price"]) == (expected, "friendly", "3 €")
    assert changed.endswith("\n\nPlease be brief.\nPrice - 3 €\n")


def test_what_would_break_the_key_is_refused():
    field = FORM.fields(PROMPT)[1]  # `Tone = …`, and a colon ends a key before `=` does
    assert FORM.with_value(PROMPT, field, "friendly: very") is None
    assert FORM.with_value(PROMPT, field, "friendly = very") is not None
