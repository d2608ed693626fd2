"""`faultwire.config.prompts`: texts, expectations, conversations."""

from __future__ import annotations

import pytest

from faultwire.config.prompts import ID

AGENT = "agent: {command: [a, '{prompt}']}\n"


@pytest.fixture
def prompts(config):
    return lambda text, more="": config(f"golden_prompts: {text}\n{more}", base=AGENT).prompts


def test_ids_are_given_or_counted_and_unique(prompts):
    found = prompts("[a, {prompt: b, id: fr}, c, {prompt: d, id: p5}, e]")
    assert [(p.id, p.text) for p in found] == [
        ("p1", "a"),
        ("fr", "b"),
        ("p3", "c"),
        ("p5", "d"),
        ("p5-5", "e"),
    ]


def test_expectations(prompts):
    found = prompts(
        "[{prompt: a, expect: {contains: Paris}}, "
        "{prompt: b, expect: {type: regex, pattern: x, id: mine, severity: high}}, "
        "{prompt: c, expect: [valid_json, {contains: a}, {contains: b}, {latency: 5, negate: true}]}]"
    )
    labels = [[check.label for check in prompt.invariants] for prompt in found]
    assert labels == [
        ["expect_contains"],
        ["mine"],
        ["expect_valid_json", "expect_contains", "expect_contains#2", "expect_latency"],
    ]
    assert found[0].invariants[0].value == "Paris"


def test_expectations_match_no_other_name(prompts, refused):
    more = "invariants: [{type: completes, id: expect_contains}]"
    (found,) = prompts("[{prompt: a, expect: {contains: x}}]", more)
    assert found.invariants[0].label == "expect_contains#2"
    text = "golden_prompts: [{prompt: a, expect: {type: completes, id: x}}]\n"
    text += "invariants: [{type: valid_json, id: x}]"
    assert "found the id `x` again" in refused(text, base=AGENT)[0]


def test_conversations(config):
    agent = "agent: {command: [a, '{turns}']}\n"
    text = "golden_prompts: [{turns: [hi, 'my name is Ada', 'what is my name?'], id: talk}, {turns: [hi]}]"
    (one, two) = config(text, base=agent).prompts
    assert one.turns == one.asked == ("hi", "my name is Ada", "what is my name?")
    assert (one.text, two.turns, two.asked) == ("what is my name?", (), ("hi",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "config.empty: found no `golden_prompts`, expected at least one prompt"),
        ("~", "config.empty: found no `golden_prompts`, expected at least one prompt"),
        ("", "config.empty: found no `golden_prompts`, expected at least one prompt"),
        ("hello", "found `hello` for `golden_prompts`, expected a list"),
        ("[42]", "found `42` for `golden_prompts`, expected text"),
        ("['']", "found an empty text for `golden_prompts`, expected text"),
        ("[~]", "found an empty golden prompt, expected text"),
        ("[[a]]", "found a list for `golden_prompts`, expected text"),
        ("[{prompt: ~}]", "found an empty `prompt`, expected text"),
        ("[{id: a}]", "found neither of `prompt` and `turns`, expected one of them"),
        ("[{prompt: a, turns: [b]}]", "found both of `prompt` and `turns`, expected one of them"),
        ("[{turns: []}]", "found no `turns`, expected at least one text"),
        ("[{turns: [a, 3]}]", "found `3` for `turns`, expected text"),
        ("[{prompt: a, expected: b}]", "found key `expected`, expected a key of a golden prompt"),
        ("[{prompt: a, expect: Paris}]", "found `Paris` for `expect`, expected a check"),
        ("[{prompt: a, expect: {contian: b}}]", "found check `contian`, expected a known one"),
        ("[{prompt: a, id: 'a b'}]", "found `a b` for `id`, expected 1 to 40 letters"),
        (
            "[{prompt: a, id: x}, {prompt: b, id: x}]",
            "found the id `x` again, expected it once (first on line",
        ),
    ],
)
def test_what_is_refused(refused, text, said):
    (found,) = refused(f"golden_prompts: {text}", base=AGENT)
    assert said in found


def test_an_agent_that_takes_one_prompt_takes_no_conversation(refused, config):
    (said,) = refused("golden_prompts: [{turns: [a, b]}]", base=AGENT)
    assert (
        "config.no_turns: found a conversation in `golden_prompts`, expected an agent that takes one" in said
    )
    assert config("golden_prompts: [{turns: [a]}]", base=AGENT).prompts


def test_a_file_without_prompts(refused):
    (said,) = refused("", base=AGENT)
    assert said == "faultwire.yaml:1:1: config.empty: found no `golden_prompts`, expected at least one prompt"


@pytest.mark.parametrize(
    ("ident", "fits"), [("a.b-c_1", True), ("a/b", False), ("", False), ("x" * 41, False)]
)
def test_ids_can_be_parts_of_file_names(ident, fits):
    assert bool(ID.fullmatch(ident)) is fits
