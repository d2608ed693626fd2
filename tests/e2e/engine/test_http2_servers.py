"""Servers behind clients of HTTP/2: those that end idle connections, and those that speak it themselves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from faultwire.mitm.engine.client import Engine, SessionHandle

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
MOST_HELD = 3 * 1024 * 1024
"""Bytes of one held stream that may have left a server: our window, what waits, and Node's buffers."""
FLOOD = 12 * 1024 * 1024
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def tools() -> Any:
    from tests.e2e.engine import conftest

    return conftest


@pytest.fixture(scope="module")
def both(tools: Any, tmp_path_factory: pytest.TempPathFactory, test_ca: Any) -> Iterator[Engine]:
    """An engine that speaks either HTTP."""
    settings = tools.settings_in(tmp_path_factory.mktemp("servers"), test_ca)
    with Engine.start(settings.model_copy(update={"http2": True})) as running:
        yield running


def client(engine: Engine, session: SessionHandle) -> httpx.AsyncClient:
    trust = ssl.create_default_context(cafile=str(engine.ca_pem))
    proxy = f"http://{session.user}:{session.token}@127.0.0.1:{engine.port}"
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    return httpx.AsyncClient(
        http2=True, proxy=proxy, verify=trust, timeout=60, trust_env=False, limits=limits
    )


# ---------------------------------------------------------------- a server that ends what it has kept open


class Closing:
    """A server of HTTP/1.1 with TLS. It answers `calls` requests of a connection; the next is read, and the
    connection ended without a word. With `at_once` it ends behind the last answer, once `may_end` is set."""

    def __init__(self, context: ssl.SSLContext, calls: int, *, at_once: bool = False) -> None:
        self.asked: list[tuple[int, str]] = []
        """Each request: the number of its connection, and its method."""
        self.may_end, self.ended = threading.Event(), threading.Event()
        self._context, self._calls, self._at_once = context, calls, at_once
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.port = self._listener.getsockname()[1]
        self._connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            self._connections += 1
            threading.Thread(target=self._serve, args=(raw, self._connections), daemon=True).start()

    def _serve(self, raw: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError):  # its client may leave whenever it likes
            self._speak(raw, number)

    def _speak(self, raw: socket.socket, number: int) -> None:
        with self._context.wrap_socket(raw, server_side=True) as connection:
            file = connection.makefile("rb")
            for served in range(self._calls + 1):
                if not (line := file.readline()):
                    return
                length = 0
                while (field := file.readline()) not in (b"\r\n", b""):
                    if field.lower().startswith(b"content-length:"):
                        length = int(field.split(b":")[1])
                file.read(length)
                self.asked.append((number, line.split(b" ", 1)[0].decode()))
                if served == self._calls:
                    return
                connection.sendall(OK)
                if self._at_once and number == 1 and served == self._calls - 1:
                    self.may_end.wait(20)
                    connection.shutdown(socket.SHUT_RDWR)
                    self.ended.set()
                    return

    def close(self) -> None:
        self._listener.close()


async def two_calls(engine: Engine, session: SessionHandle, port: int, method: str) -> list[tuple[str, int]]:
    async with client(engine, session) as one:
        found = [await one.request(method, f"https://localhost:{port}/x", content=b"1") for _ in range(2)]
    return [(answer.http_version, answer.status_code) for answer in found]


@pytest.mark.parametrize(
    ("method", "status", "asked"),
    [
        ("GET", 200, [(1, "GET"), (1, "GET"), (2, "GET")]),
        ("POST", 502, [(1, "POST"), (1, "POST")]),
    ],
)
def test_a_call_behind_the_end_of_its_connection_is_made_again_where_that_does_no_harm(
    tools: Any, both: Engine, test_ca: Any, method: str, status: int, asked: list[tuple[int, str]]
) -> None:
    server = Closing(test_ca.server_context("localhost"), 1)
    held = {
        "fault": {"name": "latency", "settings": {"ms": 1}},
        "trigger": {"after_calls": 1_000},
        "on": {"host": "localhost"},
    }
    session = both.open_session(tools.fresh("again"), tools.profile(held), 1)  # so that bodies are held
    found = asyncio.run(two_calls(both, session, server.port, method))
    summary = both.close_session(session.name)
    server.close()
    assert found == [("HTTP/2", 200), ("HTTP/2", status)]
    assert server.asked == asked
    assert (summary.exchanges, summary.voids) == (2, ()), "the second request of a call is no other exchange"


