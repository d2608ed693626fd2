"""Flakestorm's shape: what becomes of it, with every place and every warning."""

# ruff: noqa: E501 - each message stands in one line of its table

from __future__ import annotations

from typing import Any

import pytest

from faultwire.errors import ProfileError
from faultwire.profile import flakestorm
from faultwire.profile.load import parse


def told(chaos: str) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    return [
        (
            e.fault.name,
            e.fault.model_dump(mode="json", exclude_defaults=True),
            e.on.model_dump(exclude_defaults=True),
            e.trigger.model_dump(exclude_defaults=True),
        )
        for e in parse(f"chaos: {chaos}", "f.yaml").entries
    ]


LLM = {"kind": "llm"}


@pytest.mark.parametrize(
    ("chaos", "expected"),
    [
        ("{tool_faults: [{tool: '*', mode: error}]}", ("tool_error", {"code": 503}, {}, {})),
        (
            "{tool_faults: [{tool: search, mode: error, error_code: 429, after_calls: 2}]}",
            ("tool_error", {"code": 429}, {"tool": "search"}, {"after_calls": 2}),
        ),
        (
            "{tool_faults: [{tool: a, mode: error, message: broken, error_code: 500}]}",
            ("tool_error", {"message": "broken"}, {"tool": "a"}, {}),
        ),
        ("{tool_faults: [{tool: '*', mode: malformed}]}", ("tool_malformed", {}, {}, {})),
        ("{tool_faults: [{tool: '*', mode: slow, delay_ms: 7}]}", ("tool_slow", {"ms": 7}, {}, {})),
        ("{tool_faults: [{tool: '*', mode: timeout}]}", ("tool_timeout", {"wait_ms": 30000}, {}, {})),
        (
            "{tool_faults: [{tool: '*', mode: malicious_response, payload: obey, probability: 0.5}]}",
            ("tool_malicious", {"payload": "obey"}, {}, {"probability": 0.5}),
        ),
        (
            "{tool_faults: [{tool: a, mode: error, match_url: 'https://a/*'}]}",
            ("status", {"code": 503}, {"url": "https://a/*"}, {}),
        ),
        (
            "{tool_faults: [{tool: a, mode: slow, match_url: 'https://a/*'}]}",
            ("latency", {"ms": 5000}, {"url": "https://a/*"}, {}),
        ),
        (
            "{tool_faults: [{tool: a, mode: timeout, match_url: 'https://a/*', delay_ms: 9}]}",
            ("hang", {"for_ms": 9}, {"url": "https://a/*"}, {}),
        ),
        (
            "{tool_faults: [{tool: a, mode: malformed, match_url: 'https://a/*'}]}",
            ("malformed_body", {}, {"url": "https://a/*"}, {}),
        ),
        ("{llm_faults: [{mode: timeout, delay_ms: 15}]}", ("hang", {"for_ms": 15}, LLM, {})),
        ("{llm_faults: [{mode: truncated_response}]}", ("truncate_response", {"max_tokens": 10}, LLM, {})),
        ("{llm_faults: [{mode: rate_limit, after_calls: 5}]}", ("rate_limit", {}, LLM, {"after_calls": 5})),
        ("{llm_faults: [{mode: empty}]}", ("empty_response", {}, LLM, {})),
        ("{llm_faults: [{mode: garbage}]}", ("garbage", {}, LLM, {})),
        (
            "{llm_faults: [{mode: response_drift, drift_type: verbosity_shift, factor: 3.0}]}",
            ("drift", {"type": "verbosity_shift", "factor": 3.0}, LLM, {}),
        ),
        (
            "{llm_faults: [{mode: response_drift, severity: subtle, factor: 3.0}]}",
            ("drift", {"type": "json_field_rename", "severity": "subtle"}, LLM, {}),
        ),
        (
            "{context_attacks: [{type: overflow, inject_tokens: 100, trigger_probability: 0.2}]}",
            ("overflow", {"inject_tokens": 100}, LLM, {"probability": 0.2}),
        ),
        (
            "{context_attacks: {memory_poisoning: {payload: obey, strategy: replace}}}",
            ("memory_poisoning", {"payload": "obey", "strategy": "replace"}, LLM, {}),
        ),
        ("{context_attacks: {memory_poisoning: }}", ("memory_poisoning", {"strategy": "append"}, LLM, {})),
        ("{context_attacks: {conflicting_context: true}}", ("conflicting_context", {}, LLM, {})),
        (
            "{context_attacks: {indirect_injection: {payloads: [a, b]}}}",
            ("indirect_injection", {"payloads": ["a", "b"]}, {}, {}),
        ),
    ],
)
def test_every_mode(chaos: str, expected: tuple[Any, ...]) -> None:
    assert told(chaos) == [expected]


