"""`faultwire ui`, `tape serve` and `--ui` as commands: links, exit codes, and who cannot reach them."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.unit.workbench.conftest import deck_at

COMMAND = (sys.executable, "-m", "faultwire")
LINK = re.compile(r"(https?://\S+?/)#token=(\w+)")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    deck = deck_at(tmp_path / "t.tape")
    deck.exchange()
    deck.cut()
    deck.close()
    return tmp_path


class Running:
    """A command that serves, and what it printed."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.first = self.process.stdout.readline()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(30)
        assert self.process.stdout
        self.process.stdout.close()
        return code


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_serves_until_a_signal_and_leaves_nothing(here: Path, number: int, code: int) -> None:
    running = Running("ui", "./t.tape")
    found = LINK.match(running.first)
    assert found
    with httpx.Client(base_url=found[1], trust_env=False) as client:
        assert client.get("/").status_code == 200
        assert client.get("/api/tape").status_code == 401
        entered = client.post("/api/session", json={"token": found[2]})
        assert entered.status_code == 200
        assert client.get("/api/tape").json()["exchanges"] == 2
    port = found[1].split(":")[2].strip("/")
    assert [path.name for path in Path(".faultwire/workbench").iterdir()] == [port]
    assert running.end(number) == code
    assert list(Path(".faultwire/workbench").iterdir()) == []


def test_a_program_reads_a_served_tape_with_its_token(here: Path) -> None:
    command = [*COMMAND, "tape", "serve", "./t.tape", "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    text = ""
    while not text.endswith("}\n"):
        text += process.stdout.readline()
    printed = json.loads(text)
    given = {"authorization": f"Bearer {printed['token']}"}
    with httpx.Client(base_url=printed["url"], headers=given, trust_env=False) as client:
        assert [row["number"] for row in client.get("/api/exchanges").json()["rows"]] == [1, 2]
        assert client.get("/api/exchanges/1/events").json()["events"]["got"] == 1
        assert client.get("/api/ledger").json()["lines"][0]["outcome"] == "fired"
        assert client.post("/api/verification").json()["ok"] is True
        assert client.get("/api/exchanges/9").status_code == 422
        assert client.get("/api/exchanges?after=x").status_code == 400
    process.terminate()
    assert process.wait(30) == 0
    process.stdout.close()


def test_a_port_in_use_exits_2(here: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = ran("ui", "./t.tape", "--ui-listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 2
    assert "ui.port" in done.stderr
    assert "hint:" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.com"])
def test_off_loopback_it_demands_tls(here: Path, host: str) -> None:
    for command in (("ui", "./t.tape"), ("exec", "--ui", "--mock")):
        more = ("--", "true") if command[0] == "exec" else ()
        done = ran(*command, "--ui-listen", f"{host}:0", *more)
        assert done.returncode == 2, done.stderr
        assert "usage.ui_listen" in done.stderr
        assert "--ui-cert" in done.stderr


def test_a_tape_that_cannot_be_read_exits_3_and_one_that_is_not_there_2(here: Path) -> None:
    Path("x.tape").write_bytes(b"not a tape")
    assert ran("ui", "./x.tape").returncode == 3
    assert ran("ui", "./nowhere.tape").returncode == 2
    assert ran("ui").returncode == 2


def certificate(folder: Path) -> tuple[str, str]:
    done = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2",
         "-subj", "/CN=bench.test",
         "-addext", "subjectAltName=DNS:bench.test,IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0
    return "cert.pem", "key.pem"


def test_with_tls_it_answers_to_the_names_of_its_certificate(here: Path) -> None:
    cert, key = certificate(here)
    running = Running("ui", "./t.tape", "--ui-listen", "0.0.0.0:0", "--ui-cert", cert, "--ui-key", key)
    found = LINK.match(running.first)
    assert found
    assert found[1].startswith("https://bench.test:")
    port = int(found[1].split(":")[2].strip("/"))
    trusting = ssl.create_default_context(cafile=cert)
    with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusting, trust_env=False) as client:
        assert client.get("/", headers={"host": f"bench.test:{port}"}).status_code == 200
        assert client.get("/", headers={"host": f"evil.test:{port}"}).status_code == 421
        done = client.post("/api/session", json={"token": found[2]})
        assert "secure" in done.headers["set-cookie"].lower()
    assert running.end() == 0


def test_a_certificate_without_its_key_exits_2(here: Path) -> None:
    cert, _ = certificate(here)
    assert "usage.ui_tls" in ran("ui", "./t.tape", "--ui-cert", cert).stderr
    done = ran("ui", "./t.tape", "--ui-cert", cert, "--ui-key", cert)
    assert done.returncode == 2
    assert "usage.ui_tls" in done.stderr


# ---------------------------------------------------------------- beside a run


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"hi")

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def neighbour() -> Iterator[int]:
    """Another server of this machine."""
    server = HTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


AGENT = """
    import os, sys, urllib.request
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": os.environ["HTTP_PROXY"]}))
    ports = [*os.listdir(".faultwire/workbench"), sys.argv[1]]
    for port in ports:
        try:
            with opener.open(f"http://127.0.0.1:{port}/") as answer:
                print(answer.status, answer.read().decode()[:40])
        except urllib.error.HTTPError as error:
            print(error.code, error.read().decode()[:400])
"""


def test_an_agent_cannot_reach_it_through_the_proxy(here: Path, neighbour: int) -> None:
    """The neighbour, which is allowed by the same rule, is the control."""
    Path("agent.py").write_text(textwrap.dedent(AGENT))
    done = ran("exec", "--ui", "--allow-host", "127.0.0.1", "--", sys.executable, "agent.py", str(neighbour))
    assert done.returncode == 0, done.stderr
    to_us, to_the_neighbour = done.stdout.splitlines()
    assert to_us.startswith("403")
    assert "workbench" in to_us
    assert to_the_neighbour == "200 hi"
    assert LINK.search(done.stderr)


def test_a_run_is_shown_while_it_goes_on_and_its_end_ends_the_workbench(here: Path, page: Any) -> None:
    agent = """
        import json, sys, urllib.request
        for line in sys.stdin:
            turns = [{"role": "user", "content": line}]
            body = json.dumps({"model": "gpt-4o-mini", "messages": turns}).encode()
            asked = urllib.request.Request("https://api.openai.com/v1/chat/completions", body)
            asked.add_header("content-type", "application/json")
            asked.add_header("authorization", "Bearer sk-of-a-test")
            urllib.request.urlopen(asked).read()
    """
    Path("agent.py").write_text(textwrap.dedent(agent))
    command = [*COMMAND, "exec", "--mock", "--ui", "--", sys.executable, "agent.py"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, bufsize=1, **pipes)  # type: ignore[call-overload]
    try:
        found = next(filter(None, map(LINK.search, process.stderr)))
        page.goto(found[0])
        page.locator("#state", has_text="live").wait_for()
        for number in (1, 2):
            process.stdin.write(f"line {number}\n")
            page.locator(".line .c-no", has_text=str(number)).wait_for()
        page.locator(".line .dim", has_text="line 2").wait_for()
        process.stdin.close()
        page.locator("#closed", has_text="does not answer").wait_for()
    finally:
        process.stdin.close()
        process.stderr.read()
        code = process.wait(60)
        process.stderr.close()
    assert code == 0
