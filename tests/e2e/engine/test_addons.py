"""The scripts of `addons/` in a stock mitmdump."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from faultwire.events import Exchange, Request, Response
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.rules import read_rules

ADDONS = Path(__file__).parents[3] / "addons"
TIMEOUT_S = 20


@contextmanager
def mitmdump(script: str, folder: Path, *options: str) -> Iterator[int]:
    """A stock mitmdump with a script; its port."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    command = [sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()"]
    settings = [
        "connection_strategy=lazy",
        f"confdir={folder / 'confdir'}",
        "faultwire_allow_hosts=127.0.0.1",
    ]
    named = {option.partition("=")[0] for option in options}
    for setting in (*(one for one in settings if one.partition("=")[0] not in named), *options):
        command += ["--set", setting]
    process = subprocess.Popen(
        [*command, "-s", str(ADDONS / script), "--listen-host", "127.0.0.1", "-p", str(port)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
    )
    assert process.stdout is not None
    seen = b""
    try:
        for line in process.stdout:
            seen += line
            if b"listening at" in line:
                break
        else:
            raise AssertionError(seen.decode())
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert b"Addon error" not in seen + rest


class Address:
    """Where a client finds the proxy."""

    def __init__(self, port: int) -> None:
        self.port = port


def test_one_fault(tools: Any, upstream: Any, tmp_path: Path) -> None:
    upstream.answer("/v1/chat/completions", b"{}")
    fault = "faultwire_fault=status: {code: 503, on: {path: '*'}}"
    with (
        mitmdump("one_fault.py", tmp_path, fault) as port,
        tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client,
    ):
        client.post("/v1/chat/completions", b'{"model": "m", "messages": []}')
        assert client.response()[0] == 503
    assert upstream.asked == []


@pytest.mark.parametrize("profile", ["api_outage", pytest.param("calm", marks=pytest.mark.nightly)])
def test_chaos(tools: Any, upstream: Any, tmp_path: Path, profile: str) -> None:
    upstream.answer("/v1/chat/completions", b'{"id": "x"}')
    statuses = []
    with mitmdump("chaos.py", tmp_path, f"faultwire_profile={profile}") as port:
        for n in range(8):
            with tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client:
                body = b'{"model": "m", "messages": [{"role": "user", "content": "%d"}]}' % n
                client.post("/v1/chat/completions", body)
                try:
                    statuses.append(client.response()[0])
                except (EOFError, ConnectionError):
                    statuses.append(0)
    assert (set(statuses) == {200}) == (profile == "calm"), statuses


@pytest.mark.nightly
def test_record(tools: Any, upstream: Any, tmp_path: Path) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        tools.sse_head() + tools.chunk(b"data: 1\n\n") + tools.chunk(b"data: 2\n\n") + b"0\r\n\r\n"
    )
    tape = tmp_path / "mine.tape"
    with (
        mitmdump("record.py", tmp_path, f"faultwire_tape={tape}") as port,
        tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client,
    ):
        client.post("/", b"{}")
        assert client.response()[2] == b"data: 1\n\ndata: 2\n\n"
    with TapeReader.open(tape) as reader:
        (exchange,) = reader.history("mitmdump").exchanges
    assert exchange.upstream is not None
    assert exchange.upstream.body == b"data: 1\n\ndata: 2\n\n"
    assert exchange.ending == "complete"


def test_replay(tools: Any, upstream: Any, tmp_path: Path) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        tools.sse_head() + tools.chunk(b"data: 1\n\n") + tools.chunk(b"data: 2\n\n") + b"0\r\n\r\n"
    )
    tape = tmp_path / "mine.tape"
    target = f"127.0.0.1:{upstream.port}"
    with (
        mitmdump("record.py", tmp_path, f"faultwire_tape={tape}") as port,
        tools.Client(Address(port), target) as client,
    ):
        client.post("/", b"{}")
        assert client.response()[0] == 200
    before = len(upstream.asked)
    options = (f"faultwire_replay={tape}", "connection_strategy=eager")
    with (
        mitmdump("replay.py", tmp_path, *options) as port,
        tools.Client(Address(port), target) as client,
    ):
        client.post("/", b"{}")
        status, _, body = client.response()
        assert (status, body) == (200, b"data: 1\n\ndata: 2\n\n")
        client.post("/", b'{"else": 1}')
        status, headers, body = client.response()
        assert (status, headers["x-should-retry"]) == (422, "false")
        assert b"faultwire_replay_miss" in body
    assert len(upstream.asked) == before


