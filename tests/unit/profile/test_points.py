"""The table of what is known where holds for what the wire layer makes of requests."""

from __future__ import annotations

import json

import pytest

from faultwire import wire
from faultwire.events import Request
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import On
from faultwire.profile.inline import inline
from faultwire.profile.model import AgentSite, ToolSite
from faultwire.profile.points import POINTS, kinds_of, methods, points

JSON = (("content-type", "application/json"),)
CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
TOOLS = {"search": ToolSite(url="https://tools.test/*")}
AGENTS = {"writer": AgentSite(url="https://writer.test/*")}


def test_points_know_keys_of_on_only() -> None:
    assert {key for point in POINTS for key in point.keys} | {"kind", "site"} == set(On.model_fields)


@pytest.mark.parametrize(
    ("host", "path", "body", "kind"),
    [
        ("api.openai.com", "/v1/chat/completions", CHAT, "llm"),
        ("tools.test", "/x", CHAT, "tool"),
        ("writer.test", "/v1/chat/completions", CHAT, "agent"),
        ("logs.test", "/x", b"{}", "other"),
    ],
)
def test_a_value_is_known_where_the_table_has_its_key(host: str, path: str, body: bytes, kind: str) -> None:
    found = wire.understand(Request("POST", "https", host, 443, path, JSON, body), TOOLS, AGENTS)
    keys = {key for point in POINTS if (point.moment, point.kind) == ("exchange", kind) for key in point.keys}
    assert found.kind == kind
    known = {"tool": found.tool, "agent": found.agent, "provider": found.provider, "model": found.view}
    assert {key for key, value in known.items() if value is not None} <= keys


@pytest.mark.parametrize(
    ("fault", "moments", "kinds"),
    [
        ("dns_failure", {"connection"}, {"llm", "other"}),
        ("refuse", {"connection", "exchange"}, {"llm", "tool", "agent", "other"}),
        ("tool_error", {"call", "result"}, {"tool", "llm"}),
        ("memory_poisoning", {"request"}, {"llm"}),
        ("refusal", {"exchange"}, {"llm"}),
        ("mcp_error", {"exchange"}, {"tool", "other", "agent"}),
    ],
)
def test_points_follow_from_what_a_fault_declares(fault: str, moments: set[str], kinds: set[str]) -> None:
    found = points(inline(fault).entries[0].fault)
    assert {point.moment for point in found} == moments
    assert {point.kind for point in found} == kinds


def test_every_built_in_fault_has_a_point() -> None:
    for name, fault in registry().items():
        assert points(fault.model_construct()), name


def test_what_protocols_declare() -> None:
    assert kinds_of(wire.protocol("mcp")) == {"other", "tool", "agent"}
    assert kinds_of(None) == {"tool", "agent", "other"}
    fault = inline("refusal").entries[0].fault
    (point,) = points(fault)
    assert methods(point, fault) == {"POST", "GET"}, "a WebSocket is asked for with GET"
    assert methods(POINTS[0], fault) is None


def test_examples_of_protocols_are_of_them() -> None:
    found = {
        (name, request.method): wire.classify(request).protocol is protocol
        for name, protocol in wire.protocols().items()
        for request in protocol.examples
    }
    assert found.pop(("a2a", "POST")) is False, "a body without a method stands for any"
    assert found == {("a2a", "GET"): True, ("mcp", "POST"): True, ("mcp", "GET"): True}
