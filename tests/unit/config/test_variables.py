"""`faultwire.config.variables` through a whole file: what is filled in where, and that it is never shown."""

from __future__ import annotations

import pytest

from faultwire.config.hidden import Hidden
from faultwire.config.variables import MAX_FILLED
from faultwire.errors import ConfigError

HTTP = "golden_prompts: [hi]\n"


def prompt(config, text, **environ):
    return config(f"golden_prompts: ['{text}']", base="agent: {command: [a, '{prompt}']}\n", environ=environ)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}", "one"),
        ("say ${A} and ${A}", "say one and one"),
        ("${B:-two}", "two"),
        ("${EMPTY:-two}", "two"),
        ("${EMPTY}!", "!"),
        ("${B:-}!", "!"),
        ("${A:-two}", "one"),
        ("$A costs $5", "$A costs $5"),
        ("$${A} $$A", "${A} $$A"),
        ("${WEIRD}", "a: ${A} {x}"),
        ("${B:-a $x b}", "a $x b"),
    ],
)
def test_strings_are_filled_in_once(config, text, filled):
    found = prompt(config, text, A="one", EMPTY="", WEIRD="a: ${A} {x}")
    assert found.prompts[0].text == filled


@pytest.mark.parametrize(("text", "name"), [("${NOPE}", "NOPE"), ("x ${_a1} y", "_a1")])
def test_an_unset_variable_is_named(refused, text, name):
    assert refused(f"proxy: {{listen: '{text}'}}") == [
        f"faultwire.yaml:3:17: config.variable: found no variable `{name}`, expected it in the environment "
        "or in `.env` beside this file"
    ]


@pytest.mark.parametrize("text", ["${", "${}", "${a.b}", "${A:?why}", "${A", "${1}"])
def test_an_invalid_variable_is_refused(refused, text):
    (said,) = refused(f'proxy: {{listen: "{text}"}}', environ={"A": "1"})
    assert "found `${` without a variable's name" in said


def test_every_unset_variable_is_reported_once(refused):
    said = refused("advanced: {seed: '${A}', repeat: '${B} ${C} ${B}'}")
    assert [line.split("`")[1] for line in said] == ["A", "B", "C"]


def test_in_flakestorms_places_a_bare_name_is_one_too(config):
    agent = "agent: {endpoint: 'http://$HOST/${PATH_}', headers: {X: '$$A $A'}, query_params: {q: $A}}\n"
    found = config("", base=agent + HTTP, environ={"HOST": "h:1", "PATH_": "p", "A": "one"}).agent
    assert (found.endpoint, found.headers, found.query_params) == (
        "http://h:1/p",
        {"X": "$A one"},
        {"q": "one"},
    )


def test_a_bare_name_that_is_not_set_is_named_there(refused):
    (said,) = refused("", base="agent: {endpoint: http://$HOST/}\n" + HTTP)
    assert "found no variable `HOST`" in said


def test_numbers_and_booleans_may_come_from_variables(config):
    text = (
        "advanced: {repeat: '${N}', seed: '${M:-7}'}\nproxy: {mock: '${YES}'}\nmodel: {temperature: '${T}'}"
    )
    found = config(text, environ={"N": "3", "YES": "true", "T": "0.5"})
    assert (found.advanced.repeat, found.advanced.seed, found.proxy.mock) == (3, 7, True)
    assert found.model.temperature == 0.5


def test_a_number_that_is_none_is_reported_with_the_variables_name(refused):
    (said,) = refused("advanced: {repeat: '${N}'}", environ={"N": "hunter2hunter2"})
    assert said.endswith("found `${N}` for `advanced.repeat`, expected an integer from 1 to 1000")


def test_a_text_of_digits_stays_text_where_text_is_wanted(config):
    assert prompt(config, "${N}", N="42").prompts[0].text == "42"


def test_dotenv_fills_in_what_the_environment_lacks_and_never_overrides(config, tmp_path):
    (tmp_path / ".env").write_text("A=file\nB=file\n")
    assert prompt(config, "${A} ${B}", A="real").prompts[0].text == "real file"


def test_a_strange_line_of_dotenv_is_a_warning(config, tmp_path):
    (tmp_path / ".env").write_text("what\n")
    assert config("").warnings == (f"{tmp_path}/.env:1: this line is not `NAME=value` and is ignored",)


def test_what_the_unused_model_asks_of_the_environment_is_not_needed(config, refused):
    text = "model: {provider: openai, api_key: '${KEY}'}\n"
    assert config(text).model.api_key is None
    assert "`KEY`" in refused(text + "mutations: {engine: model}")[0]


def test_a_value_is_never_shown(refused, warned):
    secret = "correct-horse-battery"
    lines = [
        "version: '${S}'",
        "advanced: {repeat: 'x${S}y'}",
        "invariants: [{type: '${S}'}, {type: regex, pattern: '(${S}'}]",
        "golden_prompts: [{prompt: a, id: '${S} ${S} ${S} ${S}'}]",
        "contract: {name: x, invariants: [completes], chaos_matrix: [{name: a, profile: '${S}'}]}",
        "mutations: {types: ['${S}']}",
        "replays: {sessions: [{file: '${S}'}]}",
        "scoring: {mutation: '${S}'}",
    ]
    base = "agent: {endpoint: '${S}'}\n"
    said = refused("\n".join(lines), base=base, environ={"S": secret})
    assert len(said) >= 9
    assert not [line for line in said if "horse" in line or "correct" in line]


def test_a_cut_value_is_hidden_too():
    hidden = Hidden()
    hidden.hide("0123456789", "N")
    assert hidden.mask("found `ab0123…`") == "found `ab${N}…`"
    assert hidden.mask("found `0123456789`") == "found `${N}`"
    assert hidden.mask("found `012…`") == "found `012…`"
    hidden.hide("abc", "SHORT")
    assert hidden.mask("abc") == "abc"


def test_variables_cannot_fill_the_memory(config):
    big = "x" * 100_000
    text = "golden_prompts: [" + ", ".join(["'${A}'"] * 60) + "]"
    with pytest.raises(ConfigError, match=f"more than {MAX_FILLED} characters"):
        config(text, base="agent: {command: [a, '{prompt}']}\n", environ={"A": big})
