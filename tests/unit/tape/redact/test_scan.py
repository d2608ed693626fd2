"""`faultwire tape scan`: what is secret is found wherever it lies, and never told.

Modules: `faultwire.tape.redact.scan`, `faultwire.cli.tape_scan`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from faultwire.cli import main
from faultwire.errors import TapeError
from faultwire.events import Exchange, Request, Response
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact import scan as scanning
from faultwire.tape.redact.scan import files, scan

KEY = "sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2
OTHER = "DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4"


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["tape", "scan", *args])


def taped(folder: Path) -> Path:
    """A tape with keys in a path, a body and a stream, as we record it."""
    path = folder / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    request = Request("POST", "https", "h", 443, f"/a?note={KEY}", (), json.dumps({"say": KEY}).encode())
    recording = writer.record(Exchange("s", 1, request, "llm"))
    recording.request(request)
    recording.upstream_head(Response(200, "OK", (("content-type", "text/event-stream"),)))
    for at in range(0, len(KEY), 3):
        recording.upstream_chunk(
            b'data: {"delta": {"content": %s}}\n\n' % json.dumps(KEY[at : at + 3]).encode()
        )
    recording.end("complete")
    writer.close()
    return path


def test_a_tape_of_ours_holds_none(tmp_path: Path) -> None:
    taped(tmp_path)
    done = run(str(tmp_path / "t.tape"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing found in 1 file" in done.stderr


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (base64.b64encode(f"the key is {KEY}".encode()), "base64"),
        (base64.encodebytes(f"{'the key is below ' * 4}{KEY}".encode()), "base64"),
        (base64.b32encode(f"the key is {KEY}".encode()), "base32"),
        (f"the key is {KEY}".encode().hex().encode(), "hex"),
        (gzip.compress(f"the key is {KEY}".encode(), mtime=0), "compressed"),
        ("".join(f"%{ord(one):02X}" for one in KEY).encode(), "anthropic_key"),
        ("".join(f"&#{ord(one)};" for one in KEY).encode(), "anthropic_key"),
        (
            json.dumps("".join(f"\\u{ord(one):04x}" for one in KEY)).replace("\\\\", "\\").encode(),
            "anthropic_key",
        ),
    ],
)
def test_a_key_is_found_in_encodings(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"a line before\n" + data + b"\nand one after\n")
    assert [leak.what for leak in scan(path)] == [what]
    path.write_bytes(b"a line before\n" + data[::-1] + b"\nand one after\n")
    assert scan(path) == []


def test_what_went_by_its_name_is_gone(tmp_path: Path) -> None:
    """Where a name makes the secret, what stands for it must not count."""
    path = tmp_path / "n.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    heads = (
        ("authorization", f"Bearer {KEY}"),
        ("cookie", "sid=c00kie-of-somebody"),
        ("location", "https://h/cb?token=9f8e7d6c5b4a"),
        ("x-api-key", "9f8e7d6c5b4a"),
        ("content-type", "application/x-www-form-urlencoded"),
    )
    form = b"client_secret=9f8e7d6c5b4a&password=hunter22222&a=1"
    target = "/a?api_key=9f8e7d6c5b4a&a=1#access_token=9f8e7d6c5b4a"
    request = Request("POST", "https", "h", 443, target, heads, form)
    recording = writer.record(Exchange("s", 1, request, "tool"))
    recording.request(request)
    recording.upstream_head(Response(302, "Found", heads))
    recording.upstream_chunk(b"token=9f8e7d6c5b4a&x=1")
    recording.end("complete", error="no way to https://h/a?api_key=9f8e7d6c5b4a")
    writer.close()
    for word in (b"9f8e7d6c5b4a", b"hunter22222", b"c00kie"):
        assert word not in path.read_bytes()
    assert scan(path) == []
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as rows, rows:  # what only looks like a placeholder counts
        rows.execute(
            "UPDATE events SET record = CAST(replace(record, 'api_key=redacted:v1:', 'api_key=redacted:v1:x')"
            " AS BLOB)"
        )
    assert {(leak.what, leak.masked) for leak in scan(path)} == {("query", "…")}


def test_one_of_somebody_who_redacts_nothing_is_reported(tmp_path: Path) -> None:
    path = taped(tmp_path)
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as rows, rows:
        record = rows.execute("SELECT record FROM events WHERE seq = 1").fetchone()[0]
        other = re.sub(rb"redacted:v1:\w+|(?<=\"path\":\")", KEY.encode(), record, count=1)
        rows.execute("UPDATE events SET record = ? WHERE seq = 1", (other,))
        pieces = [json.dumps({"delta": {"content": KEY[at : at + 3]}}) for at in range(0, len(KEY), 3)]
        for body in (json.dumps({"say": KEY}), "".join(f"data: {piece}\n\n" for piece in pieces)):
            data = body.encode()
            row = (hashlib.sha256(data).digest(), len(data), 0, data)
            rows.execute("INSERT INTO blobs (digest, size, packed, data) VALUES (?, ?, ?, ?)", row)
    done = run(str(path))
    assert done.exit_code == 1
    lines = sorted(done.stdout.splitlines())
    assert [line.split(": ")[1].split()[0] for line in lines] == ["blob", "blob", "event"]
    assert all(line.endswith("anthropic_key sk…1R") for line in lines)
    assert "3 found in 1 file" in done.stderr


@pytest.mark.parametrize(
    ("member", "changed"),
    [
        (b'"headers":[]', b'"headers":[["x-datadog","%b"]]'),
        (b'"path":"/a?note=', b'"path":"/a?datadog=%b&note='),
        (b'"provider":null', b'"provider":"DD_API_KEY=%b"'),
    ],
)
def test_a_field_is_judged_with_its_name(tmp_path: Path, member: bytes, changed: bytes) -> None:
    path = taped(tmp_path)
    path.chmod(0o600)
    value = OTHER.partition("=")[2].encode()
    for other, code in ((changed % value, 1), (changed % value[:12], 0)):
        with closing(sqlite3.connect(path)) as rows, rows:
            record = rows.execute("SELECT record FROM events WHERE seq = 1").fetchone()[0]
            assert member in record
            rows.execute("UPDATE events SET record = ? WHERE seq = 1", (record.replace(member, other),))
        done = run(str(path))
        assert done.exit_code == code
        assert ("secret.datadog-api-key 4f…b4" in done.stdout) == bool(code)
        with closing(sqlite3.connect(path)) as rows, rows:
            rows.execute("UPDATE events SET record = ? WHERE seq = 1", (record,))


def test_logs_and_reports_are_looked_through_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "engine.log").write_text(f"called with {KEY}\n")
    (tmp_path / "report.json").write_text(json.dumps({"answer": f"it is {OTHER} indeed"}))
    (tmp_path / "clean.html").write_text("<p>nothing here</p>")
    (tmp_path / "seal.key").write_text(f"lies where it belongs: {KEY}")
    (tmp_path / "link.log").symlink_to(tmp_path / "seal.key")
    done = run("--format", "json", str(tmp_path))
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["files"] == 3
    assert [(Path(one["file"]).name, one["place"], one["what"]) for one in told["found"]] == [
        ("engine.log", "byte 12", "anthropic_key"),
        ("report.json", "byte 34", "secret.datadog-api-key"),
    ]
    assert KEY[4:12] not in done.output
    assert OTHER[20:30] not in done.output
    assert run(str(tmp_path / "seal.key")).exit_code == 1


@pytest.mark.parametrize("before", [0, 1, 39, 40, 41, 63, 64, 65, 100, 127, 128])
def test_a_secret_is_found_once_wherever_a_step_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setattr(scanning, "_STEP", 64)
    monkeypatch.setattr(scanning, "_OVERLAP", 96)
    text = " " * before + KEY
    for after in ("", " ", " " * 200 + KEY):
        (tmp_path / "a.log").write_text(text + after)
        found = [(one.place, one.masked) for one in scan(tmp_path / "a.log")]
        again = [(f"byte {before + len(KEY) + 200}", "sk…1R")] if len(after) > 1 else []
        assert found == [(f"byte {before}", "sk…1R"), *again]


def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    path = taped(tmp_path)
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(1900)
    path.chmod(0o600)
    path.write_bytes(data)
    assert run(str(path)).exit_code == 3
    with pytest.raises(TapeError):
        files(tmp_path / "nothing")
    assert run("nothing").exit_code == 2
