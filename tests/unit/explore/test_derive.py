from __future__ import annotations

import pytest

from faultwire.explore.derive import derived
from faultwire.explore.space import Call, Point
from faultwire.profile.load import parse
from faultwire.trials.execute import NEVER
from faultwire.trials.model import Pin

PROFILE = parse("faults: [{status: {code: 503}, on: {kind: tool}}, {latency: {ms: 5}}]", "p.yaml")
WHERE = Point(Call("GET tools.example:8080/a*b", 2), "status")
RESULT = Point(Call("result of look*up", 1), "status")
PLACES = {WHERE.call.place: 1, RESULT.call.place: 2}


def test_an_entry_of_its_own_beside_those_that_watch() -> None:
    profile, pins = derived(PROFILE, [WHERE], {WHERE: 3}, PLACES)
    entry = profile.entries[0]
    assert (entry.id, entry.on.method, entry.on.host, entry.on.path) == (
        "explore-1-status", "GET", "tools.example:8080", "/a?b",
    )  # fmt: skip
    assert entry.on.kind == "tool"
    assert [one.id for one in profile.entries[1:]] == ["status", "latency"]
    assert pins == {Pin("explore-1-status", 3), Pin("status", NEVER), Pin("latency", NEVER)}


def test_a_tools_result() -> None:
    profile, _ = derived(PROFILE, [RESULT], {RESULT: 1}, PLACES)
    assert (profile.entries[0].on.tool, profile.entries[0].on.site) == ("look?up", "result")


def test_nothing_fires_without_points_and_unseen_ones_are_refused() -> None:
    profile, pins = derived(PROFILE, [], {}, {})
    assert [one.id for one in profile.entries] == ["status", "latency"]
    assert {pin.call for pin in pins} == {NEVER}
    with pytest.raises(KeyError):
        derived(PROFILE, [WHERE], {}, PLACES)
