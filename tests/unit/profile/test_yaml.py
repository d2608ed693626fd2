"""The YAML reader: what it understands, and what it refuses."""

# ruff: noqa: E501 - each message stands in one line of its table
from __future__ import annotations

import tracemalloc

import pytest
import yaml as pyyaml

from faultwire.errors import ConfigError, ProfileError, ScenarioError, printable
from faultwire.profile import yaml
from faultwire.profile.yaml import Node, read, shown


@pytest.fixture(autouse=True, params=["CSafeLoader", "SafeLoader"])
def both_parsers(request, monkeypatch):
    """libyaml where it is there, PyYAML's own elsewhere: they must agree."""
    loader = getattr(pyyaml, request.param, None)
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(yaml, "_LOADER", loader)


def plain(text):
    return read(text, "f.yaml").plain()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False),
        ("yes", "yes"), ("on", "on"), ("off", "off"), ("n", "n"), ("True!", "True!"),
        ("1", 1), ("-7", -7), ("+3", 3), ("010", 10), ("0x10", "0x10"), ("1_000", "1_000"), ("1:30", "1:30"),
        ("1.5", 1.5), ("-.5", -0.5), ("2.", 2.0), ("1e3", 1000.0), (".inf", ".inf"), (".nan", ".nan"),
        ("9" * 18, int("9" * 18)), ("9" * 19, "9" * 19), ("2026-11-21", "2026-11-21"),
        ("'1'", "1"), ('"true"', "true"), ("|\n  1", "1"), ("''", ""),
        ("{a: [1, {b: x}], on: off}", {"a": [1, {"b": "x"}], "on": "off"}),
        ("1: a\ntrue: b", {"1": "a", "true": "b"}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
        ("a: é\u20ac", {"a": "é\u20ac"}), ("\ufeffa: 1", {"a": 1}),
    ],
)  # fmt: skip
def test_values(text, value):
    found = plain(text)
    assert found == value
    assert type(found) is type(value)


def test_places_count_from_one():
    root = read("a: 1\nb:\n  - x\n  - {c: é, d: 2}\n", "f.yaml")
    node = root.at(("b", 1, "d"))
    assert (node.value, node.line, node.column, node.key) == (2, 4, 15, (4, 12))
    assert root.at(("b", 7, "zzz")) is root.at(("b",)), "as far as it leads"
    assert root.at(("a", "b")).value == 1