def test_a_replay_redacts_by_the_rules_of_its_tape(tools: Any, upstream: Any, tmp_path: Path) -> None:
    asked, kind = b'{"ask": "mail jane.doe@lavenderfields.org"}', (("content-type", "application/json"),)
    rules = {"pii": True}
    settings: dict[str, Any] = {"origin": "p/t", "settings": {"redact": rules}, "rules": read_rules(rules)}
    writer = TapeWriter.create(tmp_path / "old.tape", **settings)
    writer.open_session("mitmdump", profile="", profile_digest="", seed=1)
    request = Request("POST", "http", "127.0.0.1", upstream.port, "/", kind, asked)
    recording = writer.record(Exchange("mitmdump", 1, request))
    recording.request(request)
    recording.upstream_head(Response(200, "", kind, b"{}"))
    recording.end("complete")
    writer.close_session("mitmdump")
    writer.close()
    options = (f"faultwire_replay={tmp_path / 'old.tape'}", f"faultwire_tape={tmp_path / 'new.tape'}")
    with (
        mitmdump("replay.py", tmp_path, *options) as port,
        tools.Client(Address(port), f"127.0.0.1:{upstream.port}") as client,
    ):
        client.post("/", asked)
        assert client.response()[0] == 200
    with TapeReader.open(tmp_path / "new.tape") as reader:
        (again,) = reader.exchanges()
        assert b"mail redacted:v1:" in (again.request.body or b"")
        assert reader.info().settings["redact"] == rules


def connect_and_ask(tools: Any, port: int, target: str) -> tuple[int, bytes]:
    """Status and body; 0 where the connection ended without an answer."""
    with tools.Client(Address(port), target) as client:
        client.post("/", b"{}")
        try:
            status, _, body = client.response()
        except (EOFError, ConnectionError):
            return 0, b""
        return status, body


def test_a_name_that_is_private_is_not_called(tools: Any, upstream: Any, tmp_path: Path) -> None:
    upstream.answer("/", b"{}")
    with mitmdump("chaos.py", tmp_path, "faultwire_profile=calm") as port:
        status, body = connect_and_ask(tools, port, f"localhost:{upstream.port}")
        assert (status, tools.error_of(body)["type"]) == (403, "faultwire_refused")
    assert upstream.asked == []


BROKEN = """
from faultwire.mitm.network.egress_guard import Guard
from faultwire.mitm.flow.mitmdump_addon import MitmdumpAddon


class Broken(Guard):
    def filter(self, host, port, infos):
        raise RuntimeError("told to")


class Breaking(MitmdumpAddon):
    def running(self):
        super().running()
        self.gateway.guard = Broken()


addons = [Breaking(profile="calm")]
"""


@pytest.mark.parametrize("broken", [True, False])
def test_a_look_up_that_raises_closes(tools: Any, upstream: Any, tmp_path: Path, broken: bool) -> None:
    """mitmproxy would log the exception of a hook and call the server; with `False`, the control."""
    upstream.answer("/", b"{}")
    script = tmp_path / "script.py"
    script.write_text(BROKEN if broken else BROKEN.replace('raise RuntimeError("told to")', "return infos"))
    with mitmdump(str(script), tmp_path) as port:
        status, _ = connect_and_ask(tools, port, f"localhost:{upstream.port}")
    assert (status, len(upstream.asked)) == ((0, 0) if broken else (200, 1))


def test_connection_faults_act_in_a_stock_mitmdump(
    tools: Any, tls_upstream: Any, test_ca: Any, tmp_path: Path
) -> None:
    tls_upstream.answer("/", b"{}")
    fault = (
        "faultwire_fault=tls_failure: {reason: wrong_host, on: {host: localhost}, first: 1, attempts: first}"
    )
    trust = f"ssl_verify_upstream_trusted_ca={test_ca.pem}"
    with mitmdump("one_fault.py", tmp_path, fault, trust, "faultwire_allow_hosts=localhost") as port:
        address = Address(port)
        address.ca_pem = tmp_path / "confdir" / "mitmproxy-ca-cert.pem"  # type: ignore[attr-defined]
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            tools.Client(address, f"localhost:{tls_upstream.port}", tls=True)
        with tools.Client(address, f"localhost:{tls_upstream.port}", tls=True) as client:
            client.get("/")
            assert client.response()[0] == 200
