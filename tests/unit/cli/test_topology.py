from __future__ import annotations

from tests.unit.lineage.conftest import Wire
from tests.unit.lineage.test_topology import PLANNER, WRITER, a2a

from faultwire.cli._topology import lines
from faultwire.lineage.topology import learn

AGENTS = {"planner": PLANNER, "writer": WRITER}


def printed(wire: Wire, expected=()) -> str:
    return "\n".join(lines(learn(wire.exchanges, AGENTS, expected)))


def test_a_tape_without_a_call() -> None:
    wire = Wire()
    assert printed(wire) == "no request to an agent, a tool or a model"
    a2a(wire, "/writer", "planner/1")
    assert "no request" not in printed(wire)


def test_unknown_senders_are_counted_with_the_reason_only_where_there_are_any() -> None:
    wire = Wire()
    a2a(wire, "/writer", "planner/1")
    assert "unknown" not in printed(wire)
    a2a(wire, "/writer")
    a2a(wire, "/writer")
    assert "2 requests by an unknown sender: no declared mark fits" in printed(wire)


def test_an_edge_that_was_seen_is_not_called_unseen() -> None:
    wire = Wire()
    a2a(wire, "/writer")
    edge = [("planner", "writer")]
    assert "never seen: planner->writer, which the profile names" in printed(wire, edge)
    a2a(wire, "/writer", "planner/1")
    assert "never seen" not in printed(wire, edge)


def test_what_is_no_call_is_counted_where_there_is_any() -> None:
    wire = Wire()
    a2a(wire, "/writer", "planner/1")
    assert "left out" not in printed(wire)
    wire.get("/v1/traces", {}, kind="other")
    assert "1 exchange left out: no call of an agent, a tool or a model" in printed(wire)


def test_a_name_from_the_wire_moves_no_cursor() -> None:
    wire = Wire()
    a2a(wire, "/\x1b[2J\u202e", "planner/1")
    assert "\x1b" not in printed(wire)
    assert "\u202e" not in printed(wire)
