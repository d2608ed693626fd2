from __future__ import annotations

import pytest

from faultwire.contract.cells import Scenario
from faultwire.events import History
from faultwire.profile.load import parse
from faultwire.report.scenarios import scenario_part
from tests.unit.report.test_unfired import exchange, line

PROFILE = parse("faults: [{latency: {ms: 1}}, {slow_tokens: {ms: 1}}, {status: {code: 503}}]", "p.yaml")


def outcomes(*histories: History) -> dict[str, dict[str, object]]:
    part = scenario_part(Scenario("s", PROFILE), histories, lambda text: text.replace("secret", "—"))
    return {entry["id"]: entry["outcome"] for entry in part["entries"]}


def test_an_entry_has_how_often_and_where_it_fired_or_why_it_never_did() -> None:
    first = History("a", (exchange(line("status", "fired")), exchange(line("status", "fired"))))
    second = History("b", (exchange(line("status", "fired"), line("latency", "skipped", "a secret")),))
    assert outcomes(first, second) == {
        "status": {"fired": 3, "invocations": 2, "unfired": []},
        "latency": {"fired": 0, "invocations": 0, "unfired": ["a —"]},
        "slow_tokens": {"fired": 0, "invocations": 0, "unfired": ["no exchange matched"]},
    }


@pytest.mark.parametrize("histories", [(), (History("a", ()),)])
def test_without_traffic_that_is_the_reason(histories: tuple[History, ...]) -> None:
    assert outcomes(*histories)["status"]["unfired"] == ["nothing came through the proxy"]
