"""A span is replaced in the syntax of its carrier: it reads as meant, and nothing else has changed."""

from __future__ import annotations

import ast
import csv
import io
import json
from html.parser import HTMLParser

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from faultwire.faults.attack import _literal, _markup, _table, _yaml
from faultwire.faults.attack._carried import CannotCarry
from faultwire.faults.attack._replace import in_strings, replaced, swapped

SPAN = "FWSPAN0ab12"
WORDS = "word " * 30
PAYLOADS = (
    "plain words",
    "with \"double\" and 'single' quotes, \\ back",
    "\n\n<INFORMATION>\n\nfirst: do this # now\n\n</INFORMATION>\n\n",
    "a, b; c\td | e",
    "ümläut 日本 😀 & <b>",
    "- item: [x] {y} *z &w !t %d @e `f`",
    "  spaces around  ",
    "",
)
VALUE = {"id": 5, "text": f"{WORDS}{SPAN} and more", "deep": [{"a": SPAN, "b": None}, "it's", 1.5], "c": "ü"}
ROWS = [["name", "note"], ["Ann", f"see {SPAN}"], ["Bob, jr.", 'says "hi"']]


def meant(value, payload):
    return in_strings(value, lambda text: text.replace(SPAN, payload))


WRITERS = {
    "json": json.dumps,
    "json, indented": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    "yaml": lambda value: yaml.safe_dump(value).strip(),
    "yaml in order": lambda value: yaml.safe_dump(value, sort_keys=False),
    "yaml in unicode": lambda value: yaml.safe_dump(value, allow_unicode=True),
    "python": repr,
}
READERS = {"json": json.loads, "yaml": yaml.safe_load, "python": ast.literal_eval}


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("name", WRITERS)
def test_it_is_what_the_program_would_have_written(name, payload):
    told = replaced(WRITERS[name](VALUE), {SPAN: payload})
    assert told == WRITERS[name](meant(VALUE, payload))


HANDWRITTEN = f"""\
# by hand
plain: some {SPAN} words
quoted: "a {SPAN}"
single: 'it''s {SPAN}'
literal: |
  first
  {SPAN}
folded: >-
  some words
  with {SPAN}
n: 1
list:
  - x
  - {SPAN}
"""


@pytest.mark.parametrize("payload", PAYLOADS)
def test_yaml_by_hand_keeps_its_comments_and_every_other_line(payload):
    told = replaced(HANDWRITTEN, {SPAN: payload})
    assert yaml.safe_load(told) == meant(yaml.safe_load(HANDWRITTEN), payload)
    assert told.startswith("# by hand\n")
    assert "\nn: 1\n" in told


@pytest.mark.parametrize("payload", PAYLOADS)
def test_python_by_hand_keeps_its_spaces(payload):
    text = f"{{ 'a':  \"x {SPAN}\",   'b': [1,2] }}"
    told = replaced(text, {SPAN: payload})
    assert ast.literal_eval(told) == meant(ast.literal_eval(text), payload)
    assert told.endswith("   'b': [1,2] }")


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("delimiter", ",;\t")
def test_a_table_has_the_same_cells_otherwise(payload, delimiter):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(ROWS)
    assert _table.delimiter(out.getvalue()) == delimiter
    told = replaced(out.getvalue(), {SPAN: payload})
    assert list(csv.reader(io.StringIO(told, newline=""), delimiter=delimiter)) == meant(ROWS, payload)


def test_prose_is_no_table():
    assert _table.delimiter("Dear Ann, thanks.\nSee you, Bob\n") is None
    assert _table.delimiter("| a | b |\n| - | - |\n") is None
    assert _table.delimiter("one,two") is None


