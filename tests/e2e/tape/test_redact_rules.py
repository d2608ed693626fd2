"""What a user wants redacted, through a run that a user starts: JSON, event streams, forms, multipart bodies,
header fields, queries, paths and WebSocket messages. None of it is on the disk, while the tape is open or
after; bodies stay valid; server and agent get every byte as it was sent."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_to_bytes

import pytest
from websockets.sync.server import ServerConnection, serve

from faultwire.events import Recorded
from faultwire.tape.format.blobs import unpack
from faultwire.tape.read.reader import TapeReader

EMPLOYEE, TENANT, NICK, NUMBER = "EMP-739214", "tenant-Vq83Kx", "Zannatra-Quist", "NR-5583-K"
MAIL, IBAN = "zelda.morrow@firm-example.org", "DE89370400440532013000"
PLANTED = (EMPLOYEE, TENANT, NICK, NUMBER, MAIL, IBAN)
MARKER = "harmless-marker-Tb6Xw1"
"""No rule names it: that it is found at every place shows that the search works."""

RULES = """
  headers: ["x-tenant-*"]
  paths: ["$.user.nick", "$..number"]
  patterns:
    - {id: employee, regex: "EMP-[0-9]{6}"}
"""
TEXT = f"{MARKER}: {EMPLOYEE} wrote {MAIL}, pay {IBAN} soon"
JSON = json.dumps({"user": {"nick": NICK, "age": 41}, "deep": [{"number": NUMBER}], "text": TEXT}).encode()
NESTED = json.dumps({"arguments": json.dumps({"say": TEXT, "é": f"\u00e9 {MAIL}"})}).encode()
FORM = f"who={EMPLOYEE}&mail={quote(MAIL)}&note={MARKER}&iban={IBAN}".encode()
MULTIPART = (
    "".join(
        f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {"who": EMPLOYEE, "mail": MAIL, "note": MARKER, "pay": f"to {IBAN}"}.items()
    )
    + "--edge--\r\n"
).encode()
QUERY = f"/ask/{EMPLOYEE}?who={EMPLOYEE}&mail={quote(MAIL)}&note={MARKER}"


def stream() -> bytes:
    """A model's stream that says the text three letters at a time, and an event with a path in it."""
    pieces = [TEXT[at : at + 3] for at in range(0, len(TEXT), 3)]
    events: list[Any] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    events.append({"meta": {"number": NUMBER}, "user": {"nick": NICK}})
    return "".join(f"data: {event}\n\n" for event in (*map(json.dumps, events), "[DONE]")).encode()


SENT = {
    "/json": ("application/json", JSON),
    "/nested": ("application/json", NESTED),
    "/form": ("application/x-www-form-urlencoded", FORM),
    "/multipart": ("multipart/form-data; boundary=edge", MULTIPART),
    QUERY: ("text/plain", TEXT.encode()),
}

AGENT = """
import json, os, shutil, sys, urllib.request
from pathlib import Path
from websockets.sync.client import connect

url, socket, folder = sys.argv[1:4]
given, got = json.load(open("sent.json")), {}

def ask(path, kind=None, body=None):
    headers = {"X-Tenant-Id": given["tenant"], "X-Note": given["note"]}
    headers |= {"Content-Type": kind} if kind else {}
    request = urllib.request.Request(url + path, body and body.encode("latin-1"), headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode("latin-1")

for path, (kind, body) in given["sent"].items():
    got[path] = ask(path, kind, body)
got["/stream"] = ask("/stream")
with connect(socket, proxy=os.environ["http_proxy"]) as talk:
    talk.send(given["message"])
    got["message"] = talk.recv()

def acknowledged():
    (run,) = Path(".faultwire/runs").iterdir()
    return sum('"acknowledged"' in line for line in (run / "events.jsonl").read_text().splitlines())

asked = 0
while acknowledged() < len(got) and asked < 500:  # more traffic, until the disk has it
    ask("/more")
    asked += 1
shutil.copytree(".faultwire", folder, ignore=shutil.ignore_patterns("*.sock"))
print(json.dumps(got))
"""


