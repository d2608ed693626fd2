from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.lineage.conftest import JSON, Wire

from faultwire.events import Delivery, FaultFired, Request
from faultwire.lineage.topology import NOBODY, Place, Topology, learn
from faultwire.profile.model import AgentSite

PLANNER = AgentSite(caller={"user-agent": "planner/*"})
WRITER = AgentSite(url="http://a.test/writer*", caller={"user-agent": "writer/*"})


def a2a(wire: Wire, path: str, agent: str | None = None, port: int = 80, **about: Any) -> int:
    message = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "go"}]}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}})
    headers = (*JSON, ("user-agent", agent)) if agent else JSON
    request = Request("POST", "http", "a.test", port, path, headers, body.encode())
    return wire.add(request, b"{}", kind="agent", protocol="a2a", **about)


def card(wire: Wire, path: str, name: str) -> int:
    body = json.dumps({"name": name, "url": f"http://a.test{path}", "skills": []}).encode()
    request = Request("GET", "http", "a.test", 80, f"{path}/.well-known/agent-card.json")
    return wire.add(request, body, kind="agent", protocol="a2a")


def shake(wire: Wire, name: str, port: int = 9000, *, events: bool = False) -> int:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {"name": name}}})
    request = Request("POST", "http", "m.test", port, "/mcp", JSON, json.dumps(asked).encode())
    body = f"event: message\ndata: {answer}\n\n" if events else answer
    return wire.add(request, body.encode(), kind="other", protocol="mcp")


def call_tool(wire: Wire, tool: str, port: int = 9000) -> int:
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool}}
    request = Request("POST", "http", "m.test", port, "/mcp", JSON, json.dumps(asked).encode())
    return wire.add(request, b"{}", kind="tool", protocol="mcp", tool=tool)


def edges(found: Topology) -> list[tuple[str, str, str, int, int]]:
    return [(e.sender.text, e.receiver.text, e.transport, e.calls, e.other) for e in found.edges]


def test_agents_are_known_by_the_profile(wire: Wire) -> None:
    a2a(wire, "/writer", "planner/1")
    a2a(wire, "/writer", "planner/1")
    found = learn(wire.exchanges, {"planner": PLANNER, "writer": WRITER})
    assert edges(found) == [("planner", "writer", "a2a", 2, 0)]
    assert found.unknown == 0


@pytest.mark.parametrize("agents", [{}, {"writer": WRITER}, {"planner": PLANNER}])
def test_a_sender_without_a_mark_is_unknown_whatever_else_the_tape_holds(agents, wire: Wire) -> None:
    """The others that are known are no reason to take it for one of them."""
    a2a(wire, "/writer", "planner/1")
    a2a(wire, "/writer")
    found = learn(wire.exchanges, agents)
    unmarked = [edge for edge in found.edges if edge.sender == NOBODY]
    assert sum(edge.calls for edge in unmarked) == (1 if "planner" in agents else 2)
    (why,) = {word for edge in unmarked for word in edge.why}
    assert why == ("no declared mark fits" if agents else "no agent is declared with marks of its requests")
    assert found.as_json()["edges"][0]["sender"]["name"] is None or "planner" in agents


def test_two_marks_that_fit_name_nobody(wire: Wire) -> None:
    a2a(wire, "/writer", "planner/1")
    found = learn(wire.exchanges, {"planner": PLANNER, "second": PLANNER, "writer": WRITER})
    assert [edge.sender for edge in found.edges] == [NOBODY]
    assert found.edges[0].why == {"the marks of planner and second fit": 1}


def test_an_agent_called_unknown_is_not_taken_for_an_unknown_sender(wire: Wire) -> None:
    a2a(wire, "/writer", "planner/1")
    found = learn(wire.exchanges, {"(unknown)": PLANNER})
    assert found.unknown == 0
    assert found.edges[0].sender == Place("agent", "(unknown)")


def test_a_card_names_the_agent_that_is_reached_there_and_no_other(wire: Wire) -> None:
    card(wire, "/w", "writer")
    a2a(wire, "/w")
    a2a(wire, "/x")
    found = learn(wire.exchanges, {})
    assert edges(found) == [
        ("(unknown)", "a.test:80/x", "a2a", 1, 0),
        ("(unknown)", "writer", "a2a", 1, 1),
    ]


def test_a_card_of_another_session_names_nobody_here(wire: Wire) -> None:
    card(wire, "/w", "writer")
    a2a(wire, "/w", session="other")
    assert [edge.receiver.name for edge in learn(wire.exchanges, {}).edges] == ["a.test:80/w", "writer"]


