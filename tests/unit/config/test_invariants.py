"""`faultwire.config.invariants`: our checks, Flakestorm's shape, short forms, and names."""

from __future__ import annotations

import pytest

from faultwire.checks._registry import registry
from faultwire.checks.contains import Contains
from faultwire.checks.excludes_pattern import ExcludesPattern
from faultwire.config.invariants import FLAKESTORM


@pytest.fixture
def checks(config):
    return lambda text: config(f"invariants: {text}").invariants


@pytest.mark.parametrize(
    "text",
    [
        "{type: contains, value: x}",
        "{type: contains_any, values: [a, b]}",
        "{type: regex, pattern: 'a+'}",
        "{type: excludes_pattern, patterns: [a]}",
        "{type: latency, max_ms: 100}",
        "{type: valid_json}",
        "{type: output_not_empty}",
        "{type: completes}",
        "{type: similarity, expected: x, threshold: 0.8}",
        "{type: behavior_unchanged, baseline: auto, similarity_threshold: 0.75}",
        "{type: excludes_pii}",
        "{type: refusal_check, dangerous_prompts: true}",
    ],
)
def test_flakestorms_twelve(checks, warned, text):
    extra = ", id: a, severity: critical, when: no_chaos, negate: true, description: d, probes: [p]"
    (found,) = checks(f"[{text[:-1]}{extra}{'}'}]")
    assert found.name in FLAKESTORM
    assert (found.id, found.severity, found.when, found.negate) == ("a", "critical", "no_chaos", True)
    assert (found.description, found.probes) == ("d", ("p",))
    empty = ", threshold: null, value: null, baseline: null" if "threshold" not in text else ""
    if "value:" not in text and "baseline" not in text:
        assert warned(f"invariants: [{text[:-1]}{empty}{'}'}]") == []


def test_keys_that_a_type_ignores_are_warnings(warned):
    text = "invariants: [{type: contains, value: x, threshold: 1, severty: high, prompt_filter: y}]"
    assert warned(text) == [
        "faultwire.yaml:3:41: `threshold` is ignored by contains",
        "faultwire.yaml:3:55: `severty` is not a key of `contains` and is ignored; did you mean `severity`?",
        "faultwire.yaml:3:70: `prompt_filter` is ignored in `contains`: give single prompts an `expect` "
        "in `golden_prompts`",
    ]


def test_our_own_are_strict(refused):
    assert refused("invariants: [{type: max_cost, max_usdd: 1}]")[-1].startswith(
        "faultwire.yaml:3:31: config.unknown_key: found key `max_usdd`, expected a key of `max_cost`"
    )


def test_short_forms(checks):
    found = checks("[no_retry_storm, {contains: Paris, severity: high}, {latency: 5}, {contains_any: a}]")
    assert [one.name for one in found] == ["no_retry_storm", "contains", "latency", "contains_any"]
    assert (found[1].value, found[1].severity, found[2].max_ms, found[3].values) == (
        "Paris",
        "high",
        5,
        ("a",),
    )
    (found,) = checks("[{regex: {pattern: a, id: r}}]")
    assert (found.pattern, found.id) == ("a", "r")
    assert [one.name for one in checks("[{valid_json: true}, {completes: }]")] == ["valid_json", "completes"]


def test_a_pattern_may_stand_alone(checks):
    (one, two) = checks("[{type: excludes_pattern, pattern: a}, {type: excludes_pattern, patterns: b}]")
    assert isinstance(one, ExcludesPattern)
    assert (one.patterns, two.patterns) == (("a",), ("b",))


def test_sometimes(checks):
    (one, two) = checks("[{sometimes: fallback_used}, {sometimes: {type: contains, value: x}, id: s}]")
    assert (one.label, two.label) == ("sometimes_fallback_used", "s")


def test_checks_that_would_be_called_alike_are_numbered(checks):
    text = "[{contains: a}, {contains: b}, {type: contains, value: c, id: 'contains#2'}, {contains: d}]"
    assert [one.label for one in checks(text)] == ["contains", "contains#3", "contains#2", "contains#4"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{type: contains, value: a}", "found a mapping for `invariants`, expected a list"),
        ("[{type: contain, value: a}]", "config.unknown_check: found check `contain`, expected a known one"),
        ("[contain]", "config.unknown_check: found check `contain`, expected a known one"),
        ("[{contain: a}]", "config.unknown_check: found check `contain`, expected a known one"),
        ("[{value: a}]", "found an invariant without a `type`, expected the name of a check"),
        ("[{severity: high}]", "found an invariant without a `type`, expected the name of a check"),
        ("[{type: 3}]", "found `3` for `type`, expected the name of a check"),
        ("[3]", "found `3` for an invariant, expected a mapping"),
        ("[[]]", "found a list for an invariant, expected a mapping"),
        ("[{type: contains}]", "found no `value` in `contains`, expected text"),
        ("[{type: contains, value: null}]", "found no `value` in `contains`, expected text"),
        ("[{type: latency, max_ms: 0}]", "found `0` for `latency.max_ms`, expected an integer from 1 up"),
        ("[{type: regex, pattern: '(?=a)'}]", "in `regex`: invalid pattern"),
        ("[{type: excludes_pattern, patterns: ['[']}]", "in `excludes_pattern`: invalid pattern `[`"),
        ("[{type: contains, value: a, severity: worst}]", "found `worst` for `contains.severity`, expected"),
        ("[{type: contains, value: a, when: never}]", "found `never` for `contains.when`, expected"),
        ("[{type: similarity, expected: a, threshold: 2}]", "found `2` for `similarity.threshold`, expected"),
        ("[{sometimes: contian}]", "found check `contian`, expected a known one (did you mean `contains`?)"),
        ("[{no_retry_storm: 3}]", "for `no_retry_storm`, expected a mapping of its settings"),
        ("[{id: a, type: completes}, {id: a, type: valid_json}]", "found the id `a` again, expected it once"),
    ],
)
def test_what_is_refused(refused, text, said):
    found = refused(f"invariants: {text}")
    assert len(found) == 1, found
    assert said in found[0]


def test_the_id_of_a_duplicate_is_where_it_is_reported(refused):
    text = "invariants:\n  - {id: a, type: completes}\n  - {type: valid_json, id: a}"
    assert refused(text)[0].startswith("faultwire.yaml:5:28: config.duplicate_id")


def test_contract_and_file_do_not_share_names(config):
    found = config(
        "invariants: [{contains: a}]\ncontract: {invariants: [{contains: b}], chaos_matrix: [{name: calm}]}"
    )
    assert found.invariants[0].label == found.contract.invariants[0].label == "contains"


def test_every_check_can_be_named_short(checks, refused):
    for name, kind in registry().items():
        must = [field for field, info in kind.model_fields.items() if info.is_required()]
        if not must:
            assert checks(f"[{name}]")[0].name == name
        else:
            assert "expected" in refused(f"invariants: [{name}]")[0]


def test_flakestorms_names_are_checks_of_ours():
    assert set(FLAKESTORM) <= set(registry())
    assert registry()["contains"] is Contains


def test_a_probe_without_words_is_refused_like_any_empty_prompt(refused, checks):
    said = refused("invariants: [{type: completes, probes: ['', a]}, {type: valid_json, probes: ''}]")
    assert [line.partition(": config.")[2] for line in said] == [
        "bad_value: found an empty text for `probes`, expected text"
    ] * 2
    assert refused("invariants: [{type: completes, probes: 3}]") != []
    (found,) = checks("[{type: completes, probes: a}]")
    assert found.probes == ("a",)
