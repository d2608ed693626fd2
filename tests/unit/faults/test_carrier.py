"""After an attack the carrier parses as before, and every byte around the payload is as it was."""

from __future__ import annotations

import ast
import json
from html.parser import HTMLParser
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from faultwire.faults.attack import _literal, _yaml
from faultwire.faults.attack._carrier import carrier_of, chosen, disguised, planted

PAYLOADS = (
    "plain words",
    "with \"double\" and 'single' quotes",
    "two\nlines: with # marks and {braces} [x] & *stars*",
    "</p><script>alert(1)</script> --> end",
    "back\\slash \\n and \u00fcml\u00e4ut \u65e5\u672c \U0001f600",
    "{canary} %s {0} ${HOME}",
    "``` fence ```",
    "- a: b",
)
POSITIONS = ("start", "middle", "end", "field")


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value] if isinstance(value, str) else []


def others(value: Any) -> Any:
    """The value with its strings taken out."""
    if isinstance(value, dict):
        return {key: others(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [others(item) for item in value]
    return None if isinstance(value, str) else value


def grew_by(before: Any, after: Any, payload: str) -> bool:
    """Is everything as it was, but for one string that holds the payload, too?"""
    old, new = leaves(before), leaves(after)
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    squeezed = " ".join(payload.split())
    return (
        others(before) == others(after)
        and len(changed) == 1
        and (payload in changed[0][1] or squeezed in " ".join(changed[0][1].split()))
        and all(word in changed[0][1] for word in changed[0][0].split())
    )


def inserted(before: str, after: str) -> bool:
    """Was something put in, and nothing else touched?"""
    head = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    return before[head:] == after[len(after) - len(before) + head :]


JSON = '{ "id": 5,\t"name": "Ann", "deep": {"note": "a \\u00e9 \\"b\\""}, "n": [1.50, "x", "a longer text"] }'
PYTHON = "{'id': 5, 'name': \"Ann's\", 'deep': {'note': 'a \\u00e9 \\'b'}, 'n': [1.5, 'x'], 't': (None, 'y')}"
YAML = """\
# a comment
id: 5
name: Ann
quoted: "a \\"b\\""
single: 'it''s'
literal: |
  first line
  second line
folded: >-
  some words
  that are folded

deep:
  - x
  - note: the last one
"""


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("position", POSITIONS)
def test_json(payload: str, position: Any) -> None:
    assert carrier_of(JSON) == "json"
    after = planted(JSON, payload, position)
    assert grew_by(json.loads(JSON), json.loads(after), payload)
    assert inserted(JSON, after)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("text", ['{"n": 1}', "[1, 2]", "{}", "[ ]", '{"a": {"b": [true]}}'])
def test_json_without_a_string_gets_one(payload: str, text: str) -> None:
    after = planted(text, payload)
    assert payload in leaves(json.loads(after))
    assert inserted(text, after)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("position", POSITIONS)
def test_python_literals(payload: str, position: Any) -> None:
    assert carrier_of(PYTHON) == "python"
    assert _literal.strings(PYTHON)
    after = planted(PYTHON, payload, position)
    assert grew_by(ast.literal_eval(PYTHON), ast.literal_eval(after), payload)
    assert inserted(PYTHON, after)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("at", range(7))
def test_yaml_in_every_style(payload: str, at: int) -> None:
    assert carrier_of(YAML) == "yaml"
    assert len(_yaml.scalars(YAML)) == 7
    after = _yaml.planted(YAML, payload, lambda _: at)
    assert grew_by(yaml.safe_load(YAML), yaml.safe_load(after), payload)
    style = _yaml.scalars(YAML)[at].style
    if style is not None and not (style == "'" and "\U0001f600" in payload):
        assert inserted(YAML, after)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_yaml_that_ends_in_a_block(payload: str) -> None:
    for text in ("a: 1\nb: |\n  x\n  y", "a: 1\nb: >\n  x\n  y\n", "a: 1\nb: |+\n  x\n\n"):
        after = planted(text, payload)
        before = yaml.safe_load(text)
        made = yaml.safe_load(after)
        assert made["a"] == 1
        assert " ".join(made["b"].split()).startswith(" ".join(before["b"].split()))
        assert " ".join(payload.split()) in " ".join(made["b"].split())


class Told(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("position", POSITIONS)
def test_html(payload: str, position: Any) -> None:
    page = "<!DOCTYPE html>\n<html><body class='x'><h1>T</h1><p>one</p>\n</body></html>\n"
    assert carrier_of(page) == "html"
    after = planted(page, payload, position)
    read = Told()
    read.feed(after)
    assert payload in read.text
    assert sorted(read.tags) == ["body", "h1", "html", "p", "p"]
    assert inserted(page, after)
    assert after.index("<body") < after.index("</body>")


@pytest.mark.parametrize("position", POSITIONS)
def test_a_comment_in_html_does_not_end_early(position: Any) -> None:
    page = "<p>one</p>"
    read = Told()
    read.feed(planted(page, "a --> <b>b</b>", position, "comment"))
    assert read.text == "one"
    assert read.tags == ["p"]


MARKDOWN = "# Title\n\nSome words.\n\n```python\nx = 1\n\ny = 2\n```\n\n- one\n- two\n"


@pytest.mark.parametrize("position", POSITIONS)
def test_markdown_is_never_planted_in_code(position: Any) -> None:
    assert carrier_of(MARKDOWN) == "markdown"
    after = planted(MARKDOWN, "PAYLOAD here", position)
    assert inserted(MARKDOWN, after)
    assert after[: after.index("PAYLOAD")].count("```") % 2 == 0
    assert "\n\nPAYLOAD" in "\n\n" + after
    assert planted("# T\n\n```\nopen", "PAYLOAD").startswith("PAYLOAD\n\n")


@pytest.mark.parametrize("position", POSITIONS)
def test_prose(position: Any) -> None:
    text = "One paragraph: short.\n\nTwo.\n\nThree."
    assert carrier_of(text) == "plain"
    after = planted(text, "PAYLOAD", position)
    assert inserted(text, after)
    assert after.count("PAYLOAD") == 1
    assert planted("", "PAYLOAD") == "PAYLOAD"


@pytest.mark.parametrize(
    ("text", "carrier"),
    [
        ("42 hits", "plain"),
        ("Error: it failed\nTry this: wait", "plain"),
        ('"just a string"', "plain"),
        ("17", "plain"),
        ("name: Ann\nage: 5", "yaml"),
        ("- a\n- b", "yaml"),
        ("<b>bold</b>", "plain"),
        ("{not json", "plain"),
        ("(1, 2)", "plain"),
        ("a < b and c > d", "plain"),
    ],
)
def test_what_carries_a_text(text: str, carrier: str) -> None:
    assert carrier_of(text) == carrier


def test_a_block_of_code_keeps_its_fence() -> None:
    text = f"```json\n{JSON}\n```\n"
    after = planted(text, "PAYLOAD")
    assert inserted(text, after)
    assert "PAYLOAD" in leaves(json.loads(after.removeprefix("```json\n").removesuffix("\n```\n")))[-1]


def test_disguises() -> None:
    assert disguised("x", "plain", "plain") == "x"
    assert disguised("x */ y", "comment", "json") == "/* x * / y */"
    assert disguised("x", "comment", "html") == "<!-- x -->"
    assert disguised("x", "metadata", "json").endswith("x")
    assert disguised("x", "instruction", "json").endswith(": x")
    assert disguised("x", "system_note", "json").endswith("] x")
    assert [chosen([3, 9, 2], position) for position in POSITIONS] == [0, 1, 2, 1]  # type: ignore[arg-type]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200)
@given(json_values, st.text(min_size=1, max_size=60), st.sampled_from(POSITIONS))
def test_any_json_stays_json(value: Any, payload: str, position: Any) -> None:
    if not isinstance(value, dict | list):
        return
    text = json.dumps(value)
    after = planted(text, payload, position)
    assert inserted(text, after)
    told = leaves(json.loads(after))
    assert any(payload in leaf for leaf in told)


@settings(max_examples=200)
@given(json_values, st.text(min_size=1, max_size=60))
def test_any_literal_stays_one(value: Any, payload: str) -> None:
    text = repr(value)
    if not isinstance(value, dict | list) or carrier_of(text) != "python":
        return
    after = planted(text, payload)
    assert others(ast.literal_eval(after)) == others(value)
    assert any(payload in leaf for leaf in leaves(ast.literal_eval(after)))


@settings(max_examples=200)
@given(json_values, st.text(min_size=1, max_size=60), st.booleans())
def test_any_yaml_stays_yaml(value: Any, payload: str, narrow: bool) -> None:
    text = yaml.safe_dump(value, width=20 if narrow else 200, allow_unicode=True)
    if not isinstance(value, dict | list) or carrier_of(text) != "yaml":
        return
    after = planted(text, payload)
    assert others(yaml.safe_load(after)) == others(yaml.safe_load(text))


@settings(max_examples=300)
@given(st.text(max_size=200), st.text(min_size=1, max_size=40), st.sampled_from(POSITIONS))
def test_any_text_is_survived(text: str, payload: str, position: Any) -> None:
    assert len(planted(text, payload, position)) > len(text)
