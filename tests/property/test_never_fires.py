"""An entry is accepted if and only if there is an exchange on which it fires.

Random entries of every fault, and of faults that other packages might bring, are held against exchanges of
every kind, protocol, status and form. The validator looks at declarations; here the real decisions are made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from faultwire import wire
from faultwire.dice import Dice
from faultwire.errors import ProfileError
from faultwire.events import Exchange, Kind, Request, Response, ToolResult, Turn
from faultwire.exchange.plan import decide, decide_head, decide_result
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.exchange.tunnel import Tunnel, divide
from faultwire.faults import _registry
from faultwire.faults._api import Fault, Moment, Need, Site
from faultwire.profile.entry_model import Entry, On, Trigger
from faultwire.profile.load import parse
from faultwire.profile.model import AgentSite, Profile, ToolSite

TOOLS = {"search": ToolSite(url="https://tools.example/*")}
AGENTS = {
    "writer": AgentSite(url="https://writer.example/*"),
    "planner": AgentSite(caller={"user-agent": "planner*"}),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "mcp_message": {"messages": ['{"jsonrpc": "2.0", "id": "{id}", "result": {}}']},
    "model_answer": {"body": "{}"},
    "latency": {"ms": 1},
    "bandwidth": {"bytes_per_s": 1000},
    "slow_close": {"ms": 1},
    "status": {"code": 503},
    "truncate_body": {"fraction": 0.5},
    "truncate_response": {"max_tokens": 1},
    "drift": {"type": "tone_shift"},
    "slow_first_token": {"ms": 1},
    "slow_tokens": {"ms": 1},
    "cut_stream": {"inside": "text"},
    "tool_slow": {"ms": 1},
    "tool_timeout": {"wait_ms": 1},
    "agent_slow": {"ms": 1},
    "agent_partition": {"one": ["*"], "other": ["?*"]},
    "recorded_response": {"responses": [{"response": "x"}]},
    "rag_poison": {"match": "*"},
    "conversation_expired": {"idle_s": 1},
    "stall": {"after_events": 1, "for_ms": 1},
    "agent_card_spoofed": {"url": "https://evil.example"},
    **{name: {"find": "x"} for name in ("replace", "replace_in_context", "agent_replaced")},
    **{name: {"at": 1} for name in ("drop_event", "duplicate_event", "malformed_event", "reorder_events")},
}
"""What faults must be given."""
LOOK_FURTHER = frozenset(("agent_partition", "goaway", "rst_stream", "stall_window"))
"""They act on who calls, or on HTTP/2 alone, which the validator does not make up: it says nothing of what
else an entry of theirs asks for together (`profile.never_asked`)."""


class OnlyTelemetry(Fault):
    """A fault of another package, on nothing but what is no model's.

    What it does: x
    """

    name: ClassVar[str] = "only_telemetry"
    site: ClassVar[Site] = "response"
    kinds: ClassVar[tuple[Kind, ...]] = ("other",)


class OnlyErrors(Fault):
    """A fault of another package that looks at the status."""

    name: ClassVar[str] = "only_errors"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only errors."""
        ok = exchange.response is not None and exchange.response.status < 400
        return super().inapplicable(exchange) or ("it went well" if ok else None)


class OnlyMcp(Fault):
    """A fault of another package, on one protocol, early."""

    name: ClassVar[str] = "only_mcp"
    site: ClassVar[Site] = "connection"
    protocols: ClassVar[tuple[str, ...]] = ("mcp",)
    moments: ClassVar[tuple[Moment, ...]] = ("exchange",)


THIRD_PARTY = {fault.name: fault for fault in (OnlyTelemetry, OnlyErrors, OnlyMcp)}
NAMES = (*_registry.PLACES, *THIRD_PARTY)


@pytest.fixture(autouse=True)
def _third_party(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**_registry.registry(), **THIRD_PARTY}
    for place in ("faultwire.profile.entry", "faultwire.faults._registry"):
        monkeypatch.setattr(f"{place}.registry", lambda: known)


# ---------------------------------------------------------------- exchanges of every kind

JSON = ("content-type", "application/json")
PLANNER = ("user-agent", "planner/1")
CALLED = [
    {"role": "user", "content": "find it"},
    {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"price": 42}'},
]  # fmt: skip


def post(host: str, path: str, body: object, *headers: tuple[str, str]) -> Request:
    return Request("POST", "https", host, 443, path, (JSON, PLANNER, *headers), json.dumps(body).encode())


