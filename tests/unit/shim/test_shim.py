"""The shim's parts without processes: where the proxy is, the bridge, and what becomes of an answer."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from faultwire.errors import UsageError
from faultwire.events import Request
from faultwire.mitm.network.egress_guard import Guard
from faultwire.shim import agent_side, run
from faultwire.shim.agent_side import AgentSide
from faultwire.shim.bridge import COUNT, Bridge, Lines
from faultwire.shim.find import SHIMS, above, find
from faultwire.wire.framing import sse

PROXY = "http://user:token@127.0.0.1:9"


def message(ident=1, method="tools/call"):
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": {}}).encode()


# ---------------------------------------------------------------- find


def test_the_nearest_environment_that_names_a_proxy():
    around = find(
        [{"HOME": "/"}, {"HTTPS_PROXY": PROXY, SHIMS: "/run/shims", "KEY": "no"}, {"HTTPS_PROXY": "x"}]
    )
    assert (around.proxy, str(around.shims)) == (PROXY, "/run/shims")
    assert dict(around.variables) == {"HTTPS_PROXY": PROXY, SHIMS: "/run/shims"}, "nothing else is handed on"


def test_without_a_proxy_nothing_starts():
    with pytest.raises(UsageError) as error:
        find([{"HOME": "/"}])
    assert (error.value.code, error.value.exit_code) == ("shim.no_proxy", 2)


def test_processes_above_are_read_up_to_the_first(tmp_path):
    for pid, parent, environ in ((40, 30, b"A=1\0"), (30, 1, b"HTTPS_PROXY=p=q\0bad\0"), (1, 0, b"B=2\0")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "environ").write_bytes(environ)
        (tmp_path / str(pid) / "status").write_text(f"Name:\tx\nPPid:\t{parent}\n")
    assert list(above({"C": "3"}, 40, tmp_path)) == [
        {"C": "3"},
        {"A": "1"},
        {"HTTPS_PROXY": "p=q"},
        {"B": "2"},
    ]
    assert list(above({}, 99, tmp_path)) == [{}], "what may not be read ends it"


# ---------------------------------------------------------------- bridge


class Server:
    def __init__(self):
        self.lines = []
        self.bridge = Bridge("secret", self.lines.append)

    def post(self, body, token="secret", method="POST"):
        headers = (("authorization", f"Bearer {token}"), (COUNT, "1"))
        return self.bridge(Request(method, "http", "127.0.0.1", 1, "/mcp/x", headers, body))


async def heard(feed):
    event = await feed.next()
    return None if event is None else json.loads(sse.fields(event).data)


async def test_a_request_is_a_line_and_its_answer_an_event():
    server = Server()
    arrival = server.bridge.arrival("1")
    first, second = server.post(message(1)), server.post(message("1"))
    assert arrival.is_set()
    assert server.lines == [message(1) + b"\n", message("1") + b"\n"]
    server.bridge.receive(b'{"jsonrpc":"2.0","id":"1","result":{}}')
    server.bridge.receive(b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}')
    assert [await heard(first.feed), await heard(first.feed)] == [
        {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}},
        None,
    ]
    assert (await heard(second.feed))["id"] == "1", "ids of another type are other ids"


async def test_what_the_server_says_unasked_comes_in_the_stream():
    server = Server()
    stream = server.post(b"", method="GET")
    for line in (
        b'{"jsonrpc":"2.0","id":"q","method":"roots/list"}',
        b'{"jsonrpc":"2.0","id":5,"result":{}}',
    ):
        server.bridge.receive(line)
        assert await heard(stream.feed) == json.loads(line)
    server.bridge.end()
    assert await heard(stream.feed) is None


async def test_notifications_answers_and_batches():
    server = Server()
    assert server.post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}').status == 202
    assert server.post(b'{"jsonrpc":"2.0",\n "id":"q","result":{}}').status == 202
    assert (
        server.lines[-1] == b'{"jsonrpc":"2.0",  "id":"q","result":{}}\n'
        or server.lines[-1].count(b"\n") == 1
    )
    batch = server.post(b"[" + message(1) + b"," + message(2) + b"]")
    for ident in (2, 1):
        server.bridge.receive(json.dumps({"jsonrpc": "2.0", "id": ident, "result": {}}).encode())
    assert [(await heard(batch.feed))["id"], (await heard(batch.feed))["id"], await heard(batch.feed)] == [
        2,
        1,
        None,
    ]


async def test_answers_that_come_as_a_batch_end_the_stream_of_theirs():
    server = Server()
    batch = server.post(b"[" + message(1) + b"," + message(2) + b"]")
    other = server.post(message(3))
    line = b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]'
    server.bridge.receive(line)
    assert [await heard(batch.feed), await heard(batch.feed)] == [json.loads(line), None]
    server.bridge.end()
    assert await heard(other.feed) is None


async def test_what_comes_through_after_the_server_has_ended_is_not_waited_for():
    """A fault may hold a request up for longer than its server lives."""
    server = Server()
    before = server.post(message(1))
    server.bridge.end()
    arrival = server.bridge.arrival("1")
    late = server.post(message(2))
    assert [await asyncio.wait_for(heard(one.feed), 5) for one in (before, late)] == [None, None]
    assert arrival.is_set()


def test_nobody_else_may_speak_to_the_server():
    server = Server()
    assert (server.post(message(), token="other").status, server.lines) == (403, [])
    assert server.post(b"", method="PUT").status == 405


def test_lines_of_any_length_and_cut():
    lines = Lines()
    long = b'{"x": "' + b"y" * 3_000_000 + b'"}'
    data = long + b"\r\n\n{}\n{"
    found = [line for at in range(0, len(data), 65_536) for line in lines.feed(data[at : at + 65_536])]
    assert found == [long, b"{}"]


# ---------------------------------------------------------------- the agent's side


def side(*responses):
    """An agent's side whose requests are answered by these, and what it said."""
    said, left = [], list(responses)

    async def answer(request):
        given = left.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    bridge = Bridge("t", lambda line: None)
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    agent = AgentSide(
        "http://127.0.0.1:1/mcp/x", client, "t", bridge, lambda line: said.append(json.loads(line))
    )
    return agent, said


