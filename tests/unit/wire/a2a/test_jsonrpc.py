"""Agent2Agent in its versions and bindings: recognition, views, changes, errors, streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwire.errors import WireError
from faultwire.events import Request, ToolResult, header
from faultwire.wire import classify, fingerprint, protocol
from faultwire.wire.a2a import errors as a2a_errors, vocabulary as a2a_vocabulary
from faultwire.wire.a2a.http import A2AHttp
from faultwire.wire.a2a.jsonrpc import A2A, is_card
from faultwire.wire.a2a.stream import A2AStreamEditor, Reader
from faultwire.wire.a2a.view import A2AResponse
from faultwire.wire.editing.api import Change
from faultwire.wire.framing import sse
from faultwire.wire.recognition.peers import Peers
from faultwire.wire.types import Rewrite

OLD = {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
NEW = {"messageId": "m1", "role": "ROLE_USER", "contextId": "c1", "taskId": "t1", "parts": [{"text": "hi"}]}
REST_OLD = {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "hi"}]}
JSON = ("content-type", "application/json")


def rpc(method: str, params: Any, ident: Any = "r1") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode()


def post(path: str, body: bytes | None, *headers: tuple[str, str], method: str = "POST") -> Request:
    return Request(method, "http", "agents.test", 9000, path, (JSON, *headers), body)


def get(path: str, *headers: tuple[str, str]) -> Request:
    return Request("GET", "http", "agents.test", 9000, path, headers, b"")


VERSIONED = ("A2A-Version", "1.0")
MCP = ("mcp-protocol-version", "2025-11-25")


@pytest.mark.parametrize(
    ("request_", "spoken"),
    [
        (post("/", rpc("message/send", {"message": OLD})), "a2a"),
        (post("/gw/x/y", rpc("message/stream", {"message": OLD})), "a2a"),
        (post("/a2a", rpc("SendMessage", {"message": NEW}), VERSIONED), "a2a"),
        (post("/a2a", rpc("ListTasks", {})), "a2a"),
        (post("/a2a", rpc("tasks/get", {"id": "t1"})), "a2a"),
        (post("/a2a", rpc("tasks/pushNotificationConfig/set", {"taskId": "t1"})), "a2a"),
        (post("/a2a", None, VERSIONED), "a2a"),
        (get("/.well-known/agent-card.json"), "a2a"),
        (get("/team/writer/.well-known/agent.json?x=1"), "a2a"),
        (get("/writer/extendedAgentCard"), "a2a"),
        (post("/v1/message:send", None), "a2a_http"),
        (post("/team/message:stream", json.dumps({"message": NEW}).encode()), "a2a_http"),
        (get("/tasks/t1", VERSIONED), "a2a_http"),
        (post("/tasks/t1:cancel", b"{}", VERSIONED), "a2a_http"),
        (post("/tasks/t1/pushNotificationConfigs/p", b"", VERSIONED, method="DELETE"), "a2a_http"),
    ],
)
def test_recognised(request_, spoken):
    found = classify(request_)
    assert found.protocol is not None
    assert (found.kind, found.protocol.name, found.provider) == ("agent", spoken, "a2a")
    assert found.agent == "agents.test", "nobody has named it"
    assert found.tool is None


@pytest.mark.parametrize(
    "request_",
    [
        post("/mcp", rpc("tasks/get", {"taskId": "t1"})),
        post("/mcp", rpc("tasks/cancel", {"id": "t1"}), MCP),
        post("/rpc", rpc("eth_call", {})),
        post("/rpc", rpc("message/send", {"message": OLD}).replace(b'"jsonrpc"', b'"x"')),
        post("/rpc", b'{"jsonrpc": "2.0", "method": ["message/send"]}'),
        post("/rpc", b'"jsonrpc" but no JSON'),
        post("/v1/models/m:generateContent", json.dumps({"contents": []}).encode()),
        get("/v1/tasks/t1"),
        get("/rest/v2/tasks/t1"),
        get("/v1/card"),
        post("/message:send", None, method="GET"),
        post("/tasks/t1:explode", b"{}", VERSIONED),
    ],
)
def test_left_to_others(request_):
    assert classify(request_).kind != "agent"


def test_a_model_s_traffic_stays_a_model_s():
    chat = json.dumps({"model": "m", "messages": [{"role": "user", "content": "jsonrpc message/send"}]})
    found = classify(post("/v1/chat/completions", chat.encode(), VERSIONED))
    assert found.kind == "llm"


class Site:
    def __init__(self, url: str) -> None:
        self.url = url


def test_agents_are_named_by_the_user_before_their_card():
    peers = Peers()
    peers.add("Recipe Agent", ["http://agents.test:9000/writer"])
    call = post("/writer", rpc("message/send", {"message": OLD}))
    assert classify(call, peers=peers).agent == "Recipe Agent"
    assert classify(call, agents={"writer": Site("*/writer*")}, peers=peers).agent == "writer"
    plain = classify(post("/writer/ask", b"{}"), agents={"writer": Site("*/writer*")})
    assert (plain.kind, plain.protocol, plain.agent) == ("agent", None, "writer")
    chat = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    as_model = classify(post("/writer/v1/chat/completions", chat), agents={"writer": Site("*/writer*")})
    assert (as_model.kind, as_model.agent) == ("agent", "writer")
    assert as_model.protocol is not None
    assert as_model.protocol.name == "openai_chat"


def test_a_known_agent_s_tasks_need_no_version():
    peers = Peers()
    peers.add("writer", ["http://agents.test:9000/writer"])
    found = classify(get("/writer/v1/tasks/t1"), peers=peers)
    assert found.protocol is not None
    assert (found.protocol.name, found.agent) == ("a2a_http", "writer")
    assert classify(get("/writer/style.css"), peers=peers).kind == "other"
    assert classify(get("/v1/tasks/t1"), peers=peers).kind == "other", "not below its address"


# ---------------------------------------------------------------- views

IDS = ("m1", "t1", "c1")


def sent(message: Any) -> bytes:
    return json.dumps({"message": message}).encode()


@pytest.mark.parametrize(
    ("request_", "method", "stream", "ids"),
    [
        (post("/", rpc("message/send", {"message": OLD})), "message/send", False, ("m1", "", "")),
        (post("/", rpc("SendStreamingMessage", {"message": NEW})), "SendStreamingMessage", True, IDS),
        (post("/v1/message:send", sent(REST_OLD)), "SendMessage", False, ("m1", "", "")),
        (post("/message:stream", sent(NEW)), "SendStreamingMessage", True, IDS),
    ],
)
def test_what_is_asked(request_, method, stream, ids):
    spoken = classify(request_).protocol
    asked = spoken.asked(request_)
    assert (asked.method, asked.stream, asked.text) == (method, stream, "hi")
    assert (asked.message_id, asked.task_id, asked.context_id) == ids
    view = spoken.view(request_)
    assert (view.stream, [(turn.role, turn.text) for turn in view.turns]) == (stream, [("user", "hi")])


def test_what_is_asked_of_tasks():
    assert A2A().asked(post("/", rpc("tasks/cancel", {"id": "t9"}))).task_id == "t9"
    assert A2AHttp().asked(post("/v1/tasks/t9:subscribe", b"", VERSIONED)).stream
    assert A2AHttp().asked(get("/tasks/t9", VERSIONED)).method == "GetTask"
    assert A2AHttp().asked(get("/tasks", VERSIONED)).method == "ListTasks"
    assert A2AHttp().asked(get("/tasks/t9/pushNotificationConfigs", VERSIONED)).task_id == "t9"
    assert A2A().asked(get("/.well-known/agent-card.json")).view().turns == ()
    with pytest.raises(WireError, match="found no method of A2A"):
        A2A().request_view(rpc("initialize", {}))


TASK = {
    "id": "t1",
    "contextId": "c1",
    "status": {
        "state": "TASK_STATE_COMPLETED",
        "message": {"role": "ROLE_AGENT", "parts": [{"text": "ok"}]},
    },
    "artifacts": [
        {
            "artifactId": "a1",
            "name": "answer",
            "parts": [{"text": "four"}, {"data": {"n": 4}}, {"text": "ty"}],
        }
    ],
    "history": [{"role": "ROLE_USER", "parts": [{"text": "said before"}]}],
}
TASK_OLD = {
    "kind": "task",
    "id": "t1",
    "contextId": "c1",
    "status": {
        "state": "input-required",
        "message": {"role": "agent", "parts": [{"kind": "text", "text": "which?"}]},
    },
}


def result(value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "r1", "result": value}).encode()


@pytest.mark.parametrize("body", [result({"task": TASK}), result(TASK)])
def test_a_task_is_answered(body):
    told = A2A().answered(body)
    assert (told.state, told.task_id, told.context_id, told.complete) == ("completed", "t1", "c1", True)
    assert [(a.id, a.name, a.text) for a in told.artifacts] == [("a1", "answer", "fourty")]
    assert told.text == "ok"
    view = A2A().response_view(200, body)
    assert (view.text, view.finish_reason, view.error) == ("fourty", "completed", None)


def test_other_answers():
    view = A2A().response_view(200, result(TASK_OLD))
    assert (view.text, view.finish_reason, view.complete) == ("which?", "input-required", True)
    message = {"role": "ROLE_AGENT", "content": [{"text": "hello"}]}
    assert A2AHttp().response_view(200, json.dumps({"message": message}).encode()).text == "hello"
    failed = {"id": "t", "status": {"state": "TASK_STATE_FAILED"}}
    assert A2AHttp().response_view(200, json.dumps(failed).encode()).error == "the task ended `failed`"
    told = A2A().answered(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}')
    assert (told.error, told.code, told.complete) == ("Task not found", -32001, True)
    assert A2AHttp().answered(b'{"tasks":[]}') == A2AResponse()
    with pytest.raises(WireError):
        A2A().response_view(200, b"<html>")


# ---------------------------------------------------------------- changes


def test_a_whole_answer_changes_in_its_words_alone():
    body = b'{"result" : {"task":' + json.dumps(TASK).encode() + b'}, "x": 1.50}'
    changed = A2A.edits.change(body, Change(text=str.upper))
    assert changed == body.replace(b'"ok"', b'"OKF"').replace(b'"four"', b'"OUR"').replace(b'"ty"', b'"TY"')
    assert A2A.edits.change(body, Change(text=lambda text: text)) is body
    assert A2A.edits.change(body, Change(drop_usage=True)) is body
    emptied = json.loads(A2A.edits.change(body, Change(text=lambda _: "")))
    assert emptied["result"]["task"]["artifacts"][0]["parts"] == [
        {"text": ""},
        {"data": {"n": 4}},
        {"text": ""},
    ]
    assert emptied["result"]["task"]["history"] == TASK["history"], "what was said before stays"


def test_a_message_is_rewritten():
    body = rpc("SendMessage", {"message": NEW, "configuration": {"historyLength": 1}})
    (place,) = A2A.edits.texts(body)
    assert (place.role, place.text, place.path) == ("user", "hi", ("params", "message", "parts", 0, "text"))
    assert A2A.edits.rewrite_texts(body, {place.path: "bye"}) == body.replace(b'"hi"', b'"bye"')


def test_truncate():
    body = json.dumps({"message": {"role": "agent", "parts": [{"text": "one two three four"}]}}).encode()
    cut = json.loads(A2AHttp().truncate(body, 2))
    assert cut["message"]["parts"][0]["text"].split() == ["one", "two"]
    with pytest.raises(WireError):
        A2A().replace_result(body, ToolResult("", None, "", "", False, (), True), Rewrite("x"))


# ---------------------------------------------------------------- streams


def update(state: str, final: bool | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"taskId": "t1", "contextId": "c1", "status": {"state": state}}
    return {"statusUpdate": body if final is None else {**body, "final": final}}


def piece(text: str, append: bool = True) -> dict[str, Any]:
    artifact = {"artifactId": "a1", "parts": [{"text": text}]}
    return {"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": artifact, "append": append}}


STREAM = [
    {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_SUBMITTED"}}},
    update("TASK_STATE_WORKING"),
    piece("one ", append=False),
    piece("two"),
    update("TASK_STATE_COMPLETED"),
]


def framed(values: list[dict[str, Any]], *, rpc_: bool = True) -> list[bytes]:
    bodies = [result(v) if rpc_ else json.dumps(v).encode() for v in values]
    return [b": ping\n\n", *(sse.write(body) for body in bodies)]


@pytest.mark.parametrize("rpc_", [True, False])
def test_a_stream_is_read(rpc_):
    spoken = A2A() if rpc_ else A2AHttp()
    reader = spoken.reader()
    events = framed(STREAM, rpc_=rpc_)
    for event in events[:-1]:
        reader.feed(event)
    assert (reader.view().text, reader.view().finish_reason, reader.view().complete) == (
        "one two",
        None,
        False,
    )
    reader.feed(events[-1])
    assert (reader.view().finish_reason, reader.view().complete) == ("completed", True)
    assert [spoken.is_terminal(event) for event in events] == [False] * 5 + [True]


@pytest.mark.parametrize(
    ("state", "ends"),
    [
        ("working", False),
        ("submitted", False),
        ("input-required", True),
        ("canceled", True),
        ("auth-required", True),
    ],
)
def test_where_a_stream_ends(state, ends):
    event = {"kind": "status-update", "taskId": "t", "status": {"state": state}}
    assert A2A().is_terminal(sse.write(result(event))) is ends
    assert A2A().is_terminal(sse.write(result({**event, "final": True})))


def test_an_error_ends_a_stream_and_nonsense_does_not():
    for spoken in (A2A(), A2AHttp()):
        event = spoken.edits.error_event("overloaded", None)
        reader = spoken.reader()
        reader.feed(event)
        assert (reader.view().error, spoken.is_terminal(event)) == ("Service unavailable", True)
    assert b"event: error\n" in A2AHttp.edits.error_event("server_error", "boom")
    broken = sse.write(b"{")
    reader = Reader(())
    reader.feed(broken)
    assert reader.view().error
    assert not A2A().is_terminal(broken)


def test_a_stream_is_changed_as_a_whole():
    events = framed(STREAM)
    changer = A2AStreamEditor(str.upper, ("result",))
    out = [list(changer.feed(event)) for event in events]
    assert out[:3] == [[event] for event in events[:3]], "before the first word nothing is held"
    assert out[3:5] == [[], []]
    assert b"".join(out[5]) == b"".join(events[3:]).replace(b"one ", b"ONE ").replace(b"two", b"TWO")
    assert changer.changed
    calm = A2AStreamEditor(lambda text: text, ("result",))
    assert b"".join(b"".join(calm.feed(event)) for event in events) == b"".join(events)
    assert not calm.changed


def test_a_stream_that_breaks_off_gives_what_was_held():
    changer = A2AStreamEditor(str.upper, ("result",))
    events = framed(STREAM)
    assert [list(changer.feed(event)) for event in events[3:5]] == [[], []]
    assert b"".join(changer.finish()).count(b"TWO") == 1


# ---------------------------------------------------------------- errors


def test_json_rpc_errors_name_the_request():
    call = post("/", rpc("message/send", {"message": OLD}, ident=7))
    answer = A2A().error_to(call, None, 503, retry_after_s=1.5)
    told = json.loads(answer.body)
    assert (answer.status, told["id"], told["error"]["code"]) == (503, 7, -32603)
    assert header(answer.headers, "retry-after") == "2"
    assert json.loads(A2A().error(400).body)["error"]["code"] == -32600
    assert json.loads(A2A().error(404).body)["id"] is None
    assert b"<html>" in A2A().error_to(call, None, 502).body
    assert a2a_errors.ident_of(post("/", b"[]")) is None
    card = A2A().error_to(get("/.well-known/agent-card.json"), None, 404)
    assert "jsonrpc" not in json.loads(card.body)


@pytest.mark.parametrize(
    ("status", "word", "reason"),
    [
        (400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
        (401, "UNAUTHENTICATED", None),
        (404, "NOT_FOUND", "METHOD_NOT_FOUND"),
        (429, "RESOURCE_EXHAUSTED", None),
        (500, "INTERNAL", "INTERNAL_ERROR"),
        (503, "UNAVAILABLE", None),
    ],
)
def test_http_errors(status, word, reason):
    error = json.loads(A2AHttp().error_to(post("/message:send", b""), None, status).body)["error"]
    assert (error["code"], error["status"]) == (status, word)
    assert [detail["reason"] for detail in error.get("details", [])] == ([reason] if reason else [])


@pytest.mark.parametrize("trouble", a2a_errors.TABLE)
def test_every_trouble_in_both_bindings(trouble):
    told = a2a_errors.TABLE[trouble]
    over_rpc = a2a_errors.rpc(trouble, "r1")
    assert (over_rpc.status, json.loads(over_rpc.body)["error"]["code"]) == (200, told.code)
    over_http = a2a_errors.rest(trouble, "why")
    assert (over_http.status, json.loads(over_http.body)["error"]["message"]) == (told.status, "why")


# ---------------------------------------------------------------- keys, words, cards


def test_equal_questions_have_equal_keys():
    one = post("/", rpc("SendMessage", {"message": NEW}, ident="a"))
    other = post("/", rpc("SendMessage", {"message": {**NEW, "messageId": "m2", "taskId": "t2"}}, ident="b"))
    asked = post("/", rpc("SendMessage", {"message": {**NEW, "parts": [{"text": "bye"}]}}))
    keys = [fingerprint(request, "agent", A2A()) for request in (one, other, asked)]
    assert keys[0] == keys[1] != keys[2]


def test_a_task_s_id_is_no_part_of_the_question():
    def key(path: str) -> str:
        return fingerprint(post(path, b"{}", VERSIONED), "agent", A2AHttp())

    assert key("/w/tasks/t1:cancel") == key("/w/tasks/t2:cancel") != key("/w/tasks/t1:subscribe")
    assert key("/w/tasks/t1") == key("/w/tasks/t2") != key("/v/tasks/t1")
    assert key("/w/message:send") != key("/w/message:stream")


def test_versions():
    assert a2a_vocabulary.version(post("/", b"", VERSIONED)) == "1.0"
    assert a2a_vocabulary.version(post("/", b"", ("a2a-version", "0.3"))) == "0.3"
    assert a2a_vocabulary.version(post("/", b""), "SendMessage") == "1.0"
    assert a2a_vocabulary.version(post("/", b""), "message/send") == "0.3"


def test_what_a_card_is():
    assert is_card(get("/.well-known/agent-card.json"))
    assert is_card(post("/", rpc("agent/getAuthenticatedExtendedCard", None)))
    assert not is_card(post("/", rpc("SendMessage", {"message": {"parts": [{"text": "ExtendedAgentCard"}]}})))
    assert protocol("a2a").kind == protocol("a2a_http").kind == "agent"
