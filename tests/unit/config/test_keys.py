"""`faultwire.config.keys`: no literal key in a file, and none in what is said of it."""

from __future__ import annotations

import pytest

from faultwire.config.keys import HINT

OPENAI = "sk-proj-" + "a1B2c3D4" * 6
HTTP = "golden_prompts: [hi]\nagent: {endpoint: 'http://h/', headers: {%s}}\n"


@pytest.mark.parametrize(
    "text",
    [
        f"golden_prompts: ['use {OPENAI}']",
        f"# {OPENAI}\n",
        f"model: {{name: {OPENAI}}}",
        f"whatever: [{OPENAI}]",
        f"a: [\n{OPENAI}",
    ],
)
def test_the_form_of_a_key_is_refused_wherever_it_stands(refused, text):
    said = refused(text, base="")
    assert any("config.literal_key: found a literal key (openai-project-key)" in line for line in said)
    assert OPENAI[:12] not in "\n".join(said)


def test_the_place_is_that_of_the_key(refused):
    (said,) = refused(f"# über {OPENAI}")
    assert said.startswith("faultwire.yaml:3:8: ")


@pytest.mark.parametrize(
    "header",
    [
        "Authorization: Bearer abcdef",
        "authorization: hunter2",
        "X-Api-Key: hunter2",
        "X-Api-Key: '${K:-hunter2}'",
        "X-Api-Key: 'a${K}'",
        "Cookie: a=1",
        "my-token: hunter2",
    ],
)
def test_a_literal_value_of_a_field_that_names_a_key(refused, header):
    (said,) = refused("", base=HTTP % header, environ={"K": "x"})
    assert "config.literal_key: found a literal value of `" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "header",
    [
        "Authorization: 'Bearer ${K}'",
        "Authorization: Bearer $K",
        "X-Api-Key: '${K}'",
        "X-Api-Key: '${K:-}'",
        "X-Forwarded-For: 10.0.0.1",
        "Content-Type: application/json",
        "OpenAI-Organization: org",
    ],
)
def test_variables_and_other_fields_are_fine(config, header):
    assert config("", base=HTTP % header, environ={"K": "hunter2hunter2"}).agent.headers


@pytest.mark.parametrize(
    "text",
    [
        "model: {api_key: hunter2}",
        "agent: {type: openai, api_key: any, endpoint: 'http://h/', model: m}",
        "agent: {command: [a, '{prompt}'], env: {MY_API_KEY: hunter2}}",
        "agent: {endpoint: 'http://h/', start: {command: [a], ready_url: 'http://h/', env: {TOKEN: x}}}",
        "agent: {endpoint: 'http://h/', query_params: {api_key: x}}",
    ],
)
def test_sections_that_hold_keys(refused, text):
    base = "" if text.startswith("agent") else "agent: {command: [a, '{prompt}']}\n"
    (said,) = refused(f"{text}\ngolden_prompts: [hi]", base=base)
    assert "config.literal_key" in said


def test_a_text_to_look_for_is_no_key(config):
    text = """
invariants: [{type: tool_arguments, tool: login, schema: {properties: {password: {const: x}}}}]
contract:
  invariants: [completes]
  chaos_matrix:
    - {name: a, faults: [{rate_limit: {}, on: {header: {authorization: "Bearer *"}}}]}
"""
    assert config(text).contract


def test_the_hint_states_what_to_do():
    assert "${NAME}" in HINT


def test_a_nul_reaches_no_program(refused):
    (said,) = refused("", base='agent: {command: ["a\\0b", "{prompt}"]}\ngolden_prompts: [hi]\n')
    assert "found a NUL character in `command`" in said
