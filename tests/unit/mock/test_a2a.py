"""The mock's agents: cards, tasks and their states, in both versions and bindings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwire.events import Request, header
from faultwire.mock import _a2a_words
from faultwire.mock.a2a import KEPT, Agents
from faultwire.mock.answering import Answerer
from faultwire.mock.script import parse
from faultwire.wire.a2a.http import A2AHttp
from faultwire.wire.a2a.jsonrpc import A2A
from faultwire.wire.framing import sse

HOST = ("host", "127.0.0.1:9000")
NEW = ("A2A-Version", "1.0")


def get(path: str, *headers: tuple[str, str]) -> Request:
    return Request("GET", "http", "127.0.0.1", 0, path, (HOST, *headers), b"")


def post(path: str, value: Any, *headers: tuple[str, str]) -> Request:
    return Request("POST", "http", "127.0.0.1", 0, path, (HOST, *headers), json.dumps(value).encode())


def rpc(method: str, params: Any) -> Request:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return post("/writer", body, *((NEW,) if method[0].isupper() else ()))


def message(text: str, part: str = "parts", **more: Any) -> dict[str, Any]:
    return {"message": {"messageId": "m", "role": "user", part: [{"kind": "text", "text": text}], **more}}


def told(answerer: Answerer, request: Request) -> Any:
    return json.loads(answerer(request).body)


def test_every_path_has_a_card():
    card = told(Answerer(), get("/team/writer/.well-known/agent-card.json"))
    assert (card["name"], card["url"]) == ("writer", "http://127.0.0.1:9000/team/writer")
    assert {i["protocolVersion"] for i in card["supportedInterfaces"]} == {"0.3", "1.0"}
    root = told(Answerer(), get("/.well-known/agent.json"))
    assert (root["name"], root["url"]) == ("mock-agent", "http://127.0.0.1:9000/")
    assert told(Answerer(), rpc("GetExtendedAgentCard", {}))["result"]["name"] == "writer"


@pytest.mark.parametrize(
    ("request_", "protocol"),
    [
        (rpc("message/send", message("hi")), A2A()),
        (rpc("SendMessage", message("hi")), A2A()),
        (post("/writer/v1/message:send", message("hi", "content")), A2AHttp()),
        (post("/writer/message:send", message("hi"), NEW), A2AHttp()),
    ],
)
def test_a_task_completes(request_, protocol):
    answer = Answerer()(request_)
    view = protocol.response_view(answer.status, answer.body)
    assert (view.finish_reason, view.complete) == ("completed", True)
    assert view.text == "I am a mock model, so I can only repeat this: hi"
    assert Answerer()(request_) == answer, "the same for the same request"


def test_versions_differ_in_their_words():
    old = told(Answerer(), rpc("message/send", message("hi")))["result"]
    assert (old["kind"], old["status"]["state"]) == ("task", "completed")
    new = told(Answerer(), rpc("SendMessage", message("hi")))["result"]
    assert new["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    rest = told(Answerer(), post("/writer/v1/message:send", message("hi", "content")))
    assert rest["task"]["history"][0]["content"] == [{"text": "hi"}]
    assert _a2a_words.word("rest-0.3", "canceled") == "TASK_STATE_CANCELLED"
    assert _a2a_words.word("1.0", "canceled") == "TASK_STATE_CANCELED"


@pytest.mark.parametrize("method", ["message/stream", "SendStreamingMessage"])
def test_a_task_streams(method):
    answer = Answerer(chunk_delay_ms=5)(rpc(method, message("one two")))
    assert header(answer.headers, "content-type") == "text/event-stream"
    assert answer.chunk_delay_ms == 5
    assert answer.events is not None
    reader = A2A().reader()
    ends = []
    for event in answer.events:
        reader.feed(event)
        ends.append(A2A().is_terminal(event))
    assert ends == [False] * (len(ends) - 1) + [True]
    assert len(answer.events) > 10
    assert reader.view().text == "I am a mock model, so I can only repeat this: one two"


def test_tasks_are_kept():
    answerer = Answerer()
    task = told(answerer, rpc("SendMessage", message("hi")))["result"]["task"]
    assert told(answerer, rpc("GetTask", {"id": task["id"]}))["result"] == task
    assert told(answerer, get(f"/writer/tasks/{task['id']}", NEW)) == task
    assert told(answerer, rpc("ListTasks", {}))["result"]["totalSize"] == 1
    error = told(answerer, rpc("CancelTask", {"id": task["id"]}))["error"]
    assert (error["code"], error["message"]) == (-32002, "Task cannot be canceled")
    assert told(answerer, rpc("GetTask", {"id": "t?"}))["error"]["code"] == -32001
    again = answerer(rpc("SubscribeToTask", {"id": task["id"]})).events
    assert again is not None
    assert json.loads(sse.fields(again[0]).data)["result"]["task"]["id"] == task["id"]


SCRIPT = parse(
    "turns:\n"
    "  - {match: {last_user: '*long*'}, reply: {text: on it, state: working}}\n"
    "  - {match: {last_user: '*which*'}, reply: {text: which one?, state: input-required}}\n"
    "  - {match: {last_user: '*break*'}, reply: {error: {status: 503}}}\n",
    "script.yaml",
)


def test_a_script_decides_the_state():
    answerer = Answerer(SCRIPT)
    working = told(answerer, rpc("message/send", message("a long task")))["result"]
    assert working["status"]["state"] == "working"
    done = told(answerer, rpc("tasks/cancel", {"id": working["id"]}))["result"]
    assert done["status"]["state"] == "canceled"
    asks = told(answerer, rpc("message/send", message("which")))["result"]
    assert "artifacts" not in asks
    assert asks["status"]["message"]["parts"][0]["text"] == "which one?"
    events = answerer(rpc("message/stream", message("a long task"))).events
    assert events is not None
    assert json.loads(sse.fields(events[-1]).data)["result"]["final"] is True
    broken = answerer(rpc("message/send", message("break")))
    assert (broken.status, json.loads(broken.body)["id"]) == (503, 1)
    rest = answerer(post("/writer/message:send", message("break"), NEW))
    assert json.loads(rest.body)["error"]["status"] == "UNAVAILABLE"


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (rpc("message/send", message("")), 200, -32602),
        (rpc("tasks/pushNotificationConfig/set", {"taskId": "t"}), 200, -32003),
        (post("/writer/message:send", message(""), NEW), 400, 400),
        (post("/writer/message:send", [], NEW), 400, 400),
        (get("/tasks/t1", NEW), 404, 404),
    ],
)
def test_what_is_refused(request_, status, code):
    answer = Answerer()(request_)
    assert (answer.status, json.loads(answer.body)["error"]["code"]) == (status, code)


def test_the_oldest_tasks_are_forgotten() -> None:
    class Task:
        def __init__(self, ident: int) -> None:
            self.id = str(ident)

    agents = Agents()
    for ident in range(KEPT + 1):
        agents.remember(Task(ident))
    assert len(agents.all()) == KEPT
    assert agents.known("0") is None
    assert agents.known("1") is agents.all()[0]
