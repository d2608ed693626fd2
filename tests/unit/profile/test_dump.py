# ruff: noqa: E501 - each message stands in one line of its table
from __future__ import annotations

import json

import pytest

from faultwire.errors import ProfileError
from faultwire.profile.dump import marked
from faultwire.profile.find import available
from faultwire.profile.load import dump, from_dump, inline, load, merge, parse
from faultwire.profile.model import Profile, ToolSite

FULL = parse(
    """
tools: {search: {url: [a*, b*]}}
faults:
  - reset: {at: {after_bytes: 3}}
    on: {kind: llm, model: [a, b], status: [200], header: {x: y}, stream: true}
    trigger: {probability: 0.25, attempts: 2}
  - status: {code: 503, headers: {a: b}, call_upstream: true}
  - latency: {distribution: lognormal, ms: 5, p99_ms: 50.5}
  - latency: {ms: 5}
""",
    "full.yaml",
)


@pytest.mark.parametrize(
    "profile", [FULL, *(load(place.path) for place in available())], ids=lambda p: p.name
)
def test_a_dump_is_json_and_reads_back_as_the_same(profile):
    assert from_dump(json.loads(json.dumps(dump(profile)))) == profile


def test_a_dump_says_only_what_is_not_as_by_default():
    assert dump(FULL)["entries"][3] == {
        "id": "latency#2",
        "fault": {"name": "latency", "settings": {"ms": 5.0}},
        "on": {},
        "trigger": {},
        "line": 9,
    }


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"name": 5}, "bad_value", "found a bad value at `name` (string_type), expected a dumped profile"),
        ({"extra": 5}, "bad_value", "found a bad value at `extra` (extra_forbidden), expected a dumped profile"),
        ({"entries": [{"id": "x", "fault": {"name": "nope"}}]}, "unknown_fault", "found fault `nope`, expected a known one"),
        ({"entries": [{"id": "x", "fault": {"name": "status"}}]}, "bad_value", "found a bad value at `code` (missing), expected a dumped profile"),
        ({"name": object()}, "bad_value", "found values that are not JSON, expected a dumped profile"),
    ],
)  # fmt: skip
def test_what_is_no_dump_is_refused(change, code, message):
    with pytest.raises(ProfileError) as caught:
        from_dump(dump(FULL) | change)
    assert (caught.value.code, caught.value.message) == (f"profile.{code}", message)


def ids(profile: Profile) -> list[str]:
    return [entry.id for entry in profile.entries]


def test_one_profile_merges_to_itself():
    assert merge([FULL]) is FULL


def test_none_is_an_empty_one():
    assert merge([]) == Profile(name="none")


def test_several_follow_each_other_and_ids_stay_unique():
    one, two = inline("latency: {ms: 1, id: mine}"), inline("latency: {ms: 2}")
    merged = merge([FULL, one, two, one])
    assert merged.name == "full+inline+inline+inline"
    assert ids(merged) == ["reset", "status", "latency", "latency#2", "mine", "latency#4", "mine#2"]
    assert ids(merge([FULL, two]))[: len(FULL.entries)] == ids(FULL), "what came first keeps its ids"


def test_the_digest_of_a_merged_profile_is_of_its_content():
    one, two = inline("latency: {ms: 1}"), inline("rate_limit")
    assert merge([one, two]).digest == merge([one, two]).digest != ""
    assert merge([one, two]).digest != merge([two, one]).digest
    assert merge([one, two]).digest != merge([one, inline("rate_limit: {retry_after_s: 9}")]).digest


def test_a_tools_sites_are_united():
    one = Profile(name="one", tools={"s": ToolSite(url="a"), "t": ToolSite(url="x")})
    two = Profile(name="two", tools={"s": ToolSite(url=("b", "a"))})
    assert merge([one, two]).tools == {"s": ToolSite(url=("a", "b")), "t": ToolSite(url="x")}
    assert merge([one, one]).tools == one.tools


def test_a_marked_profile_reads_back_as_marked():
    assert not any("mark" in entry for entry in dump(FULL)["entries"])
    found = from_dump(dump(marked(FULL)))
    assert [entry.mark for entry in found.entries] == [True] * len(FULL.entries)
    assert found.digest == FULL.digest
