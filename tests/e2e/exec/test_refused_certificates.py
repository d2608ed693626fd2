"""Clients that do not take our certificate: their calls are not to be seen, and the run says so."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest

from faultwire.mitm.network.client_process import program_of

Faultwire = Callable[..., "subprocess.CompletedProcess[bytes]"]
HOST = "api.openai.com"
URL = f"https://{HOST}/v1/models"
PYTHON = """
import ssl, sys, urllib.request
strict = ssl.create_default_context(cafile=sys.argv[1]) if sys.argv[1] else None
for _ in range(int(sys.argv[2])):
    try:
        urllib.request.urlopen(sys.argv[3], context=strict).read()
    except OSError as error:
        print("failed", file=sys.stderr)
"""
NODE = """
const ca = process.argv[1] ? {ca: require('tls').rootCertificates} : {};
const again = (n) => n && require('https').get(process.argv[2], ca, (r) => r.resume())
  .on('error', () => console.error('failed')).on('close', () => again(n - 1));
again(3);
"""


ADVANCE = r"""
# Each argument is one connection: `unused`, `call`, `h2` (the preface, no request), or `begun` (half a head).
import os, socket, ssl, sys
from base64 import b64encode
from urllib.parse import urlsplit
HOST, CALL = "api.openai.com", b"GET /v1/models HTTP/1.1\r\nHost: api.openai.com\r\nConnection: close\r\n\r\n"
def connected():
    if "HTTPS_PROXY" not in os.environ:  # in a namespace
        return socket.create_connection((HOST, 443))
    proxy = urlsplit(os.environ["HTTPS_PROXY"])
    user = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    raw = socket.create_connection((proxy.hostname, proxy.port))
    raw.sendall(f"CONNECT {HOST}:443 HTTP/1.1\r\nProxy-Authorization: Basic {user}\r\n\r\n".encode())
    assert b" 200 " in raw.recv(4096)
    return raw
for kind in sys.argv[1:]:
    context = ssl.create_default_context()
    if kind == "h2":
        context.set_alpn_protocols(["h2"])
    inside = context.wrap_socket(connected(), server_hostname=HOST)
    if kind == "h2":
        inside.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
        assert inside.recv(9)[3:4] == b"\4"  # SETTINGS
    elif kind == "begun":
        inside.sendall(CALL[:20])
    elif kind == "call":
        inside.sendall(CALL)
        assert inside.recv(4096).startswith(b"HTTP/1.1 200")
    inside.close()
"""
UNUSED = f"did not go on after faultwire showed its certificate for `{HOST}` (1 handshake)"


def python(roots: str, url: str = URL, times: int = 3) -> tuple[str, ...]:
    return (sys.executable, "-c", PYTHON, roots, str(times), url)


def recorded(faultwire: Faultwire, here: Path) -> list[dict[str, object]]:
    """What the ends of the sessions on the last run's tape say."""
    run = sorted((here / ".faultwire" / "runs").glob("*"))[-1]
    (tape,) = run.glob("*.tape")
    (here / "events.jsonl").unlink(missing_ok=True)
    assert faultwire("tape", "export", str(tape), "-o", "events.jsonl").returncode == 0
    events = [json.loads(line) for line in (here / "events.jsonl").read_text().splitlines()]
    assert "session_end" in {event.get("type") for event in events}
    return [one for event in events for one in event.get("handshakes", ())]


@pytest.mark.by_day("node")
@pytest.mark.parametrize(
    ("command", "program", "variable"),
    [
        pytest.param(python(certifi.where()), "python", "SSL_CERT_FILE", id="python"),
        pytest.param(("node", "-e", NODE, "strict", URL), "node", "NODE_EXTRA_CA_CERTS", id="node"),
        pytest.param(("curl", "-sS", "--cacert", certifi.where(), URL), None, "CURL_CA_BUNDLE", id="curl"),
    ],
)
def test_a_run_whose_client_refuses_the_certificate_is_inconclusive(
    command: tuple[str, ...], program: str | None, variable: str, faultwire: Faultwire, here: Path
) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"this machine has no {command[0]}")
    done = faultwire("exec", "--mock", "--", *command)
    said = done.stderr.decode()
    assert done.returncode == 3, said
    assert f"certificate for `{HOST}`" in said
    assert "the run is inconclusive: " in said
    assert "sent no traffic through the proxy" not in said
    assert variable in said
    seen = recorded(faultwire, here)
    assert {one["host"] for one in seen} == {HOST}
    assert sum(int(str(one["count"])) for one in seen) == (3 if program else 1)
    if program is not None:  # it stays, and is found at its second attempt at the latest
        assert any(str(one["program"]).startswith(program) for one in seen), seen


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="alone"),
        pytest.param(f"curl -sS -o /dev/null {URL}; ", id="beside-another-program"),
        pytest.param(f"{sys.executable} advance.py call; ", id="beside-the-same-program"),
    ],
)
def test_a_client_that_never_went_on_is_reported_whoever_else_did(
    before: str, faultwire: Faultwire, here: Path
) -> None:
    (here / "advance.py").write_text(ADVANCE)
    done = faultwire("exec", "--mock", "--", "sh", "-c", f"{before}{sys.executable} advance.py unused")
    said = done.stderr.decode()
    assert done.returncode == 3, said
    assert UNUSED in said
    assert [(one["host"], one["reason"]) for one in recorded(faultwire, here)] == [(HOST, "closed")]


