"""`faultwire.tape.import_.tracefork`, `faultwire.tape.import_._tracefork_files`, `_tracefork_sqlite`."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.unit.tape.import_ import made

from faultwire.errors import TapeError
from faultwire.tape.import_ import tracefork
from faultwire.tape.import_._api import Event, Exchanged, Found, Item
from faultwire.tape.import_._tracefork_address import address

Json = dict[str, object]
NOTES = ["tracefork_digest", "tracefork_no_heads"]
GUESSED = ["tracefork_host", *NOTES]
DIGEST = made.tracefork_digest(made.DRAWS, made.CALLS, made.TOOLS)


def told(path: Path, data: bytes | None = None, digest: str | None = None) -> list[Item]:
    if data is not None:
        path.write_bytes(data)
    return list(tracefork.read(path, digest))


def codes(items: list[Item]) -> list[str]:
    return [one.code for one in items if isinstance(one, Found)]


def bodies(items: list[Item]) -> list[tuple[bytes | None, bytes | None]]:
    each = [one.exchange for one in items if isinstance(one, Exchanged)]
    return [(one.request.body, one.delivered.body if one.delivered else None) for one in each]


@pytest.mark.parametrize("schema", ["1", "2", "3"])
def test_sqlite(tmp_path: Path, schema: str) -> None:
    items = told(made.sqlite_tape(tmp_path / "t.sqlite", schema))
    tools = made.TOOLS if schema != "1" else []
    assert bodies(items) == [*made.CALLS, *tools]
    assert codes(items) == (NOTES if schema == "3" else GUESSED)
    digest = made.tracefork_digest(made.DRAWS, made.CALLS, tools, framed=schema == "3")
    assert any(isinstance(one, Found) and digest in one.message for one in items)
    events = [one for one in items if isinstance(one, Event)]
    assert [one.kind for one in events] == ["draw:clock", "draw:uuid", "header"]
    assert json.loads(events[0].data) == {"kind": "clock", "value": "1700000000.5"}
    assert {one.session for one in events} == {"shop-agent"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.sqlite"]


@pytest.mark.parametrize("version", range(1, 8))
def test_envelopes(tmp_path: Path, version: int) -> None:
    items = told(tmp_path / "t", made.envelope(version))
    tools = made.TOOLS if version >= 3 else []
    assert bodies(items) == [*made.CALLS, *tools]
    assert codes(items) == (NOTES if version >= 6 else GUESSED)
    digest = made.tracefork_digest(made.DRAWS, made.CALLS, tools, framed=version >= 7)
    assert any(isinstance(one, Found) and digest in one.message for one in items)
    first, second = (one.exchange for one in items[3:5] if isinstance(one, Exchanged))
    assert (first.request.scheme, first.request.host) == ("https", "api.openai.com")
    assert first.request.path == "/v1/chat/completions"
    assert first.delivered
    assert second.delivered
    assert [first.delivered.status, second.delivered.status] == [429 if version >= 7 else 200, 200]
    kind = "text/event-stream" + ("; charset=utf-8" if version >= 7 else "")
    assert second.delivered.headers == (("content-type", kind),)


def test_a_digest_that_somebody_gave(tmp_path: Path) -> None:
    path = tmp_path / "t"
    assert codes(told(path, made.envelope(), DIGEST)) == NOTES
    assert codes(told(path, None, DIGEST[:16].upper())) == NOTES
    for wrong in (DIGEST[:8], "0" * 16, DIGEST[:15] + "x"):
        assert "tracefork_digest_mismatch" in codes(told(path, None, wrong))
    assert codes(told(path, made.envelope(digest=DIGEST))) == NOTES
    assert "tracefork_digest_mismatch" in codes(told(path, made.envelope(digest="0" * 64)))


def test_headers_that_lie(tmp_path: Path) -> None:
    path = tmp_path / "t"
    real = [made.sha(body) for body in dict.fromkeys(b for pair in (*made.CALLS, *made.TOOLS) for b in pair)]
    cases = {
        "tracefork_count_mismatch": made.envelope(request_urls=["http://h.example/"]),
        "tracefork_blob_unreferenced": made.envelope(exchanges=[]),
        "tracefork_blob_mismatch": made.envelope(blob_hashes=[real[1], real[0], *real[2:]]),
        "tracefork_blob_missing": made.envelope(blob_hashes=["0" * 64, *real[1:]]),
        "tracefork_batch_mismatch": made.envelope(async_batches=[[0, 99]]),
        "tracefork_trailing_bytes": made.envelope() + b"more",
        "tracefork_content_redacted": made.envelope(content_redacted=True),
    }
    for code, data in cases.items():
        assert code in codes(told(path, data)), code
    assert "tracefork_count_mismatch" in codes(told(path, made.envelope(blob_hashes=[*real, "0" * 64])))
    assert "tracefork_count_mismatch" in codes(told(path, made.envelope()[:-3]))


def test_a_blob_that_unpacks_to_ten_gigabytes(tmp_path: Path) -> None:
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    piece = bytes(1 << 20)
    packed = b"".join(packer.compress(piece) for _ in range(80)) + packer.flush()
    path = made.sqlite_tape(tmp_path / "t")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE blobs SET data = ? WHERE hash = ?", (packed, made.sha(made.CALLS[0][1])))
    connection.close()
    items = told(path)
    assert codes(items) == ["tracefork_blob_missing", "tracefork_blob_malformed", *GUESSED]
    assert bodies(items)[0] == (made.CALLS[0][0], None)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"TFTAPE\0", "unpack"),
        (b"TFTAPE\0" + struct.pack(">HI", 8, 2) + b"{}", "version 8"),
        (b"TFTAPE\0" + struct.pack(">HI", 6, 4_000_000_000) + b"{}", "claims 4000000000 bytes"),
        (b"TFTAPE\0" + struct.pack(">HI", 6, 2) + b"[]", "readable"),
        (b"TFTAPE\0" + struct.pack(">HI", 6, 2) + b"{}", "exchanges"),
        (b'{"exchanges": [["%%", "QQ=="]], "draws": []}', "readable"),
        (b'{"exchanges": [[1, 2]], "draws": []}', "two texts"),
        (b"nonsense", "readable"),
        (b"SQLite format 3\0" + bytes(200), "readable"),
    ],
)
def test_what_is_no_tape(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(TapeError, match=why):
        told(tmp_path / "t", data)


def test_other_tables_versions_and_kinds(tmp_path: Path) -> None:
    path = tmp_path / "views"
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            f"CREATE VIEW events AS {endless} SELECT x AS seq, 'draw' AS kind, 'a' AS a, 'b' AS b FROM n;"
            "CREATE TABLE blobs (hash TEXT, data BLOB); CREATE TABLE meta (key TEXT, value TEXT);"
        )
    connection.close()
    with pytest.raises(TapeError, match="not the tables"):
        told(path)
    path = made.sqlite_tape(tmp_path / "t", schema_version="9")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO events (kind, a, b) VALUES ('dream', 'a', 'b')")
        connection.execute("UPDATE blobs SET data = 'text' WHERE hash = ?", (made.sha(made.CALLS[1][1]),))
    connection.close()
    (tmp_path / "t-wal").write_bytes(b"x")
    found = codes(told(path))
    for code in ("version", "event_unknown", "blob_missing", "unfinished"):
        assert f"tracefork_{code}" in found


def test_links_and_folders_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made.sqlite_tape(tmp_path / "t"))
    with pytest.raises(TapeError, match="symbolic link"):
        told(tmp_path / "link")
    with pytest.raises(TapeError, match="not a file"):
        told(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TapeError, match="not a file"):
        told(tmp_path / "pipe")


def test_a_schema_of_many_tables_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = made.sqlite_tape(tmp_path / "t.sqlite")
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("PRAGMA writable_schema=ON")
        tables = ((f"y{n}", f"CREATE TABLE y{n}(a)") for n in range(20_000))
        rows.executemany("INSERT INTO sqlite_schema VALUES ('table', ?1, ?1, 2, ?2)", tables)
    began = time.process_time()
    with pytest.raises(TapeError, match="more tables than"):
        told(path)
    assert time.process_time() - began < 0.1


def test_the_framing_of_a_digest_is_that_of_the_version(tmp_path: Path) -> None:
    framed = made.tracefork_digest(made.DRAWS, made.CALLS, made.TOOLS, framed=True)
    assert codes(told(tmp_path / "t", made.envelope(7), framed)) == NOTES
    # 1.0.0 names an older tape by its own framing; 0.3.0 never saw a tape of version 7.
    assert codes(told(tmp_path / "t", made.envelope(6), framed)) == NOTES
    assert "tracefork_digest_mismatch" in codes(told(tmp_path / "t", made.envelope(7), DIGEST))


def test_witnesses_of_another_length_or_form(tmp_path: Path) -> None:
    found = codes(told(tmp_path / "t", made.envelope(7, response_status=[429])))
    assert found == ["tracefork_digest", "tracefork_count_mismatch", "tracefork_no_heads"]
    found = codes(told(tmp_path / "t", made.envelope(7, response_status=[True, 9_999])))
    assert "tracefork_status_malformed" in found
    path = made.sqlite_tape(tmp_path / "s", "3", response_status="{")
    assert codes(told(path)) == ["tracefork_witness_malformed", *NOTES]


MESSAGES = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("asked", "answer", "url"),
    [
        (MESSAGES, {"type": "message", "content": []}, "api.anthropic.com/v1/messages"),
        (MESSAGES, {"object": "chat.completion"}, "api.openai.com/v1/chat/completions"),
        ({"input": "x"}, {"object": "response"}, "api.openai.com/v1/responses"),
        (
            {"contents": []},
            {"candidates": [], "modelVersion": "g/1"},
            "generativelanguage.googleapis.com/v1beta/models/g%2F1:generateContent",
        ),
        (
            {"messages": []},
            {"output": {}, "stopReason": "end_turn"},
            "bedrock-runtime.us-east-1.amazonaws.com/model/unknown/converse",
        ),
        ({**MESSAGES, "model": "claude-x"}, None, "api.anthropic.com/v1/messages"),
        (MESSAGES, {"oops": 1}, None),
    ],
)
def test_an_address_follows_from_the_bodies(asked: Json, answer: Json | None, url: str | None) -> None:
    bodies = json.dumps(asked).encode(), None if answer is None else json.dumps(answer).encode()
    assert address(*bodies, None, oldest=False) == (None if url is None else f"https://{url}")
    path = "/" if url is None else "/" + url.partition("/")[2]
    assert address(*bodies, "llm.test", oldest=False) == f"https://llm.test{path}"


def test_the_oldest_version_recorded_one_sdk() -> None:
    asked = json.dumps(MESSAGES).encode()
    assert address(asked, None, None, oldest=True) == "https://api.anthropic.com/v1/messages"
    assert address(asked, None, None, oldest=False) is None
    stream = b'event: message_start\ndata: {"type":"message_start"}\n\n'
    assert address(b"", stream, None, oldest=False) == "https://api.anthropic.com/v1/messages"


def test_a_store_holds_many_tapes(tmp_path: Path) -> None:
    path = made.tracefork_store(tmp_path / "store.db", {"one": made.envelope(7), "two": made.envelope(1)})
    items = told(path)
    each = [one for one in items if isinstance(one, Exchanged)]
    assert [(one.session, one.exchange.delivered and one.exchange.delivered.status) for one in each] == [
        *[("one", 429), ("one", 200), ("one", 200)],
        *[("two", 200), ("two", 200)],
    ]
    assert codes(items) == [*NOTES, *GUESSED, "tracefork_branches"]
    path = made.tracefork_store(tmp_path / "broken.db", {"one": b"TFTAPE", "two": made.envelope(7)})
    assert codes(told(path))[0] == "tracefork_run_unreadable"
    with pytest.raises(TapeError, match="holds no run"):
        told(made.tracefork_store(tmp_path / "empty.db", {}))


def test_the_receipt_of_one_run_says_nothing_of_the_other_runs_of_a_store(tmp_path: Path) -> None:
    path = made.tracefork_store(tmp_path / "store.db", {"one": made.envelope(7), "two": made.envelope(1)})
    receipt = made.tracefork_digest(made.DRAWS, made.CALLS, made.TOOLS, framed=True)
    assert "tracefork_digest_mismatch" not in codes(told(path, None, receipt))
    assert codes(told(path, None, "0" * 64)).count("tracefork_digest_mismatch") == 1


def test_a_run_of_a_store_that_is_no_tape(tmp_path: Path) -> None:
    runs: dict[str, Any] = {"one": "text", "two": made.envelope(7)}
    items = list(tracefork.read(made.tracefork_store(tmp_path / "store.db", runs)))
    bad = [one for one in items if isinstance(one, Found) and not one.note]
    assert bad == [Found("tracefork_run_unreadable", "run `one` holds no tape")]
