"""Where a payload stands in each carrier, to the letter."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
import yaml

from faultwire.faults.attack import _literal, _yaml
from faultwire.faults.attack._carrier import Carrier, Disguise, Position, carrier_of, disguised, planted

POSITIONS: tuple[Position, ...] = ("start", "middle", "end", "field")


def everywhere(text: str, payload: str = "P", disguise: Disguise = "plain") -> list[str]:
    return [planted(text, payload, position, disguise) for position in POSITIONS]


# ---------------------------------------------------------------- which carrier

KEYS = "".join(f"k{at:02}: x\n" for at in range(20))
"""Twenty members: in more of them nobody looks for sentences with colons."""


def ascii_name(value: str) -> str:
    return "-".join(f"{ord(one):x}" for one in value)


@pytest.mark.parametrize(
    ("text", "carrier"),
    [
        ("{}", "json"),
        (" [1] \n", "json"),
        ('{"a": NaN}', "json"),
        ("[" * 100_000, "plain"),
        ("{'a': 'b'}", "python"),
        ("('a',)", "python"),
        ("  ['a']", "python"),
        ("{'a'}", "python"),
        ("{1: 'a', 2: b}", "plain"),
        ("'a'", "plain"),
        ("<HTML>", "html"),
        ("x <!DOCTYPE html> y", "html"),
        ("<tablet>", "plain"),
        ("a: 1\nb: x", "yaml"),
        ("a: 1\nb: 2", "plain"),
        ("a: x", "plain"),
        ("\na: x\n", "plain"),
        ("a: x\nb: &c d", "plain"),
        ("a: x\nb:\td", "plain"),
        ("a: x\ty\nb: z", "plain"),
        ('a: "x\ty"\nb: z', "yaml"),
        ("a: |\n  x\ty\n", "yaml"),
        (KEYS + "k 20: x", "yaml"),
        (KEYS[:-6] + "k 20: x", "plain"),
        ("a: |+\n\nb: 1\n", "plain"),
        ("a: ' '\nb: 1\n", "plain"),
        ("{a: x,\n b: y}", "plain"),
        ("a b: x\nc: y", "plain"),
        ("- a b: x\n- c: y", "yaml"),
        ("a: x\n b: y", "plain"),
        ("a: ''\nb: ''", "plain"),
        ("a: !!int x\nb: y", "yaml"),
        ("### T", "markdown"),
        ("####### T", "plain"),
        ("#T", "plain"),
        ("x\n* y", "markdown"),
        ("12. y", "markdown"),
        ("1234. y", "plain"),
        ("> quoted", "markdown"),
        ("|a|b|", "markdown"),
        ("x ``` y", "plain"),
        ("x\n```", "markdown"),
        ("", "plain"),
    ],
    ids=lambda value: ascii(value)[:20].replace("\\", "-"),
)
def test_what_carries_a_text(text: str, carrier: Carrier) -> None:
    assert carrier_of(text) == carrier


@pytest.mark.parametrize(("longest", "found"), [(200_000, True), (200_001, False)])
def test_a_text_that_is_too_long_is_not_looked_into(longest: int, found: bool) -> None:
    literal = "['" + "a" * (longest - 4) + "']"
    document = "a: x\nb: " + "y" * (longest - 8)
    assert (len(literal), len(document)) == (longest, longest)
    assert bool(_literal.strings(literal)) is found
    assert bool(_yaml.scalars(document)) is found


# ---------------------------------------------------------------- disguises


def test_what_a_payload_poses_as() -> None:
    told = {
        "plain": "a -- b */ c",
        "metadata": "[metadata] a -- b */ c",
        "instruction": "IMPORTANT INSTRUCTION: a -- b */ c",
        "system_note": "[SYSTEM NOTE] a -- b */ c",
    }
    for disguise, text in told.items():
        for carrier in ("json", "html", "markdown", "plain"):
            assert disguised("a -- b */ c", disguise, carrier) == text  # type: ignore[arg-type]
    for carrier in ("html", "markdown"):
        assert disguised("a -- b */ c", "comment", carrier) == "<!-- a - - b * / c -->"  # type: ignore[arg-type]
    for carrier in ("json", "yaml", "python", "plain"):
        assert disguised("a -- b */ c", "comment", carrier) == "/* a - - b * / c */"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('{"a": "x"}', '{"a": "x /* P */"}'),
        ("{'a': 'x'}", "{'a': 'x /* P */'}"),
        ("a: x\nb: y", 'a: x\nb: "y /* P */"'),
        ("<p>x</p>", "<p>x</p><!-- P -->"),
        ("# T", "# T\n\n<!-- P -->"),
        ("x", "x\n/* P */"),
    ],
    ids=["json", "python", "yaml", "html", "markdown", "plain"],
)
def test_a_comment_in_each_carrier(text: str, made: str) -> None:
    assert planted(text, "P", disguise="comment") == made


# ---------------------------------------------------------------- fences


def test_the_text_in_a_fence_carries_the_payload() -> None:
    for inner, made in (
        ('{"a": "x"}', '{"a": "x P"}'),
        ("{'a': 'x'}", "{'a': 'x P'}"),
        ("a: x\nb: y", 'a: x\nb: "y P"'),
    ):
        for start, end in (("```json\n", "\n```"), (" \n```\r\n", "\r\n```\n ")):
            assert planted(f"{start}{inner}{end}", "P") == f"{start}{made}{end}"
    told = planted('```\n{"a": "x", "b": ["longer", "y"]}\n```', "P", "field", "metadata")
    assert told == '```\n{"a": "x", "b": ["longer [metadata] P", "y"]}\n```'
    assert planted("```\nwords\n```", "P") == "```\nwords\n```\n\nP"


# ---------------------------------------------------------------- JSON


def test_which_string_of_json() -> None:
    assert everywhere('{"k": "a", "n": [1, "longest", {"x": "bb"}], "e": ""}') == [
        '{"k": "P a", "n": [1, "longest", {"x": "bb"}], "e": ""}',
        '{"k": "a", "n": [1, "longest", {"x": "bb P"}], "e": ""}',
        '{"k": "a", "n": [1, "longest", {"x": "bb"}], "e": "P"}',
        '{"k": "a", "n": [1, "longest P", {"x": "bb"}], "e": ""}',
    ]
    assert everywhere('[""]') == ['["P"]'] * 4
    assert planted('["a"]', 'ä"\n') == '["a \\u00e4\\"\\n"]'
    assert planted('["ä\ud800"]', "P") == '["ä\ud800"]\nP', "no JSON: half of a pair has no form in UTF-8"


def test_json_without_a_string_gets_one_behind_the_last() -> None:
    for text, made in (
        ("{}", '{"note": "P"}'),
        ("[ ]", '["P" ]'),
        (" {\n}", ' {"note": "P"\n}'),
        ("[1, 2 ]", '[1, 2, "P" ]'),
        ('{"a": [{}], "b": 2 }', '{"a": [{}], "b": 2, "note": "P" }'),
        ("[{}]", '[{}, "P"]'),
    ):
        assert everywhere(text) == [made] * 4


def test_json_that_only_python_reads_is_prose() -> None:
    assert planted('{"a": NaN}', "P") == '{"a": NaN}\nP'
    assert planted('{"a": NaN}', "P", "start") == 'P\n{"a": NaN}'
    assert planted('# {"a":\n', "P") == '# {"a":\n\n\nP'


# ---------------------------------------------------------------- Python


def test_which_string_of_a_literal() -> None:
    text = " {'k': 'a',\n  'n': [1, \"longest\", ('bb', {'s'})], 'e': ''}\n"
    assert everywhere(text) == [
        text.replace("'a'", "'a P'"),
        text.replace("'bb'", "'bb P'"),
        text.replace("''", "'P'"),
        text.replace('"longest"', '"longest P"'),
    ]
    assert _literal.strings("['ä', 'b']") == [(1, 4, "'"), (6, 9, "'")]
    assert _literal.strings("\n['a',\n 'b']") == [(2, 5, "'"), (8, 11, "'")]


def test_strings_that_are_written_another_way_are_left_alone() -> None:
    for text in (
        "['''a''']",
        "[b'a']",
        "[r'a\\n']",
        "['''a\nb''']",
        "[f'a']",
        "[1]",
        "['a', x]",
        "['a' 'b']",
        "['a' 'b'\n'cccc']",
        "['a' \"b\"]",
        "['a' '''b''']",
        "['a' r'b']",
        "['a'\n 'b']",
        "['a\\\nb']",
    ):
        assert _literal.strings(text) == []
        assert carrier_of(text) == ("json" if text == "[1]" else "plain")
    assert _literal.strings("['''a''', 'b']") == [(10, 13, "'")]


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\r", "\x0c", "\x0c\n", " "], ids=ascii_name)
@pytest.mark.parametrize("letter", ["\u2028", "\x85", "\x0b", "\x1c", "\x0c", "\\'", "\\\\"], ids=ascii_name)
def test_lines_of_a_literal_are_pythons(gap: str, letter: str) -> None:
    # What ends a line elsewhere moves no place: `'q', '` begins and ends like a string.
    text = f" ['a{letter}',{gap}'q', 'zz',\n'bbbb']"
    places = _literal.strings(text)
    assert [text[place.start : place.end] for place in places] == [f"'a{letter}'", "'q'", "'zz'", "'bbbb'"]
    for position, at in (("start", 0), ("middle", 2), ("end", 3)):
        before = ast.literal_eval(text.strip())
        before[at] += " P"
        assert ast.literal_eval(planted(text, "P", position).strip()) == before


def test_what_a_literal_escapes() -> None:
    text = "['a', \"bb\"]"
    assert planted(text, "' \" \n \\ é \x00", "start") == "['a \\' \" \\n \\\\ é \\x00', \"bb\"]"
    assert planted(text, "' \" \n", "end") == "['a', \"bb ' \\\" \\n\"]"
    assert ast.literal_eval(planted(text, "' \" \n \\ é \x00", "start")) == ["a ' \" \n \\ é \x00", "bb"]


# ---------------------------------------------------------------- YAML


def test_which_string_of_yaml() -> None:
    text = "k: a\nn:\n  - 1\n  - longest\n  - x: bb\ne: c\n"
    assert everywhere(text) == [
        text.replace("k: a", 'k: "a P"'),
        text.replace("bb", '"bb P"'),
        text.replace("e: c", 'e: "c P"'),
        text.replace("longest", '"longest P"'),
    ]


@pytest.mark.parametrize(
    ("written", "payload", "made"),
    [
        ("'it''s'", "a 'b'\nc", "'it''s a ''b'' c'"),
        ("'x'", "\x07", '"x \\u0007"'),
        ('"\\u0041 \\x41"', "P", '"\\u0041 \\x41 P"'),
        ('"x"', 'a "b"\\\n\r\t', '"x a \\"b\\"\\\\\\n\\r\\t"'),
        ("x", "\x85\u2028\u2029\ufeff\x7f\ud7ff", '"x \\u0085\\u2028\\u2029\\ufeff\\u007f\ud7ff"'),
        ("x", "\ud800\ufffe\x9f", '"x \\ud800\\ufffe\\u009f"'),
        ("x", "XÿĀ\U0001f600\x00", '"x XÿĀ\U0001f600\\u0000"'),
    ],
    ids=["single", "control", "written", "double", "breaks", "halves", "letters"],
)
def test_what_yaml_escapes(written: str, payload: str, made: str) -> None:
    text = f"a: 1\nb: {written}\nc: 2\n"
    after = planted(text, payload)
    assert after == f"a: 1\nb: {made}\nc: 2\n"
    assert yaml.safe_load(after)["c"] == 2


@pytest.mark.parametrize(
    ("before", "payload", "after"),
    [
        ("a: |\n  x\n\n  y\nb: 1\n", "P p\nQ", "a: |\n  x\n\n  y\n  P p\n  Q\nb: 1\n"),
        ("a: >\n  x\n  y\nb: 1\n", "P\n Q", "a: >\n  x\n  y\n  P Q\nb: 1\n"),
        ("a: |\n    x\nb: 1\n", "\x07P", "a: |\n    x\n    ?P\nb: 1\n"),
        ("a: |\n\n   x\n\n\nb: 1\n", "P", "a: |\n\n   x\n   P\n\n\nb: 1\n"),
        ("b: 1\na: |\n  x", "P\nQ", "b: 1\na: |\n  x\n  P\n  Q"),
        ("b: 1\na: |+\n  x\n\n", "P", "b: 1\na: |+\n  x\n  P\n\n"),
        ("b: 1\na: >-\n  x\n", "P", "b: 1\na: >-\n  x\n  P\n"),
        ("a: |\n  x:\n  \ty\nb: 1\n", "P", "a: |\n  x:\n  \ty\n  P\nb: 1\n"),
        ("b: 1\na: |\n  x\rc: 2\n", "P", "b: 1\na: |\n  x\r\n  P\nc: 2\n"),
        ("b: 1\na: |\r  x\r\nc: 2\n", "P", "b: 1\na: |\r  x\r\n  P\nc: 2\n"),
    ],
    ids=[
        "literal",
        "folded",
        "control",
        "empty lines",
        "no end",
        "kept end",
        "cut end",
        "tab",
        "CR",
        "only CR",
    ],
)
def test_another_line_of_a_block(before: str, payload: str, after: str) -> None:
    made = planted(before, payload)
    assert made == after
    assert list(yaml.safe_load(made)) == list(yaml.safe_load(before))


# ---------------------------------------------------------------- HTML


def test_where_in_a_page() -> None:
    page = '<html><BODY class="x">a</body ></html>'
    assert everywhere(page, "<i>&") == [
        '<html><BODY class="x"><p>&lt;i&gt;&amp;</p>a</body ></html>',
        *['<html><BODY class="x">a<p>&lt;i&gt;&amp;</p></body ></html>'] * 3,
    ]
    assert everywhere("<p>a</p>") == ["<p>P</p><p>a</p>", *["<p>a</p><p>P</p>"] * 3]
    assert planted("<p>a</p>", "<i>", "start", "comment") == "<!-- <i> --><p>a</p>"
    assert planted("<p>a</p>", "x", "end", "metadata") == "<p>a</p><p>[metadata] x</p>"
    assert planted(f"<body {'x' * 2000}>a", "P", "start") == f"<body {'x' * 2000}>a".replace(
        "<body", "<p>P</p><body"
    )


# ---------------------------------------------------------------- Markdown, prose


def test_where_in_prose() -> None:
    assert everywhere("a") == ["P\na", "a\nP", "a\nP", "a\nP"]
    assert everywhere("a\n\nb\n\n\nc") == [
        "P\n\na\n\nb\n\n\nc",
        "a\n\nb\n\n\nP\n\nc",
        "a\n\nb\n\n\nc\n\nP",
        "a\n\nb\n\n\nc\n\nP",
    ]
    assert planted("a\n\nb", "P\nQ", "middle") == "a\n\nP\nQ\n\nb"
    assert planted("a ``` b\n\nc", "P") == "a ``` b\n\nc\n\nP"
    assert everywhere("") == ["P"] * 4


def test_where_in_markdown() -> None:
    assert everywhere("# T") == ["P\n\n# T", "# T\n\nP", "# T\n\nP", "# T\n\nP"]
    text = "# T\n\na\n\n```\nx\n\ny\n```\n\nb"
    assert everywhere(text, "P\nQ") == [
        "P Q\n\n# T\n\na\n\n```\nx\n\ny\n```\n\nb",
        "# T\n\na\n\nP Q\n\n```\nx\n\ny\n```\n\nb",
        "# T\n\na\n\n```\nx\n\ny\n```\n\nb\n\nP Q",
        "# T\n\na\n\n```\nx\n\ny\n```\n\nb\n\nP Q",
    ]
    below = "# T\n\n```\nx\n```\n\na\n\nb"
    assert planted(below, "P", "middle") == "# T\n\n```\nx\n```\n\nP\n\na\n\nb"
    assert planted("# T", "P\nQ", disguise="comment") == "# T\n\n<!-- P\nQ -->"
    assert everywhere("# T\n\n```\nopen") == ["P\n\n# T\n\n```\nopen"] * 4


def test_json_stays_what_it_was() -> None:
    text = '{"a": {"b": ["x", {"c": "y"}]}, "d": "z"}'
    for position, where in zip(
        POSITIONS, (["a", "b", 0], ["a", "b", 1, "c"], ["d"], ["a", "b", 0]), strict=True
    ):
        value: Any = json.loads(planted(text, "P", position))
        for step in where:
            value = value[step]
        assert "P" in value