class Upstream(ThreadingHTTPServer):
    """Answers with what it got, and keeps that."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.got: dict[str, tuple[bytes, dict[str, str]]] = {}


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.got[self.path] = (body, {name.lower(): value for name, value in self.headers.items()})
        kind = (
            "text/event-stream" if self.path == "/stream" else self.headers.get("content-type", "text/plain")
        )
        out = stream() if self.path == "/stream" else body or b"more"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(out)))
        self.send_header("x-tenant-name", TENANT)
        self.end_headers()
        for at in range(0, len(out), 37):
            self.wfile.write(out[at : at + 37])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def echo(socket: ServerConnection) -> None:
    for said in socket:
        socket.send(said)


@pytest.fixture
def sockets() -> Iterator[str]:
    with serve(echo, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"ws://localhost:{server.socket.getsockname()[1]}/talk"
        server.shutdown()
        thread.join()


def faultwire(here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(
        [sys.executable, "-m", "faultwire", *arguments],
        cwd=here,
        env=kept,
        capture_output=True,
        text=True,
        timeout=120,
    )


class Ran:
    """One run with these options; `seen` is the project's folder as it was while the tape was open."""

    def __init__(self, here: Path, upstream: Upstream, socket: str, *options: str) -> None:
        self.here, self.seen = here, here / "seen"
        (here / "agent.py").write_text(AGENT)
        sent = {path: (kind, body.decode("latin-1")) for path, (kind, body) in SENT.items()}
        given = {"sent": sent, "tenant": TENANT, "note": f"{MARKER} {EMPLOYEE}", "message": JSON.decode()}
        (here / "sent.json").write_text(json.dumps(given))
        url = f"http://localhost:{upstream.server_port}"
        agent = (sys.executable, "agent.py", url, socket, str(self.seen))
        self.done = faultwire(here, "exec", "--allow-host", "localhost", *options, "--", *agent)
        assert self.done.returncode == 0, self.done.stderr
        self.got: dict[str, str] = json.loads(self.done.stdout)
        (self.tape,) = (here / ".faultwire").rglob("*.tape")

    def found(self, *places: Path) -> set[str]:
        """What was planted (or is the marker) and is in these folders, in whatever form."""
        data = b"\n".join(part for place in places for part in texts(place))
        plain = re.sub(rb"\\+u00([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), data)
        said = b"".join(re.findall(rb'"content\\*": ?\\*"([^"\\]*)', data))
        forms = (data, plain, unquote_to_bytes(data), said)
        return {value for value in (*PLANTED, MARKER) if any(value.encode() in form for form in forms)}


def texts(folder: Path) -> Iterator[bytes]:
    """Every file below a folder, and the cells of tapes, unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.name.encode()
            yield path.read_bytes()
        if path.suffix == ".tape":
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as rows:
                yield from (record for (record,) in rows.execute("SELECT record FROM events"))
                yield from (unpack(*row) for row in rows.execute("SELECT size, packed, data FROM blobs"))


def exchanges(tape: Path) -> dict[str, Recorded]:
    """By the path up to its first placeholder."""
    with TapeReader.open(tape) as reader:
        return {re.split(r"redacted:|\?", one.request.path)[0]: one for one in reader.exchanges()}


def config(here: Path, text: str) -> Path:
    path = here / "faultwire.yaml"
    path.write_text(text)
    return path


@pytest.mark.by_day("section0")
@pytest.mark.parametrize("section", ["redact:" + RULES, "proxy:\n  redact:" + RULES.replace("\n", "\n  ")])
def test_nothing_that_a_rule_names_reaches_the_disk(
    tmp_path: Path, upstream: Upstream, sockets: str, section: str
) -> None:
    path = config(tmp_path, section)
    ran = Ran(tmp_path, upstream, sockets, "--redact", "pii", "--config", str(path))
    for name, (_, body) in SENT.items():
        assert upstream.got[name][0] == body
        assert upstream.got[name][1]["x-tenant-id"] == TENANT
        assert ran.got[name].encode("latin-1") == body
    assert ran.got["/stream"].encode("latin-1") == stream()
    assert ran.got["message"] == JSON.decode()
    assert ran.found(ran.seen) == {MARKER}
    assert list(ran.seen.rglob("*.tape-wal"))
    assert ran.found(tmp_path / ".faultwire") == {MARKER}
    assert not any(value in ran.done.stderr for value in PLANTED)
    assert faultwire(tmp_path, "tape", "verify", str(ran.tape)).returncode == 0
    for form in ("jsonl", "har", "bundle", "otlp", "flows"):
        (tmp_path / "out").mkdir(exist_ok=True)
        faultwire(tmp_path, "tape", "export", str(ran.tape), "--to", form, "-o", f"out/t.{form}")
        assert (tmp_path / "out" / f"t.{form}").stat().st_size
    assert ran.found(tmp_path / "out") == {MARKER}


def test_what_is_left_is_valid(tmp_path: Path, upstream: Upstream, sockets: str) -> None:
    path = config(tmp_path, "redact:" + RULES)
    ran = Ran(tmp_path, upstream, sockets, "--redact", "pii", "--config", str(path))
    told = exchanges(ran.tape)
    said = json.loads(told["/json"].request.body or b"")
    assert said["user"]["nick"].startswith("redacted:v1:")
    assert said["user"]["age"] == 41
    assert said["deep"][0]["number"].startswith("redacted:v1:")
    assert re.fullmatch(
        rf"{MARKER}: redacted:v1:\w+ wrote redacted:v1:\w+, pay redacted:v1:\w+ soon", said["text"]
    )
    inner = json.loads(json.loads(told["/nested"].request.body or b"")["arguments"])
    assert inner["say"] == said["text"]
    form = dict(parse_qsl((told["/form"].request.body or b"").decode(), strict_parsing=True))
    assert list(form) == ["who", "mail", "note", "iban"]
    assert form["note"] == MARKER
    head = b"Content-Type: multipart/form-data; boundary=edge\r\n\r\n"
    parts = message_from_bytes(head + (told["/multipart"].request.body or b"")).get_payload()
    assert [part.get_param("name", header="content-disposition") for part in parts] == [
        *("who", "mail", "note", "pay")
    ]
    assert all("redacted:v1:" in parts[at].get_payload() for at in (0, 1, 3))
    answer = told["/stream"].upstream
    assert answer is not None
    events = [event[6:] for event in answer.body.decode().split("\n\n") if event]
    assert events.pop() == "[DONE]"
    found = [json.loads(event) for event in events]
    assert len(found) == stream().count(b"data:") - 1
    assert found[-1]["meta"]["number"].startswith("redacted:v1:")
    text = "".join(event["choices"][0]["delta"]["content"] for event in found[:-1])
    assert text == said["text"]
    messages = [json.loads(message.data) for message in told["/talk"].messages if message.kind != "close"]
    assert messages == [said, said]


def test_without_rules_all_of_it_is_there(tmp_path: Path, upstream: Upstream, sockets: str) -> None:
    """The control: the same traffic and the same search."""
    ran = Ran(tmp_path, upstream, sockets)
    assert ran.found(tmp_path / ".faultwire") == {*PLANTED, MARKER}
    assert ran.found(ran.seen) == {*PLANTED, MARKER}
