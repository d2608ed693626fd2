"""HTTP/2 for every client that offers it: each fault has the outcome that it has over HTTP/1.1."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.engine import test_every_fault as every

from faultwire.mitm.engine.client import Engine, SessionHandle

DAY = (
    "status",
    "reset",
    "close",
    "cut_stream",
    "early_end",
    "truncate_body",
    "stall",
    "split_events",
    "calm",
)
"""By day one of each way in which a response is given or ends; every fault by night."""
NAMES = ["calm", *every.ROWS]
CASES = [name if name in DAY else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES]
ENDS_BROKEN = {"reset": True, "close": True, "cut_stream": True, "truncate_body": True}
"""Of some it is known beforehand, so that two that are equally wrong are not taken for right."""


@pytest.fixture(scope="module")
def both(engine: Engine) -> Engine:
    """An engine that speaks either, as its client wants: by default."""
    return engine


@pytest.fixture(scope="module")
def older(tools: Any, tmp_path_factory: pytest.TempPathFactory, test_ca: Any) -> Iterator[Engine]:
    """One that speaks HTTP/1.1 to all who can."""
    settings = tools.settings_in(tmp_path_factory.mktemp("older"), test_ca)
    with Engine.start(settings.model_copy(update={"http2": False})) as running:
        yield running


@pytest.fixture(scope="module")
def tools() -> Any:
    from tests.e2e.engine import conftest

    return conftest


def proxy_of(handle: SessionHandle, engine: Engine) -> str:
    return f"http://{handle.user}:{handle.token}@127.0.0.1:{engine.port}"


def asked(name: str) -> bytes:
    way = every.STREAMED if name == "calm" else every.ROWS[name][0]
    with_words = name in every.NEEDS_NEW_WORDS
    messages = every.WITH_RESULT if way == every.REQUEST and not with_words else every.TALK
    if name == "tool_stale":
        older = {**every.CALL, "id": "call_older"}
        result = {"role": "tool", "tool_call_id": "call_older", "content": "none"}
        messages = [
            *every.TALK,
            {"role": "assistant", "tool_calls": [older, every.CALL]},
            result,
            every.WITH_RESULT[2],
        ]
    return json.dumps({"model": "m", "stream": way == every.STREAMED, "messages": messages}).encode()


def call(client: httpx.Client, url: str, body: bytes) -> tuple[str, Any]:
    """The protocol that was spoken, and what came: status, type, body, and whether it ended as it should."""
    came = b""
    try:
        with client.stream("POST", url, content=body, headers={"content-type": "application/json"}) as answer:
            head = (answer.status_code, answer.headers.get("content-type"))
            try:
                for piece in answer.iter_raw():
                    came += piece
            except httpx.TransportError:
                return answer.http_version, (*head, came, "broken")
            return answer.http_version, (*head, came, "whole")
    except httpx.TransportError:
        return "", "nothing"


def outcome(
    tools: Any, engine: Engine, upstream: Any, name: str, http2: bool
) -> tuple[str, Any, list[bytes], dict[str, int], str]:
    """Protocol, what came, what upstream was asked, the faults that fired, and the ending on the tape."""
    way, settings = every.ROWS.get(name, (every.STREAMED, {}))
    entries = () if name == "calm" else ({"id": name, "fault": {"name": name, "settings": settings}},)
    session = engine.open_session(tools.fresh(name), tools.profile(*entries), 1, dice="either")
    upstream.asked.clear()
    every.serve(upstream, tools)
    trust = ssl.create_default_context(cafile=str(engine.ca_pem))
    proxy = proxy_of(session, engine)
    with httpx.Client(http2=http2, proxy=proxy, verify=trust, timeout=20, trust_env=False) as client:
        for _ in range(2 if way == every.TWICE else 1):
            spoken, came = call(client, f"https://localhost:{upstream.port}{every.PATH}", asked(name))
    summary = engine.close_session(session.name)
    assert summary.voids == ()
    with tools.TapeReader.open(engine.control.parent / "run.tape") as tape:
        last = tape.history(session.name).exchanges[-1]
    assert last.http2 is http2
    return spoken, came, [one.body for one in upstream.asked], dict(summary.fired), last.ending


@pytest.mark.parametrize("name", CASES)
def test_a_fault_has_the_same_outcome_over_either(
    tools: Any, both: Engine, tls_upstream: Any, name: str
) -> None:
    one, *first = outcome(tools, both, tls_upstream, name, http2=False)
    two, *second = outcome(tools, both, tls_upstream, name, http2=True)
    assert (one or "HTTP/1.1", two or "HTTP/2") == ("HTTP/1.1", "HTTP/2")
    assert second == first
    assert (name in first[2]) is (name != "calm")
    if name in ENDS_BROKEN:
        assert first[0] == "nothing" or first[0][3] == "broken"
    elif name in ("calm", "early_end"):
        assert first[0][3] == "whole"


def test_a_connection_to_a_server_without_it_serves_call_after_call(
    tools: Any, both: Engine, tls_upstream: Any
) -> None:
    places = set()

    def answer(asked: Any, connection: Any) -> None:
        places.add(connection.getpeername())
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    tls_upstream.handlers["/x"] = answer
    session = both.open_session(tools.fresh("again"), tools.CALM, 1)
    trust = ssl.create_default_context(cafile=str(both.ca_pem))
    with httpx.Client(http2=True, proxy=proxy_of(session, both), verify=trust, trust_env=False) as client:
        answers = [client.get(f"https://localhost:{tls_upstream.port}/x") for _ in range(5)]
    assert {(one.http_version, one.content) for one in answers} == {("HTTP/2", b"{}")}
    assert len(places) == 1
    assert both.close_session(session.name).exchanges == 5


def test_curl_speaks_what_it_offers(tools: Any, both: Engine, older: Engine, tls_upstream: Any) -> None:
    program = shutil.which("curl")
    assert program is not None, "curl is needed: apt-get install curl"
    tls_upstream.answer("/x", b"{}")
    spoken, shown = {}, {}
    for name, running in (("on", both), ("off", older)):
        session = running.open_session(tools.fresh("curl"), tools.CALM, 1)
        command = [program, "-sS", "-x", proxy_of(session, running), "--cacert", str(running.ca_pem)]
        url = f"https://localhost:{tls_upstream.port}/x"
        done = subprocess.run(
            [*command, "-w", " %{http_version}", url], capture_output=True, text=True, check=True, timeout=20
        )
        spoken[name] = done.stdout
        running.close_session(session.name)
        shown[name] = " ".join(shown_by_tape_show(running, session.name).split())
    assert spoken == {"on": "{} 2", "off": "{} 1.1"}
    assert "client spoke HTTP/2" in shown["on"]
    assert "kind" in shown["off"]
    assert "client spoke" not in shown["off"]


def shown_by_tape_show(engine: Engine, session: str) -> str:
    tape = str(engine.control.parent / "run.tape")
    command = [sys.executable, "-m", "faultwire", "tape", "show", tape, "--session", session]
    done = subprocess.run([*command, "--exchange", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


NODE = """
import http2 from 'node:http2'; import http from 'node:http';
import tls from 'node:tls'; import fs from 'node:fs';
const [port, token, ca, target] = process.argv.slice(2);
const ask = http.request({port, method: 'CONNECT', path: target,
  headers: {'proxy-authorization': 'Basic ' + Buffer.from(token).toString('base64')}});
ask.on('connect', (_, socket) => {
  const secured = tls.connect({socket, servername: 'localhost', ca: fs.readFileSync(ca),
    ALPNProtocols: ['h2', 'http/1.1']}, () => {
    const session = http2.connect('https://' + target, {createConnection: () => secured});
    const call = session.request({':path': '/x'});
    let status, body = '';
    call.on('response', head => { status = head[':status']; });
    call.on('data', piece => { body += piece; });
    call.on('end', () => { console.log(secured.alpnProtocol, status, body); session.close(); });
    call.end();
  });
});
ask.end();
"""


def test_node_s_http2_is_served(tools: Any, both: Engine, tls_upstream: Any, tmp_path: Path) -> None:
    program = shutil.which("node")
    assert program is not None, "node is needed"
    tls_upstream.answer("/x", b"{}")
    session = both.open_session(tools.fresh("node"), tools.CALM, 1)
    script = tmp_path / "ask.mjs"
    script.write_text(NODE)
    user, target = f"{session.user}:{session.token}", f"localhost:{tls_upstream.port}"
    command = [program, str(script), str(both.port), user, str(both.ca_pem), target]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.split() == ["h2", "200", "{}"]
    assert both.close_session(session.name).exchanges == 1
