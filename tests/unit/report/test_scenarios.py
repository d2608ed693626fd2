from __future__ import annotations

import pytest
from tests.unit.report.test_unfired import exchange, line

from faultwire.contract.cells import Scenario
from faultwire.events import History
from faultwire.profile.load import parse
from faultwire.report.scenarios import scenario_part

PROFILE = parse(
    "faults: [{latency: {ms: 1}, id: a}, {latency: {ms: 2}, id: b}, {slow_tokens: {ms: 1}, id: c}]", "p"
)


def outcomes(*histories: History) -> dict[str, dict[str, object]]:
    part = scenario_part(Scenario("s", PROFILE), histories, lambda text: text.replace("secret", "—"))
    return {entry["id"]: entry["outcome"] for entry in part["entries"]}


def test_an_entry_has_how_often_and_where_it_fired_or_why_it_never_did() -> None:
    first = History("a", (exchange(line("a", "fired")), exchange(line("a", "fired"))))
    second = History("b", (exchange(line("a", "fired"), line("b", "skipped", "a secret")),))
    assert outcomes(first, second) == {
        "a": {"fired": 3, "invocations": 2, "unfired": []},
        "b": {"fired": 0, "invocations": 0, "unfired": ["a —"]},
        "c": {"fired": 0, "invocations": 0, "unfired": ["no exchange matched"]},
    }


@pytest.mark.parametrize(
    ("histories", "reason"),
    [
        ((), "no invocation of this scenario was finished"),
        ((History("a", ()),), "nothing came through the proxy"),
    ],
    ids=["unfinished", "idle"],
)
def test_without_traffic_that_is_the_reason(histories: tuple[History, ...], reason: str) -> None:
    assert outcomes(*histories)["a"]["unfired"] == [reason]
