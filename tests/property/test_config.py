"""Whatever is in a configuration: it loads, or says what is wrong with it in words that a terminal can show
and that hold no secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from faultwire.cli._template import TEMPLATE
from faultwire.config.load import KEYS, parse
from faultwire.config.model import Config
from faultwire.errors import ConfigError
from faultwire.profile.yaml import read

SHAPES = Path(__file__).parents[1] / "e2e" / "config" / "flakestorm"
VALUE = "correct-horse-battery-staple"
KEY = "sk-proj-" + "a1B2c3D4" * 6
ENVIRON = {"A": VALUE, "B": "7", "OPENAI_API_KEY": VALUE, "AGENT_PORT": "8000"}
FULL = """
version: "2.0"
agent: {type: openai, endpoint: "http://h/v1", model: m, start: {command: "a b", ready_url: "http://h/"}}
proxy: {capture: env, allow_hosts: [a], seed: 1, mock: true, reverse: {r: "http://h"}, redact: {pii: true}}
tools: {search: {url: "http://h/*"}, refund: {}}
golden_prompts: [a, {prompt: b, id: b, expect: {contains: x}}, {turns: [c, d], expect: [valid_json]}]
invariants: [no_retry_storm, {sometimes: fallback_used}, {type: tool_arguments, tool: t, schema: {}},
  {max_cost: {max_usd: 1}}]
contract:
  invariants: [{type: regex, pattern: "a+", id: r, probes: [p]}, {type: json_schema, schema: {type: object}}]
  chaos_matrix:
    - {name: a, profile: api_outage, faults: [{latency: {ms: 1}, on: {tool: search}, trigger: {first: 1}}]}
    - {name: b, tool_faults: [{tool: x, mode: error}], llm_faults: [{mode: empty}],
       context_attacks: {overflow: {}}}
chaos: {context_attacks: [{type: memory_poisoning, payload: x}]}
mutations: {count: 1, types: [noise, custom], weights: {noise: 1}, custom_templates: {a: "{prompt}"},
  engine: model}
model: {provider: openai, name: m, api_key: "${A}", temperature: 1}
replays: {sessions: [{id: a, input: b}], sources: [{type: langsmith, project: p, filter: {status: all}}]}
scoring: {weights: {mutation: 1, chaos: 0, contract: 0, replay: 0}}
advanced: {concurrency: 1, seed: 1, repeat: 1, retries: 1}
output: {format: html, path: x}
patterns: [{id: a, regex: b}]
"""
TEXTS = [TEMPLATE, FULL, *(path.read_text() for path in sorted(SHAPES.glob("*.yaml")))]
TREES = [read(text, "f").plain() for text in TEXTS]

HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3) | st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "${A}", "x${A}y", "${B}", "${NOPE}", "${", "${A:-b}", "$A", "*", "../..", "/", "a/b.yaml", "\0",
         "\x1b[31m", "\u202e", "x" * 300, "{prompt}", "(", "(?=a)", "http://", "http://[", "a:b", "- a", KEY,
         "api_outage", "contains", "sometimes", "{", "$.a[", "calm/../x", "\u0130", "'\""]
    ),
    st.text(max_size=8),
    st.just([]) | st.just({}) | st.just([[]]) | st.just({"a": None}),
)  # fmt: skip
WORDS = st.sampled_from(
    [*KEYS, "type", "name", "id", "expect", "prompt", "turns", "faults", "profile", "file"]
)


def spots(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        found += spots(value, (*path, key))
    return found


def changed(tree: Any, path: tuple[Any, ...], how: str, value: Any) -> Any:
    if not path:
        return value
    made = json.loads(json.dumps(tree))
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    if how == "set":
        holder[last] = value
    elif how == "drop":
        del holder[last]
    elif isinstance(holder, list):
        holder.append(holder[last])
    else:
        holder[str(value)[:20] or "x"] = holder[last]
    return made


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid configuration with one to four places in it changed."""
    tree = draw(st.sampled_from(TREES))
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(spots(tree)[1:] or [()]))
        how = draw(st.sampled_from(["set", "set", "drop", "copy"]))
        tree = changed(tree, path, how, draw(HOSTILE | WORDS))
        if not isinstance(tree, dict | list):
            break
    return tree


def understood(data: bytes, folder: Path) -> None:
    (folder / ".env").write_text(f"C={VALUE}\n")
    refused: ConfigError | None = None
    try:
        found = parse(data, folder / "f.yaml", environ=ENVIRON)
    except ConfigError as error:
        refused, said = error, error.render()
    else:
        assert isinstance(found, Config)
        said = "\n".join(found.warnings)
    if refused is not None:
        assert refused.exit_code == 2
        assert all(one.where is not None for one in (refused, *refused.also))
    assert said.replace("\n", "").isprintable() or not said
    assert VALUE not in said
    assert KEY not in said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config")


CASES = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def test_the_files_that_are_changed_are_fine(folder: Path) -> None:
    for text in (TEMPLATE, FULL):
        assert parse(text.encode(), folder / "f.yaml", environ=ENVIRON).prompts


def test_a_pattern_that_is_none_is_reported_without_its_escapes(folder: Path) -> None:
    tree = {
        "version": "2.0",
        "agent": {"command": ["x", "{prompt}"]},
        "golden_prompts": ["a"],
        "invariants": [{"type": "excludes_pattern", "patterns": "\x1b[31m"}],
    }
    understood(json.dumps(tree).encode(), folder)


@CASES
@given(tree=mutated())
def test_any_change_of_a_value(tree: Any, folder: Path) -> None:
    understood(json.dumps(tree).encode(), folder)


@CASES
@given(data=st.data())
def test_any_change_of_the_text(data: st.DataObject, folder: Path) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        new = data.draw(
            st.text(max_size=4)
            | st.sampled_from(
                [*"-:?,[]{}#&*!|>'\"%@` \n\t\\", "\n  ", "- ", ": ", "${A}", f" {KEY} ", "\x85", "\u2028"]
            )
        )
        text = text[:at] + new + text[at + cut :]
    understood(text.encode("utf-8", "surrogatepass"), folder)


@pytest.mark.nightly
@settings(CASES, max_examples=30_000)
@given(tree=mutated())
def test_any_change_of_a_value_for_long(tree: Any, folder: Path) -> None:
    understood(json.dumps(tree).encode(), folder)
