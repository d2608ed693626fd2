"""Where a scan finds a secret, what it calls it, and what it says where it cannot look.

Covers faultwire.tape.redact.scan.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import TapeError
from faultwire.events import Exchange, Request
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact import scan as scanning
from faultwire.tape.redact.scan import Leak, files, scan

KEY = "sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2
MASKED = "sk…1R"
SLACK = "/services/T0123456789/B0123456789/aB3dE5fG7hJ9kL1mN3pQ5rS7"
TELEGRAM = "/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw5/getMe"
FOUND = ("anthropic_key", MASKED)
DATADOG = "4f1c9be27a60d83e5b7c19fa02d6e8b4"


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    request = Request("POST", "https", "h", 443, "/a", (), b'{"say":"hi"}')
    recording = writer.record(Exchange("s", 1, request, "llm"))
    recording.request(request)
    recording.end("complete")
    writer.close()
    path.chmod(0o600)
    return path


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def put(path: Path, record: bytes, seq: int = 1) -> None:
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("UPDATE events SET record = ? WHERE seq = ?", (record, seq))


def put_blob(path: Path, data: bytes) -> str:
    digest = sha256(data).digest()
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("INSERT INTO blobs VALUES (?, ?, 0, ?)", (digest, len(data), data))
    return f"blob {digest.hex()[:16]}"


def told(path: Path) -> list[tuple[str, str, str]]:
    found = scan(path)
    assert {leak.file for leak in found} <= {str(path)}
    return [(leak.place, leak.what, leak.masked) for leak in found]


def refused(act: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(TapeError) as error:
        act()
    return error.value.message, error.value.code


# ---------------------------------------------------------------- which files


def test_files_below_a_folder_are_plain_ones_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("c.log", "b/a.log", "a.log", "x.key", "x.pem", "x.p12", "b/x.pfx"):
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to("a.log")
    (tmp_path / "to-folder").symlink_to("b")
    os.mkfifo(tmp_path / "pipe")
    assert files(tmp_path) == [tmp_path / "a.log", tmp_path / "b" / "a.log", tmp_path / "c.log"]
    for name in ("link", "pipe", "none"):
        said = f"no file or folder at `{tmp_path / name}`"
        assert refused(lambda name=name: files(tmp_path / name)) == (said, "tape.not_found")
    assert files(tmp_path / "x.key") == [tmp_path / "x.key"]
    assert files(tmp_path / "to-folder") == [tmp_path / "to-folder" / "a.log"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a.log")
    (tmp_path / "a.log").write_text(KEY)
    for name, why in (
        ("link", "Too many levels of symbolic links"),
        ("none", "No such file or directory"),
        (".", "Is a directory"),
    ):
        said = f"cannot read `{tmp_path / name}`: {why}"
        assert refused(lambda name=name: scan(tmp_path / name)) == (said, "tape.unreadable")


def test_a_tape_is_known_by_its_name_and_its_first_bytes(tape: Path, tmp_path: Path) -> None:
    put(tape, json.dumps({"type": "note", "text": KEY}).encode())
    assert told(tape) == [("event 1", *FOUND)]
    other = tmp_path / "t.db"
    other.write_bytes(tape.read_bytes())
    at = tape.read_bytes().index(KEY.encode())
    assert told(other) == [(f"byte {at}", *FOUND)]
    text = tmp_path / "text.tape"
    text.write_text(f"SQLite {KEY}")
    assert told(text) == [("byte 7", *FOUND)]
    assert scan(text) == [Leak(str(text), "byte 7", *FOUND)]


# ---------------------------------------------------------------- tapes


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ([7, KEY], [FOUND]),
        (KEY, [FOUND]),
        (7, []),
        ({"a": KEY}, [FOUND]),
        ({"a": {"b": [1, KEY, {"c": KEY}]}, "d": KEY}, [FOUND] * 3),
        ({"headers": [["x-note", KEY], ["x-note", "none"], [1, KEY], [KEY, 1]]}, [FOUND] * 2),
        ({"headers": [7, None, [], [KEY], KEY, ["a", KEY, 1], {"a": 1, "b": KEY}]}, [FOUND] * 4),
        ({"headers": KEY}, [FOUND]),
        ({"headers": [["x-datadog", DATADOG]]}, [("secret.datadog-api-key", "4f…b4")]),
        ({"lines": [["x-datadog", DATADOG]]}, []),
        ({"headers": {"a": KEY}}, [FOUND]),
        ({"path": f"/a?note={KEY}"}, [FOUND]),
        ({"path": [KEY]}, [FOUND]),
        ({"path": SLACK, "host": "hooks.slack.com"}, [("secret.slack-webhook", "se…S7")]),
        ({"path": SLACK, "host": "hooks.example.com"}, []),
        ({"path": SLACK, "host": 7}, []),
        ({"path": SLACK}, []),
        ({"path": TELEGRAM, "host": "api.telegram.org"}, [("secret.telegram-bot-token", "12…w5")]),
        ({"path": TELEGRAM, "host": "h.example"}, []),
        ({"path": "/a?api_key=12345678901"}, [("query", "…")]),
        ({"path": "/a?api_key=123456789012"}, [("query", "12…12")]),
        ({"a": '{"password": "hunter2"}'}, [("key", "…")]),
        ({"a": "nothing", "b": None, "c": 1.5}, []),
        ({"a": f"redacted:v1:{'0' * 32}", "path": f"/?api_key=redacted:v1:{'0' * 32}"}, []),
        ({"path": f"/?api_key=redacted:v1:{'0' * 31}"}, [("query", "…")]),
        ({"path": f"/?api_key=redacted:v1:{'0' * 33}"}, [("query", "…")]),
    ],
    ids=lambda value: ascii(value)[:30] if isinstance(value, dict) else "",
)
def test_what_is_found_in_an_event(tape: Path, event: Any, found: list[tuple[str, str]]) -> None:
    put(tape, json.dumps(event).encode())
    assert told(tape) == [("event 1", *one) for one in found]


def test_what_is_nested_without_end_is_read(tape: Path) -> None:
    put(tape, b'{"a":' + b"[" * 500 + json.dumps(KEY).encode() + b"]" * 500 + b"}")
    assert told(tape) == [("event 1", *FOUND)]


def test_events_come_before_bodies_and_in_order(tape: Path) -> None:
    put(tape, json.dumps({"a": KEY}).encode(), 2)
    put(tape, json.dumps({"a": KEY}).encode(), 1)
    pieces = [json.dumps({"delta": {"content": KEY[at : at + 3]}}) for at in range(0, len(KEY), 3)]
    first = put_blob(tape, json.dumps({"say": KEY}).encode())
    second = put_blob(tape, "".join(f"data: {piece}\n\n" for piece in pieces).encode())
    put_blob(tape, b'{"say":"nothing","password":"redacted:v1:%s"}' % (b"0" * 32))
    assert told(tape) == [(place, *FOUND) for place in ("event 1", "event 2", first, second)]


def test_a_tape_that_is_damaged_says_where(tape: Path) -> None:
    for record in (b"{", b"", b"[" * 100_000):
        put(tape, record, 2)
        said = f"event 2 of tape `{tape}` is no record"
        assert refused(lambda: scan(tape)) == (said, "tape.damaged")
    put(tape, b"{}", 2)
    with closing(sqlite3.connect(tape)) as rows:
        (root,) = rows.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'blobs'").fetchone()
    data = bytearray(tape.read_bytes())
    data[(root - 1) * 8192] = 0xFF
    tape.write_bytes(bytes(data))
    said = f"tape `{tape}` is damaged: database disk image is malformed"
    assert refused(lambda: scan(tape)) == (said, "tape.damaged")


def test_a_body_whose_name_is_no_digest_is_looked_through(tape: Path) -> None:
    body = json.dumps({"say": KEY}).encode()
    put_blob(tape, body)
    data = bytearray(tape.read_bytes())
    name = data.index(body) - 32 - 1  # before the data stand its form, its size, the digest, and their types
    while data[name : name + 32] != sha256(body).digest():
        name -= 1
    kind = data.rindex(12 + 2 * 32, 0, name)  # SQLite's file format, section 2.1: even is a blob, odd a text
    data[kind] += 1
    tape.write_bytes(bytes(data))
    assert told(tape) == [("blob ?", *FOUND)]


# ---------------------------------------------------------------- other files


def test_in_any_other_file_the_byte_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    packed = base64.b64encode(f"the key is {KEY}".encode()).decode()
    name = "DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4"
    path.write_bytes(b"\xff\xe4 " + f"{KEY}\n{packed}\n{name}\npassword=hunter22222\n".encode())
    first, second = 3, 3 + len(KEY) + 1
    third = second + len(packed) + 1 + len("DATADOG_API_KEY=")
    assert told(path) == [
        (f"byte {first}", *FOUND),
        (f"byte {second}", "base64", f"{packed[:2]}…{packed[-2:]}"),
        (f"byte {third}", "secret.datadog-api-key", "4f…b4"),
    ]


def test_of_two_in_one_place_the_longer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text(f"https://user:{KEY}@h.example/ {KEY}")
    places = told(path)
    assert places[0][:2] == ("byte 8", "userinfo")
    assert places[-1] == (f"byte {len(f'https://user:{KEY}@h.example/ ')}", *FOUND)
    assert len(places) == 2


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"")
    assert scan(path) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # An address with a password begins where the key in it does, and is longer.
        ("https://glpat-aB3dE5fG7hJ9kL1mN3pQ:x@h.example/", [("byte 8", "userinfo", "gl…:x")]),
        # Only a name makes it a secret, written plainly or packed, beside escapes or not.
        ('{"password": "hunter22222"} https://h/?api_key=9f8e7d6c5b4a', []),
        ('&amp; {"password": "hunter22222"} https://h/?api_key=9f8e7d6c5b4a', []),
        (packed(b'{"password": "hunter22222hunter"}'), []),
        # With escapes in the text, what has a shape is found beside what has a name, and in it.
        (f'&amp; {{"password": "it is {KEY}"}}', [("byte 26", *FOUND)]),
        (f'&amp; {{"password": "it is {packed(KEY.encode())}"}}', [("byte 26", "base64", "c2…FS")]),
        (packed(b"DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4"), [("byte 0", "base64", "RE…I0")]),
        # Only what is packed in the packed holds it: its first reading does not.
        (packed(gzip.compress(KEY.encode(), mtime=0)), [("byte 0", "base64", "H4…AA")]),
    ],
    ids=[
        "longer",
        "named",
        "named beside escapes",
        "named and packed",
        "in a named one",
        "packed in one",
        "service",
        "twice",
    ],
)
def test_what_counts_outside_of_tapes(tmp_path: Path, text: str, found: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "x.log"
    path.write_text(text)
    assert told(path) == found


def test_of_a_long_file_only_a_part_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "_STEP", 64 << 10)
    path = tmp_path / "x.log"
    path.write_bytes(b"\n" * (4 << 20) + KEY.encode())
    tracemalloc.start()
    try:
        assert told(path) == [(f"byte {4 << 20}", *FOUND)]
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