class Texts(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.feed(text)
        self.close()

    def handle_data(self, data):
        self.found.append(("text", data))

    def handle_starttag(self, tag, attrs):
        self.found += [("attribute", value) for _, value in attrs]

    def handle_comment(self, data):
        self.found.append(("comment", data))


@pytest.mark.parametrize("payload", [one for one in PAYLOADS if one])
def test_html_reads_as_meant_in_text_attributes_and_comments(payload):
    text = f'<html><body title="a {SPAN}"><p>b {SPAN}</p><!-- c {SPAN} --></body></html>'
    found = Texts(replaced(text, {SPAN: payload})).found
    assert found == [("attribute", f"a {payload}"), ("text", f"b {payload}"), ("comment", f" c {payload} ")]


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        (f"<p>x</p><!-- {SPAN} -->", "a --> b"),
        (f"<body><script>let a = '{SPAN}'</script></body>", "</script>"),
        (f"# title\n\n```\n{SPAN}\n```\n", "a\n```\nb"),
    ],
)
def test_what_a_carrier_cannot_carry_is_refused(text, payload):
    with pytest.raises(CannotCarry):
        replaced(text, {SPAN: payload})
    assert replaced(text, {SPAN: "a b"}) == text.replace(SPAN, "a b")


def test_what_would_not_read_as_meant_is_refused():
    for text in (f"{{'a':  r'{SPAN}'}}", f"{{'a':  'x'  '{SPAN}'}}"):
        with pytest.raises(CannotCarry, match="a Python literal"):
            replaced(text, {SPAN: "x"})


def test_markdown_keeps_its_shape():
    text = f"# Title {SPAN}\n\n| a | {SPAN} |\n\n> said {SPAN}\n\nand {SPAN}\n"
    told = replaced(text, {SPAN: "x | y\nz"})
    assert told == "# Title x | y z\n\n| a | x \\| y<br>z |\n\n> said x | y\n> z\n\nand x | y\nz\n"


def test_a_carrier_inside_of_another_one():
    text = json.dumps({"body": json.dumps({"note": SPAN})})
    told = replaced(text, {SPAN: 'a "b"'})
    assert json.loads(json.loads(told)["body"]) == {"note": 'a "b"'}


def test_a_fenced_block_of_data():
    told = replaced(f'```json\n{{"a": "{SPAN}"}}\n```', {SPAN: 'x "y"'})
    assert told == '```json\n{"a": "x \\"y\\""}\n```'


def test_a_span_that_its_carrier_has_folded_is_found():
    value = {"text": f"{WORDS}a span of several words that stands at the end of the line {WORDS}"}
    span = "a span of several words that stands at the end of the line"
    text = yaml.safe_dump(value)
    assert span not in text
    told = replaced(text, {span: "X"})
    assert yaml.safe_load(told) == {"text": f"{WORDS}X {WORDS}"}


def test_without_a_span_there_is_nothing_to_do():
    for text in ("words", '{"a": 1}', "a: b\nc: d\n", "<p>x</p>", "a,b\n1,2\n", "", "[", "{'a': 1}"):
        assert replaced(text, {SPAN: "x"}) is None


def test_the_longest_of_two_comes_first_and_a_payload_is_not_looked_into():
    assert swapped("AB A", {"A": "B", "AB": "A"}) == "A B"


def test_keys_stay():
    assert json.loads(replaced(f'{{"{SPAN}": "{SPAN}"}}', {SPAN: "x"})) == {SPAN: "x"}


def test_documents_with_aliases_are_not_unfolded():
    text = f"a: &x {SPAN}\nb: *x\n"
    assert _yaml.document(text) is None
    assert replaced(text, {SPAN: "p"}) == "a: &x p\nb: *x\n", "as prose"


def test_each_part_by_itself():
    assert _literal.rewritten("['a', 'b']", str.upper) == "['A', 'B']"
    assert _yaml.rewritten("a: b\nc: d\n", str.upper) == 'a: "B"\nc: "D"\n'
    assert _markup.in_fence("a") == "a"


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)


@settings(max_examples=150, deadline=None)
@given(TEXT, TEXT, TEXT, st.sampled_from(["json", "yaml", "python"]))
def test_any_payload_in_any_value(before, after, payload, name):
    value = {"a": f"{before}{SPAN}{after}", "b": [before, after]}
    text = WRITERS[name](value)
    try:
        told = replaced(text, {SPAN: payload})
    except CannotCarry:
        return
    told = text if told is None else told
    assert READERS[name](told) == meant(value, payload)