@pytest.mark.parametrize(
    "chaos",
    [
        "",
        "{}",
        "{tool_faults: [], llm_faults: , context_attacks: {}}",
        "{context_attacks: [{type: overflow, enabled: false}]}",
        "{context_attacks: {overflow: {enabled: false}, memory_poisoning: false}}",
    ],
)
def test_nothing_and_what_is_switched_off(chaos: str) -> None:
    assert told(chaos) == []


def test_parts_keep_their_order_and_their_lines() -> None:
    text = (
        "name: mine\nchaos:\n  llm_faults:\n    - mode: garbage\n  tool_faults:\n"
        "    - tool: '*'\n      mode: error\n    - tool: a\n      mode: slow\n"
    )
    profile = parse(text, "f.yaml")
    assert [(e.id, e.line) for e in profile.entries] == [("tool_error", 6), ("tool_slow", 8), ("garbage", 4)]
    assert profile.name == "mine"
    assert profile.warnings == ()


@pytest.mark.parametrize(
    ("chaos", "warning"),
    [
        (
            "{tool_faults: [{tool: a, mode: error, match_url: 'https://a'}]}",
            "f.yaml:1:46: `match_url` matches the tool's own address; Flakestorm compared it with the agent's",
        ),
        (
            "{tool_faults: [{tool: a, mode: malicious_response, match_url: 'https://a'}]}",
            "f.yaml:1:59: `match_url` is not used: the payload is in the tool result that the model reads",
        ),
        (
            "{context_attacks: [{type: overflow, inject_at: x}]}",
            "f.yaml:1:44: `inject_at` is not used; Flakestorm never used it either",
        ),
        (
            "{context_attacks: [{type: overflow, payload: x}]}",
            "f.yaml:1:44: `payload` is ignored by `overflow`",
        ),
    ],
)
def test_what_it_never_meant_is_reported(chaos: str, warning: str) -> None:
    assert parse(f"chaos: {chaos}", "f.yaml").warnings == (warning,)


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("chaos: 5", "1:8", "found `5` for `chaos`, expected a mapping", None),
        ("chaos: {tool_fault: []}", "1:9", "found key `tool_fault`, expected a key of `chaos`", "did you mean `tool_faults`?"),
        ("chaos: {tool_faults: {}}", "1:22", "found a mapping for `tool_faults`, expected a list", None),
        ("chaos: {tool_faults: [{tool: a, mode: eror}]}", "1:39", "found `eror` for `mode`, expected one of timeout, error, malformed, slow, malicious_response", "did you mean `error`?"),
        ("chaos: {tool_faults: [{mode: error}]}", "1:23", "found no `tool`, expected a tool's name or `*`", None),
        ("chaos: {tool_faults: [{tool: a, mode: error, typo: 1}]}", "1:46", "found key `typo`, expected a key of a tool fault", "did you mean `tool`?"),
        ("chaos: {tool_faults: [{tool: a, mode: error, error_code: 9}]}", "1:58", "found `9` for `tool_error.code`, expected an integer from 400 to 599", None),
        ("chaos: {llm_faults: [{mode: garbage, probability: 2}]}", "1:51", "found `2` for `trigger.probability`, expected a number from 0 to 1", None),
        ("chaos: {context_attacks: {overflw: {}}}", "1:27", "found `overflw` for `type`, expected one of overflow, conflicting_context, injection_via_context, indirect_injection, memory_poisoning", "did you mean `overflow`?"),
        ("chaos: {context_attacks: {overflow: 5}}", "1:37", "found `5` for `overflow`, expected a mapping", None),
        ("chaos: {context_attacks: [{type: overflow, enabled: 5}]}", "1:53", "found `5` for `enabled`, expected `true` or `false`", None),
        ("faults: []\nchaos: {}", "2:1", "found `chaos` beside `faults`, expected one of them", None),
    ],
)  # fmt: skip
def test_every_error_names_its_place(text: str, place: str, message: str, hint: str | None) -> None:
    with pytest.raises(ProfileError) as caught:
        parse(text, "f.yaml")
    error = caught.value
    assert (str(error.where), error.message, error.hint) == (f"f.yaml:{place}", message, hint)


@pytest.mark.parametrize("part", flakestorm.PARTS)
def test_each_part_may_be_missing_or_empty(part: str) -> None:
    assert told(f"{{{part}: }}") == []