def test_a_connection_that_had_served_nothing_is_not_asked_again(
    tools: Any, both: Engine, test_ca: Any
) -> None:
    server = Closing(test_ca.server_context("localhost"), 0)
    session = both.open_session(tools.fresh("never"), tools.CALM, 1)
    found = asyncio.run(two_calls(both, session, server.port, "GET"))
    both.close_session(session.name)
    server.close()
    assert [status for _, status in found] == [502, 502]
    assert server.asked == [(1, "GET"), (2, "GET")]


@pytest.mark.cold
def test_a_post_goes_elsewhere_where_the_end_came_before_it(tools: Any, test_ca: Any, tmp_path: Path) -> None:
    """The engine stands still while the client calls again and the server ends the connection, so that it
    finds both at once, and reads the call first."""
    settings = tools.settings_in(tmp_path, test_ca).model_copy(update={"http2": True})

    async def scene(engine: Engine, session: SessionHandle, server: Closing) -> int:
        async with client(engine, session) as one:
            await one.post(f"https://localhost:{server.port}/x", content=b"1")
            os.kill(engine.pid, signal.SIGSTOP)
            try:
                second = asyncio.ensure_future(one.post(f"https://localhost:{server.port}/x", content=b"2"))
                sent = await asyncio.to_thread(_is_sent, engine.port)
                server.may_end.set()
                assert await asyncio.to_thread(server.ended.wait, 20)
            finally:
                os.kill(engine.pid, signal.SIGCONT)
            assert sent
            return (await second).status_code

    with Engine.start(settings) as engine:
        for number in range(4):
            server = Closing(test_ca.server_context("localhost"), 1, at_once=True)
            session = engine.open_session(f"before{number}", tools.CALM, 1)
            assert asyncio.run(scene(engine, session, server)) == 200
            summary = engine.close_session(session.name)
            server.close()
            assert server.asked == [(1, "POST"), (2, "POST")]
            assert (summary.exchanges, summary.voids) == (2, ())


def _is_sent(port: int) -> bool:
    """Does a connection to this port hold bytes that nobody has read? Asked of the kernel until it does."""
    for _ in range(20_000):
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].split(":")[1], 16) == port and int(fields[4].split(":")[1], 16):
                return True
    return False


# ---------------------------------------------------------------- a server of HTTP/2