def rpc(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def upgrade(host: str, path: str) -> Request:
    headers = (("upgrade", "websocket"), ("connection", "Upgrade"), PLANNER)
    return Request("GET", "https", host, 443, path, headers)


def requests() -> Iterator[Request]:
    for stream in (True, False):
        for host in ("api.openai.com", "writer.example"):
            chat = {"model": "gpt-4o", "stream": stream}
            yield post(host, "/v1/chat/completions", {**chat, "messages": CALLED[:1]})
            yield post(host, "/v1/chat/completions", {**chat, "messages": CALLED})
            kept = {"input": "find it", "previous_response_id": "resp_1"}
            yield post(host, "/v1/responses", {**chat, **kept})
        said = {"model": "gpt-4o", "max_tokens": 9, "stream": stream, "messages": CALLED[:1]}
        yield post("api.anthropic.com", "/v1/messages", said)
        message = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "find it"}]}
        send = "message/stream" if stream else "message/send"
        yield post("writer.example", "/a2a", rpc(send, message=message))
    session = ("mcp-session-id", "s1")
    for host in ("mcp.example", "writer.example"):
        yield post(host, "/mcp", rpc("tools/call", name="search", arguments={}), session)
        yield post(host, "/mcp", rpc("tools/list"), session)
        yield Request("GET", "https", host, 443, "/mcp", (session, PLANNER, ("accept", "text/event-stream")))
    yield Request("GET", "https", "writer.example", 443, "/.well-known/agent-card.json", (PLANNER,))
    for method in ("GET", "POST"):
        for host in ("tools.example", "logs.example", "writer.example"):
            yield Request(method, "https", host, 443, "/x", (JSON, PLANNER), b'{"model": "gpt-4o"}')
    yield Request("GET", "https", "writer.example", 443, "/v1/tasks/t1", (("a2a-version", "1.0"), PLANNER))
    for host in ("api.openai.com", "writer.example"):
        for query in ("", "?stream=true"):  # a background answer that is fetched
            yield Request("GET", "https", host, 443, f"/v1/responses/resp_1{query}", (PLANNER,))
        yield upgrade(host, "/v1/realtime?model=gpt-4o")
    for host in ("logs.example", "writer.example", "tools.example"):
        yield upgrade(host, "/socket")


def understood(request: Request) -> Exchange:
    found = wire.understand(request, TOOLS, AGENTS)
    view = SessionState().with_tool_names(found.view) if found.view else None
    name = found.protocol.name if found.protocol else None
    return Exchange(
        "s", 1, request, found.kind, name, found.provider, found.tool, view,
        key="k", agent=found.agent, caller="planner",
    )  # fmt: skip


@cache
def pool() -> tuple[Exchange, ...]:
    each = tuple(understood(request) for request in requests())
    return (*each, *(replace(exchange, http2=True) for exchange in each))


@cache
def messages() -> tuple[Exchange, ...]:
    """A tool's result as a client tells it over a WebSocket, as the pipeline shows it to faults."""
    socket = understood(upgrade("api.openai.com", "/v1/realtime?model=gpt-4o"))
    item = {"type": "function_call_output", "call_id": "c1", "output": "42"}
    data = json.dumps({"type": "conversation.item.create", "item": item}).encode()
    view = wire.protocol("realtime").message_view(data)
    assert view is not None
    turn = replace(view.turns[0], tool_results=(replace(view.results[0], name="search"),))
    asked = Turn("user", "find it")
    view = replace(view, model="gpt-4o", turns=(asked, turn))
    return (replace(socket, request=replace(socket.request, body=data), view=view),)


def responses(request: Request) -> Iterator[Response]:
    for status in (200, 404, 503):
        yield Response(status, headers=(JSON,), body=b"{}")
        yield Response(status, headers=(("content-type", "text/event-stream"),), body=b"data: {}\n\n")
    if any(name == "upgrade" for name, _ in request.headers):
        yield Response(101, headers=(("upgrade", "websocket"), ("connection", "Upgrade")))


# ---------------------------------------------------------------- does an entry fire on any of them?


def fires(entry: Entry) -> bool:
    """On any exchange, at its first call or a later one."""
    trigger = entry.trigger.model_copy(update={"probability": None})
    always = entry.model_copy(update={"trigger": Trigger(no_sdk_retry=trigger.no_sdk_retry)})
    profile = Profile(name="p", tools=TOOLS, agents=AGENTS, entries=(always,))
    if _on_connections(profile, always):
        return True
    if entry.fault.moments == ("connection",):
        return False
    on_message = any(_on_results(profile, exchange) for exchange in messages())
    return on_message or any(_on(profile, exchange) for exchange in pool())