@pytest.mark.parametrize("order", ["call unused unused", "unused unused call"])
def test_one_that_opens_more_connections_than_it_uses_is_not_accused(
    order: str, faultwire: Faultwire, here: Path
) -> None:
    """Negative control: clients open connections in advance."""
    (here / "advance.py").write_text(ADVANCE)
    done = faultwire("exec", "--mock", "--", sys.executable, "advance.py", *order.split())
    assert done.returncode == 0, done.stderr
    assert b"certificate for" not in done.stderr
    assert recorded(faultwire, here) == []


def test_one_that_said_anything_inside_has_taken_it(faultwire: Faultwire, here: Path) -> None:
    """The preface of HTTP/2, or half a head: no call came, and it is not the certificate's fault."""
    (here / "advance.py").write_text(ADVANCE)
    for kind in ("h2", "begun"):
        done = faultwire("exec", "--mock", "--", sys.executable, "advance.py", kind, "unused")
        assert done.returncode == 3, done.stderr
        assert b"certificate for" not in done.stderr, kind
        assert recorded(faultwire, here) == [], kind


@pytest.mark.nightly
def test_a_fault_on_the_certificate_is_no_refusal_of_ours(faultwire: Faultwire, here: Path) -> None:
    done = faultwire("exec", "--mock", "--fault", "tls_failure: {}", "--", "curl", "-sS", URL)
    assert done.returncode == 60, done.stderr
    assert b"faultwire's certificate for" not in done.stderr
    assert recorded(faultwire, here) == []


@pytest.mark.nightly
def test_of_another_host_it_is_a_note_beside_calls_that_came(faultwire: Faultwire, here: Path) -> None:
    strict = f"curl -sS --cacert {certifi.where()} https://telemetry.example/; curl -sS -o /dev/null {URL}"
    done = faultwire("exec", "--mock", "--", "sh", "-c", strict)
    assert done.returncode == 0, done.stderr
    assert b"refused faultwire's certificate for `telemetry.example` (1 handshake)" in done.stderr
    alone = faultwire("exec", "--mock", "--", *python(certifi.where(), "https://telemetry.example/"))
    assert alone.returncode == 3
    assert b"reached the proxy and sent nothing that could be read" in alone.stderr


def test_doctor_fails(faultwire: Faultwire) -> None:
    done = faultwire("doctor", "--format", "json", "--", *python(certifi.where()))
    failed = [one for one in json.loads(done.stdout) if one["state"] == "fail"]
    assert done.returncode == 3
    assert {one["subject"] for one in failed} == {"TLS"}
    assert all(f"refused faultwire's certificate for `{HOST}`" in one["text"] for one in failed)
    assert "SSL_CERT_FILE" in failed[0]["hint"]


@pytest.mark.nightly
def test_ci_is_inconclusive_too(faultwire: Faultwire, here: Path) -> None:
    (here / "faultwire.yaml").write_text(
        json.dumps(
            {
                "version": "2.0",
                "agent": {"type": "command", "command": [*python(certifi.where()), "{prompt}"]},
                "proxy": {"mock": True},
                "golden_prompts": [{"prompt": "hello", "expect": {"excludes_pattern": "x"}}],
            }
        )
    )
    done = faultwire("run")
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 3, said
    assert f"refused faultwire's certificate for `{HOST}`" in said
    assert "SSL_CERT_FILE" in said


def test_the_program_at_the_other_end_is_found_while_its_socket_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, theirs = server.accept()
        ours = accepted.getsockname()
        assert program_of(theirs, ours) == os.readlink("/proc/self/exe")
        client.close()
        assert program_of(theirs, ours) is None
        accepted.close()
