"""`faultwire.config.schema`: what editors know of the file is what `load` takes."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from tests.unit.schema_places import place

from faultwire.checks._registry import registry
from faultwire.cli._template import TEMPLATE
from faultwire.config.load import KEYS, load
from faultwire.config.schema import schema
from faultwire.errors import ConfigError
from faultwire.faults._registry import registry as faults
from faultwire.profile.yaml import read

SHAPES = Path(__file__).parents[2] / "e2e" / "config" / "flakestorm"
SCHEMA = schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
BASE = "agent: {command: [a, '{prompt}']}\ngolden_prompts: [hi]\n"


def valid(text: str) -> bool:
    return VALIDATOR.is_valid(read(text, "f").plain())


def test_it_is_a_schema_of_every_section():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) == set(KEYS)


def test_it_knows_every_check_fault_and_reference():
    forms = SCHEMA["$defs"]["invariant"]["anyOf"]
    assert {form["properties"]["type"]["const"] for form in forms[2:]} == set(registry())
    assert set(registry()) < set(forms[1]["properties"])
    entries = SCHEMA["$defs"]["faults"]["items"]["anyOf"][1:]
    assert {entry["title"] for entry in entries} == set(faults())


def test_what_init_writes_is_valid():
    assert valid(TEMPLATE)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("first_v1", True),
        ("commented_v1", False),  # `skip_rules`: a warning for `load`, and an editor marks it
        ("refusing_v1", True),
        ("keywords_v1", True),
        ("langchain_v1", True),
        ("python_v1", False),  # `method` of a callable: the same
        ("research_v2", True),
    ],
)
def test_flakestorms_shapes_are_valid_where_nothing_in_them_is_pointless(name, fine):
    assert valid((SHAPES / f"{name}.yaml").read_text()) is fine


@pytest.mark.parametrize(
    "text",
    [
        "advanced: {repeat: '${N}', seed: '${S:-1}'}",
        "proxy: {mock: '${M}', capture: '${C}'}",
        "invariants: [no_retry_storm, {contains: a, severity: high}, {max_cost: {max_usd: 1}}]",
        "invariants: [{type: contains, value: a, threshold: null}, {type: excludes_pattern, pattern: a}]",
        "invariants: [{sometimes: fallback_used}, {sometimes: {type: valid_json}, id: s}]",
        "scoring: {weights: {mutation: 1, chaos: 0, contract: 0, replay: 0}}",
        "chaos: {faults: [{latency: {ms: 1}}], tool_faults: [{tool: a, mode: error}]}",
        "contract: {invariants: [completes], chaos_matrix: [{name: a, profile: [b, c]}]}",
        "replays: {sessions: [a.yaml, {id: a, input: b}], sources: [{type: langsmith, project: p}]}",
        "tools: {a: , b: {url: 'http://h/*'}}\nmodel:\nmutations: {weights: {noise: 2}}",
        "version: 2.0",
        "invariants: [{type: latency, max_ms: '${MS}'}]",
    ],
)
def test_what_load_takes_is_valid(text):
    assert valid(BASE + text)


@pytest.mark.parametrize(
    "text",
    [
        "advanced: {sede: 1}",
        "advanced: {concurrency: 0}",
        "proxy: {moc: true}",
        "goldn: 1",
        "version: '3'",
        "invariants: [no_retry_strom]",
        "invariants: [{type: contians, value: a}]",
        "invariants: [{type: contains}]",
        "mutations: {types: [noize]}",
        "mutations: {count: 51}",
        "contract: {invariants: [completes], chaos_matrix: []}",
        "contract: {invariants: [completes], chaos_matrix: [{profile: a}]}",
        "chaos: {faults: [{latenc: {ms: 1}}]}",
        "output: {format: pdf}",
    ],
)
def test_what_load_refuses_is_not(text, refused, warned):
    assert not valid(BASE + text)
    assert refused(text) if "sede" not in text and "goldn" not in text else warned(text)


@pytest.mark.parametrize("agent", ["{type: python}", "{type: comand}", "{command: [a], timeuot: 1}", "{}"])
def test_invalid_agents(agent):
    assert not valid(f"agent: {agent}\ngolden_prompts: [a]")


BROKEN = {
    "a key": ("proxy:\n  capture: env\n  moc: true", 7),
    "a number": ("advanced:\n  seed: 1\n  concurrency: 0", 7),
    "a version": ("version: '3'", 5),
    "a check by name": ("invariants:\n  - completes\n  - no_retry_strom", 7),
    "a check": ("invariants:\n  - completes\n  - {type: contians, value: a}", 7),
    "a check without what it needs": (
        "invariants:\n  - completes\n  - type: contains\n    severity: high",
        7,
    ),
    "a mutation": ("mutations:\n  count: 2\n  types: [noize]", 7),
    "too many": ("mutations:\n  types: [noise]\n  count: 51", 7),
    "a fault": ("chaos:\n  faults:\n    - latency: {ms: 1}\n    - latenc: {ms: 1}", 8),
    "a setting": ("chaos:\n  faults:\n    - latency: {ms: 1}\n    - latency:\n        ms: -1", 9),
    "a format": ("output:\n  format: pdf", 6),
    "a severity": ("contract:\n  invariants:\n    - type: completes\n      severity: grave", 8),
}
PLACED = "agent:\n  command: [a, '{prompt}']\ngolden_prompts:\n  - hi\n"


@pytest.mark.parametrize("name", BROKEN)
def test_an_editor_marks_the_line_that_load_names(name, tmp_path):
    text, line = BROKEN[name]
    path = tmp_path / "faultwire.yaml"
    path.write_text(PLACED + text)
    with pytest.raises(ConfigError) as refused:
        load(path, environ={})
    assert line in [one.where.line for one in (refused.value, *refused.value.also)]
    assert place(VALIDATOR, read(path.read_text(), "f")) == line


def test_of_a_file_that_loads_no_line_is_marked(tmp_path):
    path = tmp_path / "faultwire.yaml"
    path.write_text(PLACED + "proxy:\n  capture: env\n")
    load(path, environ={})
    assert place(VALIDATOR, read(path.read_text(), "f")) is None


def test_control_a_schema_that_knows_less_marks_nothing(tmp_path):
    loose = {**SCHEMA, "properties": {**SCHEMA["properties"], "proxy": True}}
    text = PLACED + BROKEN["a key"][0]
    assert place(jsonschema.Draft202012Validator(loose), read(text, "f")) is None


REPOSITORY = Path(__file__).parents[3]
SHIPPED = sorted(
    path
    for folder in ("replays", "docs", "tests/e2e/config/flakestorm", "addons")
    for path in (REPOSITORY / folder).rglob("faultwire.yaml")
)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_every_shipped_configuration_is_valid(path):
    assert valid(path.read_text("utf-8"))


def test_there_are_shipped_configurations():
    assert SHIPPED
