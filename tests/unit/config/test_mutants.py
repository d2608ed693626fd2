"""`faultwire.config.mutants`: which mutations, and by which model."""

from __future__ import annotations

import pytest

from faultwire.config.mutants import model
from faultwire.config.reading import Reading


def test_mutations(config):
    found = config(
        "mutations: {count: 3, types: [noise, custom], weights: {noise: 2}, "
        "custom_templates: {a: 'x {prompt}'}}"
    ).mutations
    assert (found.count, found.types, found.weights) == (3, ("noise", "custom"), {"noise": 2})
    assert (found.custom_templates, found.engine) == ({"a": "x {prompt}"}, "built-in")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mutations: {count: 51}", "found `51` for `mutations.count`, expected an integer from 1 to 50"),
        ("mutations: {types: []}", "found no `types`, expected at least one type of mutation"),
        ("mutations: {types: [noize]}", "found mutation `noize`, expected a known one"),
        ("mutations: {types: noise}", "found `noise` for `mutations.types`, expected a list of texts"),
        ("mutations: {weights: {noize: 1}}", "found mutation `noize`, expected a known one"),
        ("mutations: {weights: {noise: -1}}", "found `-1` for a weight, expected 0 or more"),
        ("mutations: {types: [custom], custom_templates: {a: b}}", "found no `{prompt}` in the template `a`"),
        (
            "mutations: {engine: magic}",
            "found `magic` for `mutations.engine`, expected `built-in` or `model`",
        ),
        ("model: {provider: openay}", "found `openay` for `model.provider`, expected `ollama`, `openai`"),
        ("model: {temperature: 3}", "found `3` for `model.temperature`, expected a number from 0 to 2"),
        (
            "mutations: {engine: model}\nmodel: {provider: openai, name: m}",
            "missing_key: found no `api_key` in `model`, expected one for `openai`",
        ),
    ],
)
def test_what_is_refused(refused, text, said):
    (found,) = refused(text)
    assert said in found


def test_every_type_that_is_unknown_is_reported_whatever_else_is_wrong(refused):
    said = refused("mutations: {count: 0, types: [a1, noise, b2], weights: {c3: 1}}")
    assert len(said) == 4


def test_warnings(warned):
    assert warned("mutations: {types: [custom], cuont: 3}") == [
        "faultwire.yaml:3:13: `custom` has no effect without `custom_templates`",
        "faultwire.yaml:3:30: `cuont` is not a key of `mutations` and is ignored; did you mean `count`?",
    ]
    (said,) = warned("mutations: {custom_templates: {a: 'x {prompt}'}}")
    assert said.endswith("`custom_templates` have no effect without `custom` among `types`")


def test_an_unused_model_is_reported(warned, config):
    text = "model: {provider: ' Ollama ', name: qwen, base_url: 'http://localhost:11434'}\n"
    assert warned(text) == [
        "faultwire.yaml:3:1: `model` is not used: mutations are made without one unless `mutations.engine` "
        "is `model`"
    ]
    assert warned(text + "mutations: {engine: model}") == []
    found = config(text).model
    assert (found.provider, found.name) == ("ollama", "qwen")


def test_the_model_engine_has_a_model_without_a_section(config, tmp_path):
    assert config("mutations: {engine: model}").model.provider == "ollama"
    assert config("").model is None
    assert model(None, True, Reading(tmp_path / "f")).name == "qwen3:8b"


def test_a_key_comes_from_a_variable_and_is_not_shown(config):
    text = "mutations: {engine: model}\nmodel: {provider: anthropic, name: m, api_key: '${KEY}'}"
    found = config(text, environ={"KEY": "hunter2hunter2"}).model
    assert found.api_key == "hunter2hunter2"
    assert "hunter2" not in repr(found)