NODE = r"""
const http2 = require('node:http2'), fs = require('node:fs');
const pem = fs.readFileSync(process.argv[2]);
const server = http2.createSecureServer({key: pem, cert: pem, allowHTTP1: false});
const flood = Number(process.argv[3]), event = Buffer.from('data: ' + 'x'.repeat(16376) + '\n\n');
let sessions = 0, sent = 0;
const dropped = [];
server.on('session', () => { sessions += 1; });
server.on('stream', (stream, head) => {
  stream.on('error', () => {});
  stream.on('close', () => { if (stream.rstCode) dropped.push(stream.rstCode); });
  const alpn = stream.session.alpnProtocol;
  const path = head[':path'].split('?')[0], sse = {'content-type': 'text/event-stream'};
  if (path === '/state') {
    stream.respond({':status': 200, 'content-type': 'application/json'});
    stream.end(JSON.stringify({sessions, sent, dropped}));
  } else if (path === '/echo') {
    const pieces = [];
    stream.on('data', piece => pieces.push(piece));
    stream.on('end', () => {
      if (stream.destroyed) return;
      const told = {':status': 200, 'x-alpn': alpn};
      stream.respond(told, {waitForTrailers: true});
      stream.on('wantTrailers', () => stream.sendTrailers({'x-last': 'word'}));
      stream.end(Buffer.concat(pieces));
    });
  } else if (path === '/drip') {
    stream.resume();
    stream.respond({':status': 200, ...sse});
    let left = 8;
    const timer = setInterval(() => {
      stream.write('data: drop\n\n');
      if (!--left) { clearInterval(timer); stream.end('data: [DONE]\n\n'); }
    }, 400);
  } else if (path === '/v1/chat/completions') {
    stream.resume();
    stream.respond({':status': 200, ...sse});
    let left = flood / event.length;
    const more = () => {
      if (!left--) { stream.end(); return; }
      stream.write(event, () => { sent += event.length; more(); });
    };
    more();
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
"""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, test_ca: Any) -> Iterator[int]:
    """The port of Node's own server of HTTP/2, which speaks nothing else."""
    program = shutil.which("node")
    assert program is not None, "node is needed"
    test_ca.server_context("localhost")
    pem = test_ca.folder / f"server{test_ca.made}.pem"
    script = tmp_path_factory.mktemp("node") / "server.cjs"
    script.write_text(NODE)
    command = [program, str(script), str(pem), str(FLOOD)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield int(process.stdout.readline())
        process.stdin.close()
        process.wait(20)


async def state(one: httpx.AsyncClient, port: int) -> dict[str, Any]:
    found: dict[str, Any] = (await one.get(f"https://localhost:{port}/state")).json()
    return found


def test_http_2_is_spoken_on_both_sides_and_streams_share_both_connections(
    tools: Any, both: Engine, node: int
) -> None:
    bodies = [os.urandom(size) for size in (0, 1, 70_000, 400_000)] * 3

    async def scene(session: SessionHandle) -> tuple[list[httpx.Response], int]:
        async with client(both, session) as one:
            before = (await state(one, node))["sessions"]
            calls = (one.post(f"https://localhost:{node}/echo", content=body) for body in bodies)
            answers = await asyncio.gather(*calls)
            return answers, (await state(one, node))["sessions"] - before

    session = both.open_session(tools.fresh("node"), tools.CALM, 1)
    answers, more = asyncio.run(scene(session))
    summary = both.close_session(session.name)
    assert [one.content for one in answers] == bodies
    assert {(one.http_version, one.headers["x-alpn"]) for one in answers} == {("HTTP/2", "h2")}
    assert more == 0
    assert (summary.exchanges, summary.voids) == (len(bodies) + 2, ())
    with tools.TapeReader.open(both.control.parent / "run.tape") as tape:
        kept = [one.delivered.body for one in tape.history(session.name).exchanges if one.delivered]
    assert sorted(kept[1:-1]) == sorted(bodies)


def test_what_a_server_sends_while_a_fault_holds_its_stream_has_a_bound(
    tools: Any, both: Engine, node: int
) -> None:
    async def scene(session: SessionHandle) -> tuple[int, int, int]:
        async with client(both, session) as one:
            before = (await state(one, node))["sent"]
            url = f"https://localhost:{node}{CHAT}"
            body = json.dumps({"model": "m", "stream": True, "messages": []}).encode()
            async with one.stream("POST", url, content=body) as answer:
                pieces = answer.aiter_raw()
                came = len(await anext(pieces))
                last, same = -1, 0
                while same < 20:  # it has sent what it can once nothing changes
                    now = (await state(one, node))["sent"] - before
                    last, same = now, same + 1 if now == last else 0
                held = last
                async for piece in pieces:
                    came += len(piece)
            return held, came, (await state(one, node))["sent"] - before

    stall = {
        "fault": {"name": "stall", "settings": {"after_events": 1, "for_ms": 3000}},
        "on": {"path": CHAT},
    }
    session = both.open_session(tools.fresh("held"), tools.profile(stall), 1)
    held, came, sent = asyncio.run(scene(session))
    summary = both.close_session(session.name)
    assert 0 < held < MOST_HELD
    assert came == sent == FLOOD // 16384 * 16384
    assert (summary.voids, sum(summary.fired.values())) == ((), 1)


@pytest.mark.parametrize("speaks", ["HTTP/2", "HTTP/1.1"])
def test_a_silent_server_ends_its_own_stream_and_no_other(
    tools: Any, node: int, tls_upstream: Any, speaks: str, settings: Any
) -> None:
    over = threading.Event()

    def drip(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head())
        for _ in range(8):
            connection.sendall(tools.chunk(b"data: drop\n\n"))
            over.wait(0.4)
        connection.sendall(tools.chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")

    tls_upstream.handlers["/drip"] = drip
    tls_upstream.handlers["/silent"] = lambda asked, connection: over.wait(20)
    tls_upstream.answer("/state", b'{"dropped": []}')
    port = node if speaks == "HTTP/2" else tls_upstream.port

    async def scene(
        engine: Engine, session: SessionHandle
    ) -> tuple[httpx.Response, httpx.Response, list[int]]:
        async with client(engine, session) as one:
            before = len((await state(one, port))["dropped"])
            calls = (one.get(f"https://localhost:{port}{path}") for path in ("/silent", "/drip"))
            silent, drops = await asyncio.gather(*calls)
            return silent, drops, (await state(one, port))["dropped"][before:]

    limits = {"http2": True, "first_byte_s": 2.0, "idle_body_s": 2.0}
    with Engine.start(settings.model_copy(update=limits)) as engine:
        session = engine.open_session("silent", tools.CALM, 1)
        silent, drops, dropped = asyncio.run(scene(engine, session))
        over.set()
        summary = engine.close_session("silent")
    assert (silent.http_version, silent.status_code) == ("HTTP/2", 504)
    assert "did not answer in time" in silent.json()["error"]["message"]
    assert drops.content == b"data: drop\n\n" * 8 + b"data: [DONE]\n\n"
    assert dropped == ([8] if speaks == "HTTP/2" else []), "the server hears that nobody waits any more"
    assert (summary.exchanges, summary.voids) == (4, ())