REFUSED = [
    ("a: *x", "1:4: {}.yaml: found an alias, expected every value written out"),
    ("a: &x 1", "1:4: {}.yaml: found an anchor, expected every value written out"),
    ("&x {a: 1}", "1:1: {}.yaml: found an anchor, expected every value written out"),
    ("a: !!python/object:os.system x", "1:4: {}.yaml: found tag `tag:yaml.org,2002:python/object:os.system`, expected none"),
    ("a: !x {}", "1:4: {}.yaml: found tag `!x`, expected none"),
    ("a: !!str 1", "1:4: {}.yaml: found tag `tag:yaml.org,2002:str`, expected none"),
    ("a: 1\nb: 2\na: 3", "3:1: {}.yaml: found key `a` again, expected it once (first on line 1)"),
    ("1: a\n'1': b", "2:1: {}.yaml: found key `1` again, expected it once (first on line 1)"),
    ("? [a]\n: b", "1:3: {}.yaml: found a list as a key, expected a word"),
    ("{a: 1}: b", "1:1: {}.yaml: found a mapping as a key, expected a word"),
    ("a\n---\nb", "2:1: {}.yaml: found a second document, expected one"),
    ("[" * 21 + "]" * 21, "1:21: {}.yaml: found more than 20 levels, expected fewer"),
    ("[" + "1," * 10_000 + "]", "1:20000: {}.yaml: found more than 10000 values, expected fewer"),
    ("#" * 1_000_001, "1:1000001: {}.yaml: found more than 1000000 bytes, expected fewer"),
    ("# é\n" + "#" * 1_000_000, "2:999996: {}.yaml: found more than 1000000 bytes, expected fewer"),
    ("a: \x07", "1:4: {}.yaml: found character U+0007, expected text"),
    ("é: 1\nb: \x9b", "2:4: {}.yaml: found character U+009B, expected text"),
    ("a: \x00", "1:4: {}.yaml: found character U+0000, expected text"),
    ("a: \ud800", "1:4: {}.yaml: found byte 0xed, expected UTF-8"),
    ("a: é\nb: é".encode() + b"\xff", "2:5: {}.yaml: found byte 0xff, expected UTF-8"),
    (b"\xff\xfea\x00", "1:1: {}.yaml: found byte 0xff, expected UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "message"), REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize(
    ("error", "word"), [(ProfileError, "profile"), (ConfigError, "config"), (ScenarioError, "scenario")]
)
def test_what_is_refused(source, message, error, word):
    with pytest.raises(error) as caught:
        read(source, "f.yaml", error)
    assert str(caught.value) == f"f.yaml:{message.format(word)}"


@pytest.mark.parametrize(
    "source", ["a: [", "a: b: c", "\ta: 1", "a: 'x", "- a\nb: 1", '"\\ud800"', "a: @b", "%YAML 9.9\n---\na"]
)
def test_what_is_no_yaml_is_reported_with_its_place(source):
    with pytest.raises(ProfileError) as caught:
        read(source, "f.yaml")
    assert caught.value.code == "profile.yaml"
    assert caught.value.where is not None
    assert caught.value.where.line == source.count("\n", 0, 8) + (source == "a: [") or caught.value.where.line


def test_a_bomb_of_aliases_is_refused_before_it_is_built():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    tracemalloc.start()
    try:
        with pytest.raises(ProfileError, match="found an anchor"):
            read("\n".join(lines), "bomb.yaml")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"), ({}, "a mapping"), ([1], "a list"), (True, "`true`"), (1.5, "`1.5`"), ("a b", "`a b`"),
        ("x" * 61, f"`{'x' * 60}…`"), ("\x1b[0m\n", "`\\x1b[0m\\n`"), ("\u202e\U000e0041", "`\\u202e\\U000e0041`"),
    ],
)  # fmt: skip
def test_shown(value, text):
    assert shown(value) == text


def test_printable_keeps_what_can_be_read():
    assert printable("naïve 中文 €") == "naïve 中文 €"
    assert printable("\u200b\x85") == "\\u200b\\x85"


def test_node_of_nothing():
    assert read("# only a comment", "f.yaml") == Node(None, 1, 1)


def test_an_error_steers_no_terminal() -> None:
    """Whatever a message or a hint quotes: escapes are written out, and a line stays a line."""
    other = ProfileError("found `\u202eb`")
    said = ProfileError("found `a\t\x1b[2Jb\nc`", hint="try\x07 `d`", also=(other,)).render()
    assert said.splitlines() == [
        "profile.invalid: found `a\\t\\x1b[2Jb\\nc`",
        "hint: try\\x07 `d`",
        "profile.invalid: found `\\u202eb`",
    ]


@pytest.mark.parametrize(
    ("source", "start"),
    [
        ("env: {A: ${X:-y}}\n", "${X"),
        ("env:\n  {A: 1,\n   URL: http://${HOST:-x}/}\n", "${HOST"),
        ("a: [${X}, b]\n", "${X"),
    ],
)
def test_a_variable_without_quotes_in_a_flow_collection_gets_a_hint_to_quote_it(source, start):
    with pytest.raises(ProfileError) as caught:
        read(source, "f")
    assert caught.value.hint == f'inside of `{{}}` and `[]` a variable needs quotes: `"{start}…}}"`'


@pytest.mark.parametrize(
    "source", ["a: {b\n", "a: {b: {c: 1}\n", "a: [$ {b: 1}]\n", "a: {b: 'x\n", 'a: {b: "${X}", c: {\n']
)
def test_other_mistakes_have_no_word_about_variables(source):
    with pytest.raises(ProfileError) as caught:
        read(source, "f")
    assert "variable" not in (caught.value.hint or "")


def test_a_quoted_variable_and_one_in_a_block_are_read():
    assert read('env: {A: "${X:-y}"}\n', "f").plain() == read("env:\n  A: ${X:-y}\n", "f").plain()
