"""The schema and the loader agree, on every profile of ours and on every fault."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.schema_places import place

from faultwire.errors import ProfileError
from faultwire.faults._describe import describe
from faultwire.faults._registry import BUILTIN
from faultwire.profile.find import builtin
from faultwire.profile.load import parse
from faultwire.profile.schema import schema
from faultwire.profile.yaml import read

SCHEMA = schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def accepted(text: str) -> bool:
    return VALIDATOR.is_valid(read(text, "p.yaml").plain())


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    refs = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA)))
    assert refs <= set(SCHEMA["$defs"])


@pytest.mark.parametrize("path", sorted(builtin().glob("*.yaml")), ids=lambda path: path.stem)
def test_every_profile_of_ours_fits(path: Path) -> None:
    assert accepted(path.read_text("utf-8"))


@pytest.mark.parametrize("fault", BUILTIN, ids=lambda fault: fault.name)
def test_every_example_fits_and_loads(fault: Any) -> None:
    example = describe(fault).sections["Example"]
    assert parse(example, "example.yaml").entries[0].fault.name == fault.name
    assert accepted(example)


@pytest.mark.parametrize(
    "text",
    [
        "faults: [{latncy: {ms: 1}}]",
        "faults: [{latency: {}}]",
        "faults: [latency]",
        "faults: [{latency: {ms: -1}}]",
        "faults: [{latency: {ms: 1}, triger: {}}]",
        "faults: [{latency: {ms: 1}, trigger: {probability: 2}}]",
        "faults: [{latency: {ms: 1}, reset: {}}]",
        "name: x",
        "faults: []\nchaos: {}",
        "chaos: {tool_fault: []}",
    ],
)
def test_what_does_not_load_does_not_fit(text: str) -> None:
    assert not accepted(text)
    with pytest.raises(Exception, match="profile"):
        parse(text, "bad.yaml")


BROKEN = {
    "a fault": ("faults:\n  - latency: {ms: 1}\n  - latncy: {ms: 1}", 3),
    "a fault without what it needs": ("faults:\n  - status: {code: 503}\n  - latency: {}", 3),
    "a fault by name that needs a setting": ("faults:\n  - status: {code: 503}\n  - latency", 3),
    "a setting": ("faults:\n  - status: {code: 503}\n  - latency:\n      ms: -1", 4),
    "a key of an entry": ("faults:\n  - latency: {ms: 1}\n    on: {kind: llm}\n    triger: {}", 4),
    "a trigger": ("faults:\n  - latency: {ms: 1}\n    trigger:\n      probability: 2", 4),
    "a part of Flakestorm's shape": ("description: x\nchaos:\n  tool_fault: []", 3),
    "a kind": ("faults:\n  - latency: {ms: 1}\n    on:\n      kind: lllm", 4),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_editor_marks_the_line_that_load_names(name: str) -> None:
    text, line = BROKEN[name]
    with pytest.raises(ProfileError) as refused:
        parse(text, "bad.yaml")
    where = [one.where.line for one in (refused.value, *refused.value.also) if one.where is not None]
    assert line in where
    assert place(VALIDATOR, read(text, "p.yaml")) == line


def test_of_a_profile_that_loads_no_line_is_marked() -> None:
    assert place(VALIDATOR, read("faults:\n  - latency: {ms: 1}\n", "p.yaml")) is None
