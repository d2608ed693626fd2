"""The mock as a program (faultwire.mock.serving) and as a server with real sockets."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import ScenarioError, UsageError
from faultwire.mock.answering import Answerer
from faultwire.mock.client import Mock
from faultwire.mock.failing import Failing, FailureSpec
from faultwire.mock.gate import Gate
from faultwire.mock.running import running
from faultwire.mock.server import MockServer

ROOT = Path(__file__).parents[3]
ASK = {"model": "m", "messages": [{"role": "user", "content": "Say it back"}]}
KEY = {"authorization": "Bearer sk-x", "content-type": "application/json"}


def post(port: int, body: dict[str, Any], trust: str | None = None) -> tuple[int, bytes]:
    if trust:
        context = ssl.create_default_context(cafile=trust)
        connection = http.client.HTTPSConnection("localhost", port, timeout=30, context=context)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), KEY)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_a_child_answers_over_http_and_https_and_ends_with_us(tmp_path: Path) -> None:
    with Mock.start(tls=True, log=tmp_path / "mock.log") as mock:
        assert mock.https
        assert mock.ca
        assert mock.routes["api.openai.com"] == f"http://127.0.0.1:{mock.http}"
        plain, secure = post(mock.http, ASK), post(mock.https, ASK, mock.ca)
        assert plain == secure
        assert b"Say it back" in plain[1]
        folder = Path(mock.ca).parent
    assert mock._process.returncode == 0
    assert not folder.exists()
    with pytest.raises(ConnectionRefusedError):
        post(mock.http, ASK)
    assert (tmp_path / "mock.log").read_text() == ""


def test_two_processes_say_the_same() -> None:
    with Mock.start() as one, Mock.start() as two:
        for body in (ASK, {**ASK, "stream": True}):
            assert post(one.http, body) == post(two.http, body)


def test_a_script_is_followed_and_a_broken_one_reported(tmp_path: Path) -> None:
    script = tmp_path / "talk.yaml"
    script.write_text("turns: [{reply: {text: scripted}}]")
    with Mock.start(script) as mock:
        assert b"scripted" in post(mock.http, ASK)[1]
    script.write_text("turns:\n- reply: {txt: a}\n- reply: {}")
    with pytest.raises(ScenarioError) as caught:
        Mock.start(script)
    assert caught.value.where
    assert (caught.value.where.line, caught.value.code) == (2, "scenario.bad_value")
    assert "did you mean `text`?" in str([e.hint for e in (caught.value, *caught.value.also)])


def test_a_taken_port_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port `{port}` on `127.0.0.1` is taken"):
            Mock.start(port=port)


def test_the_first_event_arrives_before_the_last_is_sent() -> None:
    gate = Gate(after_events=1)
    with running(MockServer(Answerer(), hold=gate)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=30)
        connection.request("POST", "/v1/chat/completions", json.dumps({**ASK, "stream": True}), KEY)
        response = connection.getresponse()
        first = response.readline()
        assert first.startswith(b"data: {")
        assert gate.reached.wait(30)
        gate.open()
        rest = response.read()
        assert rest.endswith(b"data: [DONE]\n\n")
        connection.close()


def test_a_client_that_leaves_does_no_harm() -> None:
    gate = Gate(after_events=1)
    with running(MockServer(Answerer(), hold=gate)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=30)
        connection.request("POST", "/v1/chat/completions", json.dumps({**ASK, "stream": True}), KEY)
        connection.getresponse().readline()
        connection.close()
        gate.open()
        assert post(server.http, ASK)[0] == 200


def test_sigterm_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "faultwire.mock", json.dumps({"tls": True})]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=dict(os.environ)
    )
    assert process.stdin
    assert process.stdout
    ready = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert not Path(ready["ca"]).parent.exists()
    process.stdin.close()
    process.stdout.close()


def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "faultwire", "mock"]
    listed = subprocess.run(
        [*command, "--list"], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert "POST …/chat/completions" in listed.stdout
    assert "api.anthropic.com" in listed.stdout
    process = subprocess.Popen(
        [*command, "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    assert process.stdout
    text = b""
    while not text.rstrip().endswith(b"}"):
        text += process.stdout.readline()
    assert post(json.loads(text)["http"], ASK)[0] == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    missing = subprocess.run(
        [*command, "--script", "none.yaml"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=dict(os.environ),
        check=False,
    )
    assert missing.returncode == 2
    assert missing.stderr.startswith("none.yaml: scenario.not_found: ")


@pytest.mark.parametrize(("how", "ended"), [("cut", b""), ("reset", None)])
def test_a_scripted_break_is_seen_on_the_wire(how: str, ended: bytes | None) -> None:
    failure = FailureSpec.model_validate({"first": 1, "breaks": {"after_events": 2, "how": how}})
    with running(MockServer(Answerer(failing=Failing([failure])))) as server:
        asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        for broken in (True, False):
            connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=20)
            key = {"authorization": "Bearer k", "content-type": "application/json"}
            connection.request("POST", "/v1/chat/completions", json.dumps(asked), key)
            answer = connection.getresponse()
            if not broken:
                assert b"[DONE]" in answer.read()
            elif ended is None:
                with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
                    answer.read()
            else:
                with pytest.raises(http.client.IncompleteRead) as caught:
                    answer.read()
                assert caught.value.partial.count(b"data: ") == 2
            connection.close()