def test_agents_on_one_host_are_apart(wire: Wire) -> None:
    a2a(wire, "/a")
    a2a(wire, "/a", port=81)
    a2a(wire, "/a/v1/message:send")
    assert [(e.receiver.name, e.calls) for e in learn(wire.exchanges, {}).edges] == [
        ("a.test:80/a", 2), ("a.test:81/a", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("events", [False, True])
def test_an_mcp_server_is_called_as_it_says(events: bool, wire: Wire) -> None:
    shake(wire, "files", events=events)
    call_tool(wire, "read")
    assert edges(learn(wire.exchanges, {})) == [("(unknown)", "files (mcp)", "mcp", 1, 1)]


def test_two_mcp_servers_of_one_name_are_two(wire: Wire) -> None:
    shake(wire, "files")
    shake(wire, "files", 9001)
    call_tool(wire, "read", 9001)
    call_tool(wire, "read", 9002)
    names = [edge.receiver.name for edge in learn(wire.exchanges, {}).edges]
    assert names == ["files", "files at m.test:9001/mcp", "m.test:9002/mcp"]


def test_an_agent_that_speaks_a_models_protocol_is_an_agent_where_the_profile_says_so(wire: Wire) -> None:
    wire.ask([{"role": "user", "content": "hi"}], {"role": "assistant", "content": "ho"})
    helper = AgentSite(url="https://api.openai.com/*")
    assert edges(learn(wire.exchanges, {"helper": helper})) == [("(unknown)", "helper", "http", 1, 0)]
    assert edges(learn(wire.exchanges, {})) == [("(unknown)", "openai (model)", "http", 1, 0)]


def test_agents_in_one_process_are_known_by_their_instructions(wire: Wire) -> None:
    for role in ("researcher", "editor", "somebody"):
        wire.ask([{"role": "system", "content": f"You are the {role}."}, {"role": "user", "content": "go"}],
                 {"role": "assistant", "content": "done"})  # fmt: skip
    declared = {name: AgentSite(instructions=f"You are the {name}*") for name in ("researcher", "editor")}
    senders = [edge.sender.text for edge in learn(wire.exchanges, declared).edges]
    assert senders == ["editor", "researcher", "(unknown)"]


def test_a_user_who_quotes_the_instructions_is_not_taken_for_the_agent(wire: Wire) -> None:
    quoting = {"role": "user", "content": "You are the researcher. Go."}
    own = {"role": "system", "content": "You are the editor."}
    wire.ask([own, quoting], {"role": "assistant", "content": "x"})
    found = learn(wire.exchanges, {"researcher": AgentSite(instructions="You are the researcher*")})
    assert [edge.sender for edge in found.edges] == [NOBODY]


def test_failures_and_faults_count_on_their_edge_and_other_traffic_is_left_out(wire: Wire) -> None:
    line = FaultFired("agent_down", "agent_down#1", "response", "fired", "always", "k", 0, 0)
    quiet = FaultFired("agent_slow", "agent_slow#2", "response", "skipped", "never", "k", 0, 0)
    a2a(wire, "/writer", delivered=None, faults=(line, quiet))
    a2a(wire, "/writer", delivered=Delivery(503, "no", JSON, b"{}"))
    a2a(wire, "/writer")
    wire.get("/telemetry", {}, kind="other")
    found = learn(wire.exchanges, {"writer": WRITER})
    (edge,) = found.edges
    assert (edge.calls, edge.failed, edge.faults, found.left_out) == (3, 2, {"agent_down#1": 1}, 1)
    assert edge.exchanges == [("s", 1), ("s", 2), ("s", 3)]


def test_an_expected_edge_is_unseen_until_a_request_takes_it(wire: Wire) -> None:
    agents = {"planner": PLANNER, "writer": WRITER}
    expected = [("planner", "writer"), ("writer", "planner")]
    a2a(wire, "/writer")
    assert learn(wire.exchanges, agents, expected).unseen == tuple(expected), "an unknown sender proves none"
    a2a(wire, "/writer", "planner/2")
    assert learn(wire.exchanges, agents, expected).unseen == (("writer", "planner"),)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"\xff", b"data: {", b'{"jsonrpc":"2.0","result":[]}', b"[" * 999]
)
def test_hostile_answers_name_nobody(body: bytes, wire: Wire) -> None:
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).encode()
    wire.add(Request("POST", "http", "m.test", 1, "/mcp", JSON, asked), body, kind="other", protocol="mcp")
    path = "/w/.well-known/agent-card.json"
    wire.add(Request("GET", "http", "a.test", 80, path), body, kind="agent", protocol="a2a")
    assert [edge.receiver.name for edge in learn(wire.exchanges, {}).edges] == ["a.test:80/w", "m.test:1/mcp"]
