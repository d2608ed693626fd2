from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.unit.lineage.conftest import Wire
from tests.unit.lineage.test_messages import PLAIN, said, socket

from faultwire.events import FaultFired, History
from faultwire.explore.observe import calls_of, edges_of, observe, place_of
from faultwire.explore.space import Call, Point


def line(key: str, n: int = 0, **about: Any) -> FaultFired:
    values = {"fault": "status", "id": "status", "site": "response", "outcome": "skipped",
              "reason": "call 1 is none of 9", "attempt": 0}  # fmt: skip
    return FaultFired(**{**values, "key": key, "n": n, **about})


def history(*lines: FaultFired, paths: tuple[str, ...] = ("/a?x=1", "/a?x=2")) -> History:
    wire = Wire()
    for at, path in enumerate(paths):
        wire.get(path, {"id": f"ORD-8812{at}"}, key=f"k{at}", faults=lines[at : at + 1])
    return History("s", tuple(wire.exchanges))


def test_calls_by_address_and_number_without_a_clients_own_retries() -> None:
    found = history()
    assert place_of(found.exchanges[0]) == "GET tools.example/a"
    assert list(calls_of(found).values()) == [Call("GET tools.example/a", 1), Call("GET tools.example/a", 2)]
    retried = replace(found.exchanges[1], key="k0", attempt=1)
    assert set(calls_of(History("s", (found.exchanges[0], retried))).values()) == {
        Call("GET tools.example/a", 1)
    }


def test_points_are_where_the_ledger_says_that_an_entry_could_have_acted() -> None:
    seen = observe(history(line("k0"), line("k1")), {"status"}, lineage=False)
    first, second = (Point(Call("GET tools.example/a", number), "status") for number in (1, 2))
    assert seen.points == {first: 1, second: 2}
    assert seen.edges == frozenset()
    other = observe(history(line("k0", id="explore-1-status"), line("k1")), {"status"}, lineage=False)
    assert other.points == {second: 1}, "the count is that of the calls which the entry matches"
    skipped = observe(history(line("k0", reason="tool `x` is met elsewhere")), {"status"}, lineage=False)
    assert skipped.points == {}


def test_a_result_is_a_place_of_its_own() -> None:
    seen = observe(history(line("r", site="result", subject="lookup")), {"status"}, lineage=True)
    result = Call("result of lookup", 1)
    assert seen.points == {Point(result, "status"): 1}
    assert (result, Call("GET tools.example/a", 1)) in seen.edges


def test_edges_between_calls() -> None:
    found = history(paths=("/a", "/b/ORD-88120"))
    calls = calls_of(found)
    assert edges_of(found, calls) == {(calls[1], calls[2])}
    assert edges_of(history(paths=("/a", "/b")), calls) == frozenset()


def test_a_websocket_hides_what_is_asked() -> None:
    """Its messages are in no call's key: no set of faults may be left out because of them."""
    wire = Wire()
    wire.get("/a", {"n": 1})
    assert not observe(History("s", tuple(wire.exchanges)), (), lineage=True).unread
    socket(wire, PLAIN, said("client", 1, {"plain": "text"}))
    assert observe(History("s", tuple(wire.exchanges)), (), lineage=True).unread
