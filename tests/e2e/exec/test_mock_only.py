"""`--mock`: what leaves this machine, shown with a server on its network that notes every key."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil
import pytest
from tests import interpreter as own_interpreter

Faultwire = Callable[..., "subprocess.CompletedProcess[bytes]"]
NAME = "api.elsewhere.example"
KEY = "sk-elsewhere-0123456789"
ASK = ("curl", "-sS", "-w", "\n%{http_code}", "-H", f"authorization: Bearer {KEY}")
RESOLVER = """
import os, socket
real = socket.getaddrinfo
def getaddrinfo(host, *more, **named):
    with open(os.environ["LOOKED_UP"], "a") as log:
        log.write(f"{host}\\n")
    return real(os.environ["OUTSIDE"] if host == "api.elsewhere.example" else host, *more, **named)
socket.getaddrinfo = getaddrinfo
"""


class Outside(HTTPServer):
    """A server that is not on the loopback interface; `keys` are those that it was sent."""

    keys: list[str | None]


class NotesKeys(BaseHTTPRequestHandler):
    server: Outside

    def do_GET(self) -> None:
        self.server.keys.append(self.headers["authorization"])
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"real")

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def serving(address: str) -> Iterator[Outside]:
    with Outside((address, 0), NotesKeys) as server:
        server.keys = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def interpreter(here: Path) -> str:
    """One with the resolver of the tests."""
    return str(own_interpreter.make(here / "python", [here / "resolver"]))


@pytest.fixture
def outside(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    """The server, and a resolver in every process of ours that knows its name and notes what it is asked."""
    each = [
        one.address
        for found in psutil.net_if_addrs().values()
        for one in found
        if one.family == socket.AF_INET
    ]
    others = [address for address in each if not address.startswith("127.")]
    if not others:
        pytest.skip("this machine has no address but its loopback ones")
    (here / "looked_up").touch()
    (here / "resolver").mkdir()
    (here / "resolver" / "noted_resolver.py").write_text(RESOLVER)
    (here / "resolver" / "noted_resolver.pth").write_text("import noted_resolver\n")
    monkeypatch.setenv("LOOKED_UP", str(here / "looked_up"))
    monkeypatch.setenv("OUTSIDE", others[0])
    yield from serving(others[0])


def asked(faultwire: Faultwire, url: str, *options: str) -> tuple[str, str, str]:
    """Status, body and what faultwire printed."""
    done = faultwire("exec", *options, "--", *ASK, url)
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.decode().rpartition("\n")
    return status, body, done.stderr.decode()


@pytest.mark.by_day("True")
@pytest.mark.parametrize("by_name", [True, False])
def test_a_key_for_an_unknown_host_stays_here(
    by_name: bool, outside: Outside, faultwire: Faultwire, here: Path
) -> None:
    host = NAME if by_name else str(outside.server_address[0])
    url = f"http://{host}:{outside.server_port}/v1"
    status, body, printed = asked(faultwire, url, "--mock", "--allow-host", host)
    assert status == "501"
    error = json.loads(body)["error"]
    assert error["type"] == "faultwire_mock"
    assert f"add `--mock-except {host}`" in error["message"]
    assert f"refused 1 call to {host}:{outside.server_port}: the mock does not answer for `{host}`" in printed
    assert outside.keys == []
    assert host not in (here / "looked_up").read_text().split()

    # The same request arrives without the mock, and where its host is excepted.
    assert asked(faultwire, url, "--allow-host", host)[:2] == ("200", "real")
    assert outside.keys == [f"Bearer {KEY}"]
    status, body, printed = asked(faultwire, url, "--mock", "--mock-except", host, "--allow-host", host)
    assert (status, body) == ("200", "real")
    assert "not mocked" in printed
    assert outside.keys == [f"Bearer {KEY}"] * 2
    assert by_name == (NAME in (here / "looked_up").read_text().split())


@pytest.mark.parametrize(
    ("fault", "status", "says", "fired"),
    [
        ("status: {code: 503}", "503", "answered 503", 1),
        ("dns_failure: {}", "502", "the name was not found", 1),
        ("truncate_body: {fraction: 0.5}", "501", "never fired: the mock does not answer for `", 0),
    ],
)
def test_a_fault_acts_on_a_host_that_is_not_mocked_and_nothing_leaves(
    fault: str, status: str, says: str, fired: int, outside: Outside, faultwire: Faultwire, here: Path
) -> None:
    url = f"http://{NAME}:{outside.server_port}/v1"
    entry = f"{{{fault}, on: {{host: {NAME}}}}}"
    met, _, printed = asked(faultwire, url, "--mock", "--allow-host", NAME, "--fault", entry)
    assert met == status
    assert f"faults     {fired} fired" in printed
    assert says in printed
    assert ("refused 1 call" in printed) == (not fired)
    assert outside.keys == []
    assert NAME not in (here / "looked_up").read_text().split()

    # A fault that lets the same request go, and no mock: it arrives.
    assert asked(faultwire, url, "--allow-host", NAME, "--fault", "latency: {ms: 1}")[0] == "200"
    assert outside.keys == [f"Bearer {KEY}"]


@pytest.mark.nightly
def test_a_streamed_body_for_an_unknown_host_stays_here(
    outside: Outside, faultwire: Faultwire, here: Path
) -> None:
    """Of a request that is too long to be held the rest would pass as it comes."""
    (here / "long").write_bytes(b"x" * (40 << 20))
    url = f"http://{NAME}:{outside.server_port}/v1"
    send = ("-X", "GET", "-H", "content-type: application/json", "-T", "long")
    for fault, status in (("cut_stream: {after_events: 1}", "501"), ("status: {code: 503}", "503")):
        entry = f"{{{fault}, on: {{host: {NAME}}}}}"
        done = faultwire("exec", "--mock", "--allow-host", NAME, "--fault", entry, "--", *ASK, *send, url)
        assert done.stdout.decode().rpartition("\n")[2] == status, done.stderr
    assert outside.keys == []
    assert NAME not in (here / "looked_up").read_text().split()


@pytest.mark.nightly
def test_a_declared_route_that_leads_outside_is_no_exception(outside: Outside, faultwire: Faultwire) -> None:
    target = f"http://{NAME}:{outside.server_port}"
    script = f"{' '.join(ASK[:2])} -w '%{{http_code}}' -o /dev/null $FAULTWIRE_URL_TOOLS/v1"
    for options, status, count in ((("--mock",), b"501", 0), ((), b"200", 1)):
        done = faultwire("exec", *options, "--reverse", f"tools={target}", "--", "sh", "-c", script)
        assert done.stdout == status, done.stderr
        assert len(outside.keys) == count


@pytest.mark.nightly
def test_tools_on_this_machine_work_as_without_the_mock(faultwire: Faultwire) -> None:
    for server in serving("127.0.0.1"):
        url = f"http://127.0.0.1:{server.server_port}/"
        assert asked(faultwire, url, "--mock", "--allow-host", "localhost")[:2] == ("200", "real")
        status, body, _ = asked(faultwire, url, "--mock")
        assert (status, json.loads(body)["error"]["type"]) == ("403", "faultwire_refused")
        assert len(server.keys) == 1


@pytest.mark.nightly
def test_a_host_of_the_mock_may_be_excepted(faultwire: Faultwire) -> None:
    url = "https://api.openai.com/v1/models"
    status, body, _ = asked(faultwire, url, "--mock")
    assert (status, "data" in json.loads(body)) == ("200", True)
    status, body, _ = asked(faultwire, url, "--mock", "--mock-except", "api.openai.com")
    assert (status, json.loads(body)["error"]["type"]) == ("502", "faultwire_upstream")


def test_an_exception_without_the_mock_is_refused(faultwire: Faultwire) -> None:
    done = faultwire("exec", "--mock-except", NAME, "--", "true")
    assert done.returncode == 2
    assert b"found `--mock-except` without `--mock`, expected both" in done.stderr
