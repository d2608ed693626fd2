"""`faultwire ingest` as its own process, and what an SDK of ELS 1.0 gets from it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import pytest
from tests.unit.ingestion.sdk_batches import SMALL, sdk_batch

FAULTWIRE = str(Path(sys.executable).parent / "faultwire")
Json = dict[str, Any]


class Service:
    """One that runs."""

    def __init__(self, process: subprocess.Popen[str], ready: Json) -> None:
        self.process = process
        self.url = ready["url"]
        self.ready = ready

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"content-type": "application/json", **headers}
        named = {name.replace("_", "-"): value for name, value in given.items()}
        place = urlsplit(self.url)
        with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)) as connection:
            connection.request("GET" if data is None else "POST", path, data, named)
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        lines = status == 200 and path.endswith(("/export", "=jsonl"))
        return status, text.decode() if lines else json.loads(text)

    def send(self, batch: Json) -> tuple[int, Any]:
        return self.ask("/v1/ingest", batch)

    def export(self, session: str) -> list[Json]:
        status, text = self.ask(f"/v1/sessions/{session}/export")
        assert status == 200
        return [json.loads(line) for line in text.splitlines()]

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Service]:
    command = [FAULTWIRE, "ingest", "--format", "json", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Service(process, _ready(process.stdout))
    finally:
        process.kill()
        process.wait(timeout=30)
        process.stdout.close()


def _ready(out: IO[str]) -> Json:
    """The one JSON object that it prints, over several lines."""
    text = ""
    for line in out:
        text += line
        if line.rstrip() == "}":
            break
    return dict(json.loads(text))


def faultwire(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [FAULTWIRE, *arguments], cwd=folder, check=False, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("ingest")) as running:
        yield running


def test_a_session_is_taken_sealed_exported_and_verifies(service: Service, tmp_path: Path) -> None:
    batch = sdk_batch("whole", SMALL, seal=True)
    status, answer = service.send(batch)
    assert status == 201
    assert (answer["accepted_count"], answer["chain_authority"], answer["sealed"]) == (3, "SERVER", True)
    assert answer["chain_seal"]["evidence_class"] == "AUTHORITATIVE_EVIDENCE"
    assert answer["final_hash"] == batch["events"][-1]["event_hash"]
    events = service.export("whole")
    assert [event["seq"] for event in events] == [1, 2, 3, 4]
    assert events[-1]["payload"]["session_digest"] == answer["session_digest"]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    code, out = faultwire(tmp_path, "tape", "import", str(log), "-o", "log")
    assert (code, "bad" in out) == (0, False)
    log.write_text(log.read_text().replace('"model_id": "m"', '"model_id": "n"'))
    assert faultwire(tmp_path, "tape", "import", str(log), "-o", "changed")[0] == 1


def test_the_export_as_one_document(service: Service) -> None:
    service.send(sdk_batch("document", SMALL, seal=True))
    status, found = service.ask("/v1/sessions/document/export?format=json")
    assert (status, found["evidence_class"], len(found["events"])) == (200, "AUTHORITATIVE_EVIDENCE", 4)
    assert found["seal"]["final_event_hash"] == found["events"][2]["event_hash"]
    assert service.ask("/v1/sessions/document/export?format=jsonl")[0] == 200
    status, found = service.ask("/v1/sessions/document/export?format=pdf")
    assert (status, found["detail"]["message"]) == (400, "expected `format=jsonl` or `format=json`")


def test_a_second_batch_goes_on_and_the_same_one_is_a_conflict(service: Service) -> None:
    first = sdk_batch("two", SMALL[:2])
    before = first["events"][-1]["event_hash"]
    assert service.send(first)[0] == 201
    assert service.send(first)[1]["detail"]["code"] == "DUPLICATE_SEQUENCE"
    status, answer = service.send(sdk_batch("two", SMALL[2:], first=3, before=before, seal=True))
    assert (status, answer["chain_seal"]["event_count"]) == (201, 3)
    assert service.send(first)[1]["detail"]["code"] == "ALREADY_SEALED"


def hostile() -> Iterator[tuple[str, Any, int, str]]:
    """Name, body, status, code."""
    start, call, end = SMALL
    yield "gap", sdk_batch("h1", SMALL, first=2), 409, "SEQUENCE_GAP"
    yield "from zero", sdk_batch("h2", SMALL, first=0), 409, "DUPLICATE_SEQUENCE"
    yield "no start", sdk_batch("h3", [call, end]), 400, "INVALID_GENESIS"
    yield "another genesis", sdk_batch("h4", SMALL, before="1" * 64), 400, "INVALID_GENESIS"
    yield "two starts", sdk_batch("h5", [start, start]), 400, "INVALID_PAYLOAD"
    yield "events after the end", sdk_batch("h6", [start, end, call]), 400, "INVALID_PAYLOAD"
    yield "seal without an end", sdk_batch("h7", [start, call], seal=True), 400, "INVALID_SEAL_REQUEST"
    yield "a seal of its own", sdk_batch("h8", [start, ("CHAIN_SEAL", {})]), 403, "SERVER_AUTHORITY_VIOLATION"
    yield "a break of its own", sdk_batch("h9", [("CHAIN_BROKEN", {})]), 403, "SERVER_AUTHORITY_VIOLATION"
    yield "unknown type", sdk_batch("h10", [start, ("THOUGHT", {})]), 400, "INVALID_PAYLOAD"
    yield "no events", {"session_id": "h11", "events": []}, 400, "MISSING_REQUIRED_FIELD"
    yield "no session", {"events": sdk_batch("x", SMALL)["events"]}, 400, "MISSING_REQUIRED_FIELD"
    yield "a path as session", {**sdk_batch("x", SMALL), "session_id": "../../x"}, 400, "INVALID_PAYLOAD"
    yield "a list", [], 400, "INVALID_PAYLOAD"
    yield "no JSON", b"{", 400, "INVALID_PAYLOAD"
    yield "no UTF-8", b'{"a":"\xff"}', 400, "INVALID_PAYLOAD"
    yield "nested", b"[" * 200_000, 400, "INVALID_PAYLOAD"
    yield "NaN", b'{"session_id":"x","events":[{"event_type":NaN}]}', 400, "INVALID_PAYLOAD"
    yield "too many", {"session_id": "x", "events": [1] * 20_001}, 413, "BATCH_TOO_LARGE"
    yield "too large", b" " * ((16 << 20) + 1), 413, "BATCH_TOO_LARGE"
    half = sdk_batch("h12", SMALL)
    half["events"][0]["payload"] = {"x": "\ud800"}
    yield "half a character", half, 400, "INVALID_PAYLOAD"


@pytest.mark.parametrize(
    ("body", "status", "code"), [pytest.param(*one, id=name) for name, *one in hostile()]
)
def test_a_hostile_batch_is_refused_with_its_reason_and_leaves_nothing(
    service: Service, body: Any, status: int, code: str
) -> None:
    before = service.ask("/v1/sessions")[1]
    found, answer = service.ask("/v1/ingest", body)
    assert (found, answer["detail"]["code"]) == (status, code)
    assert service.ask("/v1/sessions")[1] == before
    assert service.ask("/health") == (200, {"status": "ok"})


def test_pages_other_hosts_and_other_kinds_of_body_are_refused(service: Service) -> None:
    batch = sdk_batch("page", SMALL)
    assert service.ask("/v1/ingest", batch, origin="https://evil.test")[0] == 403
    assert service.ask("/v1/ingest", batch, host="evil.test")[0] == 421
    assert service.ask("/v1/ingest", batch, content_type="text/plain")[0] == 415
    assert service.ask("/v1/sessions/page/export")[0] == 404
    assert service.send(batch)[0] == 201


def test_a_changed_event_keeps_a_session_from_being_authoritative_and_strict_refuses_it(
    service: Service, tmp_path: Path
) -> None:
    batch = sdk_batch("changed", SMALL, seal=True)
    batch["events"][1]["payload"] = {"model_id": "another"}
    status, answer = service.send(batch)
    assert (status, answer["findings"]) == (201, ["event 2 is not what its SDK hashed"])
    assert answer["evidence_class"] == "PARTIAL_AUTHORITATIVE_EVIDENCE"
    with serving(tmp_path, "--strict") as strict:
        status, answer = strict.send(batch)
        assert (status, answer["detail"]["code"]) == (400, "PAYLOAD_HASH_MISMATCH")
        assert strict.send(sdk_batch("changed", SMALL))[0] == 201


def test_a_secret_is_on_no_disk_and_the_export_still_verifies(tmp_path: Path) -> None:
    secret = "sk-proj-" + "Ab3dEf6hIj9k" * 4
    told = [
        SMALL[0],
        ("TOOL_CALL", {"tool_name": "t", "args": {"key": secret, "session_id": "other"}}),
        SMALL[2],
    ]
    with serving(tmp_path) as running:
        status, answer = running.send(sdk_batch("secret", told, seal=True))
        assert (status, answer["evidence_class"]) == (201, "AUTHORITATIVE_EVIDENCE")
        events = running.export("secret")
        assert running.end() == 130
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    assert faultwire(tmp_path, "tape", "import", str(log), "-o", "log")[0] == 0
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) > 4
    assert [path for path in kept if secret.encode() in path.read_bytes()] == []


@pytest.mark.cold
def test_what_was_acknowledged_survives_a_kill_and_sessions_go_on(tmp_path: Path) -> None:
    acknowledged: dict[str, str] = {}

    def sent(running: Service, number: int) -> None:
        name = f"s{number}"
        status, answer = running.send(sdk_batch(name, SMALL[:2]))
        if status == 201:
            acknowledged[name] = answer["final_hash"]
        if len(acknowledged) == 40:
            os.kill(running.process.pid, signal.SIGKILL)

    with serving(tmp_path) as running, ThreadPoolExecutor(8) as pool:
        results = [pool.submit(sent, running, number) for number in range(200)]
        broken = [one.exception() for one in results if one.exception()]
    assert broken
    assert len(acknowledged) >= 40
    with serving(tmp_path) as again:
        listed = {one["session_id"] for one in again.ask("/v1/sessions")[1]["sessions"]}
        assert acknowledged.keys() <= listed
        name, last = next(iter(acknowledged.items()))
        assert again.send(sdk_batch(name, SMALL[2:], first=3, before=last, seal=True))[0] == 201
        assert [event["seq"] for event in again.export(name)] == [1, 2, 3, 4]
        assert again.end(signal.SIGTERM) == 0
        code, out = faultwire(tmp_path, "tape", "verify", again.ready["tape"])
    assert (code, "what agents reported of themselves" in out) == (0, True)


def test_two_services_do_not_share_a_folder_and_a_changed_one_is_not_added_to(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        running.send(sdk_batch("s", SMALL))
        code, out = faultwire(tmp_path, "ingest")
        assert (code, "is used by another service" in out) == (2, True)
        assert running.end() == 130
    tape = tmp_path / running.ready["tape"]

    tape.chmod(0o600)
    with closing(sqlite3.connect(tape)) as connection:
        gone = "DELETE FROM events WHERE CAST(record AS TEXT) GLOB '*SESSION_START*'"
        assert connection.execute(gone).rowcount == 1
        connection.commit()
    code, out = faultwire(tmp_path, "ingest")
    assert (code, "is not what was kept" in out) == (3, True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--listen", "0.0.0.0:0"], "which others can reach, expected `--cert` and `--key`"),
        (["--listen", "nowhere"], "expected `HOST:PORT`"),
        (["--token-file", "short"], "holds no token"),
        (["--token-file", "open"], "has mode 644, expected 600"),
    ],
)
def test_what_cannot_be_right_is_refused_before_anything_is_made(
    tmp_path: Path, options: list[str], expected: str
) -> None:
    for name, mode, text in (("short", 0o600, "x"), ("open", 0o644, "x" * 40)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    code, out = faultwire(tmp_path, "ingest", *options)
    assert (code, expected in out) == (2, True), out
    assert not (tmp_path / ".faultwire" / "ingested").exists()


def test_a_token_is_demanded_where_one_is_given(tmp_path: Path) -> None:
    token = "t" * 40
    (tmp_path / "token").write_text(f"{token}\n")
    (tmp_path / "token").chmod(0o600)
    with serving(tmp_path, "--token-file", "token") as running:
        batch = sdk_batch("s", SMALL)
        assert running.send(batch)[0] == 401
        assert running.ask("/v1/ingest", batch, authorization="Bearer " + "u" * 40)[0] == 401
        assert running.ask("/v1/ingest", batch, authorization=f"Bearer {token}")[0] == 201
        assert running.ask("/v1/sessions/s/export")[0] == 401


def test_two_batches_at_once_are_one_after_the_other_and_none_is_lost(service: Service) -> None:
    batch = sdk_batch("race", SMALL)
    with ThreadPoolExecutor(8) as pool:
        codes = [one[0] for one in pool.map(service.send, [batch] * 16)]
    assert sorted(codes) == [201] + [409] * 15
    assert [event["seq"] for event in service.export("race")] == [1, 2, 3]
