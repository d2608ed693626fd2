from __future__ import annotations

import pytest

from faultwire.errors import ProfileError
from faultwire.profile.across import joined
from faultwire.profile.load import inline, parse
from faultwire.profile.model import Profile

OUTAGE = "faults:\n- status: {code: 503}\n"
STREAM = "faults:\n- latency: {ms: 1}\n- cut_stream: {after_events: 3}\n"


def profile(text: str, name: str) -> Profile:
    return parse(text, f"{name}.yaml")


def test_an_entry_that_one_of_another_profile_leaves_nothing_is_found_as_within_one() -> None:
    with pytest.raises(ProfileError) as caught:
        joined([profile(STREAM, "stream"), profile(OUTAGE, "outage")])
    assert caught.value.code == "profile.never_fires"
    assert str(caught.value.where) == "stream.yaml:3"
    assert "`cut_stream` (stream.yaml:3) behind `status` (outage.yaml:2)" in caught.value.message
    with pytest.raises(ProfileError, match="behind"):
        joined([inline("status: {code: 503}"), inline("cut_stream: {after_events: 3}")])


@pytest.mark.parametrize(
    "other",
    [
        "faults: [{status: {code: 503}, trigger: {after_calls: 2}}]",
        "faults: [{status: {code: 503}, on: {model: gpt-4o}}]",
        "faults: [{latency: {ms: 5}}]",
    ],
)
def test_entries_that_both_may_fire_go_together(other: str) -> None:
    assert len(joined([profile(STREAM, "stream"), profile(other, "other")]).entries) == 3


def test_one_profile_is_itself() -> None:
    one = profile(STREAM, "stream")
    assert joined([one]) is one
    assert joined([]).entries == ()


def test_two_agents_of_one_name_are_a_conflict_unless_they_are_the_same() -> None:
    def with_agent(url: str, name: str) -> Profile:
        text = f"agents: {{writer: {{url: '{url}'}}}}\nfaults: [{{agent_down: {{}}, on: {{agent: writer}}}}]"
        return profile(text, name)

    here, there = with_agent("https://a.example/*", "a"), with_agent("https://b.example/*", "b")
    with pytest.raises(ProfileError, match=r"agent `writer` in `b.yaml` and, .* in `a.yaml`"):
        joined([here, there])
    later = "agents: {writer: {url: 'https://a.example/*'}}\nfaults: [{latency: {ms: 1}}]"
    assert set(joined([here, profile(later, "c")]).agents) == {"writer"}