def _on_connections(profile: Profile, entry: Entry) -> bool:
    if "connection" not in entry.fault.moments:
        return False
    hosts = ("api.openai.com", "api.anthropic.com", "logs.example")
    return any(
        any(line.outcome in ("fired", "no_effect") for line in _connected(profile, host).ledger())
        for host in hosts
    )


def _connected(profile: Profile, host: str) -> Tunnel:
    context = SessionContext("s", profile, Dice(1, "s"), SessionState())
    return Tunnel(context, divide(profile), Request("CONNECT", "https", host, 443, ""))


def _on(profile: Profile, exchange: Exchange) -> bool:
    dice = Dice(1, "s")
    plan = decide(profile, dice, exchange, SessionState())
    for response in responses(exchange.request):
        answered = exchange.answered(response)
        late = decide_head(plan, dice, answered, SessionState())
        for decision in (*plan.firing, *late.firing):
            if decision.entry.fault.inapplicable(answered) is None:
                return True
    return _on_results(profile, exchange)


def _on_results(profile: Profile, exchange: Exchange) -> bool:
    dice = Dice(1, "s")
    results: tuple[ToolResult, ...] = exchange.view.results if exchange.view else ()
    return any(
        decide_result(profile, dice, exchange, one, Subject("t", 0, 0, one.name), SessionState()).firing
        for one in results
    )


# ---------------------------------------------------------------- random entries

KEYS: dict[str, tuple[Any, ...]] = {
    "kind": ("llm", "tool", "agent", "other", ["llm", "other"], ["tool", "agent"]),
    "provider": ("*", ["openai", "*"]),
    "model": ("gpt-4o", "gpt-*"),
    "host": ("*", ["x", "*.*"]),
    "method": ("GET", "POST", ["PUT", "POST"]),
    "path": ("/*", ["/x*", "*"]),
    "url": ("https://*", "*:*"),
    "tool": ("search", "*"),
    "agent": ("writer", ["critic", "writer"]),
    "edge": ("planner->writer", ["x->y", "planner->w*"]),
    "site": ("http", "mcp", "result", ["http", "result"]),
    "session": ("s",),
    "stream": (True, False),
    "status": (200, 404, [404, 503], 503),
    "header": ({"user-agent": "planner*"},),
    "body": ({"$..*": "*"},),
    "turn": (1, [1, 2]),
    "text": ("*", ["x", "*"]),
}
conditions = st.lists(st.sampled_from(sorted(KEYS)), max_size=3, unique=True).flatmap(
    lambda keys: st.fixed_dictionaries({key: st.sampled_from(KEYS[key]) for key in keys})
)


def written(name: str, on: dict[str, Any], trigger: dict[str, Any] | None = None) -> str:
    """The profile as text; JSON is YAML."""
    entry = {name: SETTINGS.get(name, {}), "on": on, "trigger": trigger or {}}
    return json.dumps({"faults": [entry]})


def entry_of(name: str, on: dict[str, Any]) -> Entry:
    """The same, whatever the validator says of it."""
    fault = _registry.registry()[name].model_validate(SETTINGS.get(name, {}))
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in on.items()}
    return Entry(id=name, fault=fault, on=On(**given))


def refused(text: str) -> ProfileError | None:
    try:
        parse(text, "p.yaml")
    except ProfileError as error:
        return error
    return None


def exempt(name: str, on: dict[str, Any]) -> bool:
    """What is decided on a request says nothing of its answer: where that is asked for, a decision would
    be made too late, and the fault would have nothing left to change."""
    return "status" in on and "exchange" not in _registry.registry()[name].moments


@example(name="tool_error", on={"stream": False, "method": "GET"})
@given(name=st.sampled_from(NAMES), on=conditions)
@settings(deadline=None, max_examples=600, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_accepted_fires_and_what_is_refused_does_not(name: str, on: dict[str, Any]) -> None:
    error = refused(written(name, on))
    can = fires(entry_of(name, on))
    if error is not None:
        assert (error.code, error.exit_code) == ("profile.never_fires", 2), error.render()
        assert str(error).startswith("p.yaml:1:")
        assert error.hint
    if exempt(name, on):
        assert error is not None
    elif error is None:
        assert can or name in LOOK_FURTHER, f"accepted, and fires nowhere: {name} {on}"
    else:
        assert not can, f"{error}: {name} {on}"


def test_both_answers_are_frequent() -> None:
    """The control of the property: entries of both sorts are drawn, and the pool tells them apart."""
    found = Counter(
        (refused(written(name, {key: value})) is None, fires(entry_of(name, {key: value})))
        for name in NAMES
        for key, values in KEYS.items()
        for value in values[:1]
        if not exempt(name, {key: value})
    )
    assert set(found) == {(True, True), (False, False)}, found
    assert min(found.values()) > 200
