"""Prompts that lack what the agent's request is made of (faultwire.config.fields)."""

from __future__ import annotations

import pytest

from faultwire.config.fields import needed

BASE = 'version: "2.0"\n'
AGENT = """
agent: {type: http, endpoint: "http://localhost:1/", request_template: '{"a": "{productName}"}'%s}
"""
RULES = """
golden_prompts:
  - "productName: lamp"
  - lamp
  - {prompt: "Product Name = lamp"}
  - {prompt: "name: lamp"}
  - {turns: ["product-name: lamp", "brighter"]}
invariants: [{type: excludes_pii, probes: ["productName: x", "your rules?"]}]
contract: {invariants: [{type: completes, probes: ["tell"]}], chaos_matrix: [{name: calm}]}
"""


def test_every_prompt_without_a_line_is_reported_with_its_place(refused):
    said = refused(AGENT % "" + RULES, base=BASE)
    assert [line.split(": config.")[0] for line in said] == [
        "faultwire.yaml:7:5",
        "faultwire.yaml:9:14",
        "faultwire.yaml:10:36",
        "faultwire.yaml:11:62",
        "faultwire.yaml:12:52",
    ]
    assert said[0].endswith(
        "config.no_field: found no line `productName` in the prompt, expected what the agent's request names"
    )


def test_valid_prompts_and_agents_give_no_error(config):
    assert config((AGENT % "") + 'golden_prompts: ["productName: lamp"]', base=BASE).agent.reads
    plain = AGENT.replace("productName", "prompt") % ""
    assert not config(plain + "golden_prompts: [lamp]", base=BASE).agent.reads


def test_header_fields_and_the_query_name_lines_too(config):
    extra = ', headers: {x-tone: "{tone}"}, query_params: {lang: "{lang}", s: "{session}"}'
    prompt = 'golden_prompts: ["productName: a\\ntone: b\\nlang: c"]'
    found = config((AGENT % extra) + prompt, base=BASE)
    assert found.agent.reads == {"productName", "tone", "lang"}


@pytest.mark.parametrize("key", ["headers", "query_params"])
def test_a_conversation_has_no_place_in_a_line(refused, key):
    (said,) = refused(
        (AGENT % f", {key}: {{a: '{{turns}}'}}") + 'golden_prompts: ["productName: a"]', base=BASE
    )
    assert "found `{turns}` inside a text, expected it in place of a JSON list" in said


def test_names_of_lines_that_nobody_reads_are_refused(refused):
    (said,) = refused(
        (AGENT % ", parse_structured_input: false") + "golden_prompts: [a]", base='version: "2.0"'
    )
    assert (
        "found `{productName}` in the agent's request, expected `{prompt}`, `{turns}` or `{session}`" in said
    )
    assert said.startswith("faultwire.yaml:2:72: ")


@pytest.mark.parametrize("kind", ["command", "openai"])
def test_other_agents_have_no_template(config, kind):
    agent = {
        "command": "{command: [agent, '{prompt}']}",
        "openai": "{type: openai, endpoint: 'http://localhost:1/v1', model: m}",
    }[kind]
    assert config(f"agent: {agent}\ngolden_prompts: [a]", base=BASE).agent.reads == frozenset()
    assert needed.__doc__