EVENTS = {"content-type": "text/event-stream"}
ANSWER = b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
NOTICE = b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            httpx.Response(200, headers=EVENTS, content=NOTICE + ANSWER),
            [{"method": "notifications/progress"}, {"result": {}}],
        ),
        (httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": {}}), [{"result": {}}]),
        (
            httpx.Response(200, headers=EVENTS, content=NOTICE),
            [{"method": "notifications/progress"}, {"code": -32000}],
        ),
        (httpx.Response(200, content=b""), [{"code": -32000}]),
        (httpx.Response(503, json={"error": {"message": "down"}}), [{"code": -32603, "message": "down"}]),
        (httpx.Response(502, content=b"<html>"), [{"code": -32603, "message": "HTTP status 502"}]),
        (
            httpx.Response(
                404, json={"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "gone"}}
            ),
            [{"code": -32001, "message": "gone"}],
        ),
        (httpx.ReadError("reset"), [{"code": -32000, "message": "Connection closed"}]),
        (
            httpx.Response(
                200,
                headers={**EVENTS, "content-encoding": "gzip"},
                stream=httpx.ByteStream(b"no gzip"),
            ),
            [{"code": -32000, "message": "Connection closed"}],
        ),
    ],
)
async def test_what_a_request_is_answered(response, expected):
    agent, said = side(response)
    await agent.send(message())
    await agent.close()
    assert len(said) == len(expected)
    for line, part in zip(said, expected, strict=True):
        told = line.get("error", line)
        assert {key: told[key] for key in part} == part
        assert line.get("id", 1) == 1


async def test_a_notification_gets_no_answer():
    agent, said = side(httpx.Response(202), httpx.Response(503), httpx.ReadError("reset"))
    for _ in range(3):
        await agent.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    await agent.close()
    assert said == []


async def test_an_answer_that_never_comes_keeps_nobody_for_ever(monkeypatch):
    monkeypatch.setattr(agent_side, "LAST_S", 0.01)
    left = asyncio.Event()

    class Silent(httpx.AsyncByteStream):
        async def __aiter__(self):
            try:
                await asyncio.Event().wait()
                yield b""
            finally:
                left.set()

    agent, said = side(httpx.Response(200, headers=EVENTS, stream=Silent()))
    await agent.send(message())
    await asyncio.wait_for(agent.idle(), 5)
    assert not left.is_set(), "it may still come, as long as the server lives"
    await asyncio.wait_for(agent.close(), 5)
    await asyncio.wait_for(left.wait(), 5)
    assert said == []


async def test_what_the_server_says_unasked_is_reported():
    agent, said = side(httpx.Response(200, headers=EVENTS, content=NOTICE))
    await asyncio.wait_for(agent.listen(), 5)
    assert [line["method"] for line in said] == ["notifications/progress"]
    await agent.close()


# ---------------------------------------------------------------- the proxy's door


def test_the_proxy_reaches_a_shim_s_port_while_it_runs(tmp_path):
    guard = Guard(shims=tmp_path / "shims")
    with run._announced_port(tmp_path / "shims", 4711):
        assert guard.check("127.0.0.1", 4711, "127.0.0.1") is None
        assert guard.check("127.0.0.1", 4712, "127.0.0.1") is not None
        assert guard.check("10.0.0.1", 4711, "10.0.0.1") is not None, "this machine only"
    assert guard.check("127.0.0.1", 4711, "127.0.0.1") is not None
    with run._announced_port(None, 4711):
        assert guard.check("127.0.0.1", 4711, "127.0.0.1") is not None
