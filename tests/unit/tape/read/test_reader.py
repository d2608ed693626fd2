from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import TapeError, TapeIncomplete, TapeNotFound, TapeTampered
from faultwire.events import Request, Response
from faultwire.tape.format.file import check_genuine, connect_reader
from faultwire.tape.format.hash_chain import leaf
from faultwire.tape.read.decode import EventDecoder, decode
from faultwire.tape.read.reader import TapeReader


def read_all(path: Path) -> None:
    with TapeReader.open(path) as reader:
        for exchange in reader.exchanges():
            assert exchange.request.body is not None
            assert exchange.upstream is None or exchange.upstream.body is not None


def refused(path: Path) -> TapeError:
    began = time.thread_time()
    with pytest.raises(TapeError) as caught:
        read_all(path)
    assert time.thread_time() - began < 0.1
    return caught.value


def sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_tape_that_is_not_there(tmp_path: Path) -> None:
    assert isinstance(refused(tmp_path / "no.tape"), TapeNotFound)
    assert isinstance(refused(tmp_path / "no.tape" / "deeper.tape"), TapeNotFound)


def test_a_link_is_refused(closed: Callable[[], Path], tmp_path: Path) -> None:
    link = tmp_path / "link.tape"
    link.symlink_to(closed())
    assert refused(link).code == "tape.symlink"


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\x00" + b"\xff" * 500, os.urandom(5000)])
def test_what_is_no_tape(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.tape"
    path.write_bytes(content)
    assert refused(path).code == "tape.unreadable"


def test_a_folder_and_a_pipe_are_no_tapes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tape")
    assert refused(tmp_path / "pipe.tape").code == "tape.unreadable"
    assert refused(tmp_path).code == "tape.unreadable"


def test_another_database_is_no_tape(tmp_path: Path) -> None:
    sql(tmp_path / "x.tape", "CREATE TABLE events (seq)")
    assert refused(tmp_path / "x.tape").code == "tape.unreadable"


def test_hostile_schemas_are_refused_before_they_run(closed: Callable[[], Path]) -> None:
    path = closed()
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, '', x, x FROM n"
    sql(path, "DROP TABLE events", f"CREATE VIEW events (seq, session, record, hash) AS {endless}")
    error = refused(path)
    assert isinstance(error, TapeTampered)
    assert error.code == "tape.schema_mismatch"


def test_a_blob_that_claims_ten_gigabytes_costs_nothing(closed: Callable[[], Path]) -> None:
    path = closed()
    sql(path, "UPDATE blobs SET size=10000000000")
    assert refused(path).code == "tape.blob_size"


def test_a_blob_that_unpacks_without_end_costs_nothing(closed: Callable[[], Path]) -> None:
    import zstandard

    path = closed()
    connection = sqlite3.connect(path, isolation_level=None)
    bomb = zstandard.ZstdCompressor().compress(bytes(200_000_000))
    connection.execute("UPDATE blobs SET packed=1, data=?", (bomb,))
    connection.close()
    assert refused(path).code == "tape.blob_size"


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE events SET record=CAST('{}' AS BLOB) WHERE seq=2", "tape.tampered"),
        ("UPDATE events SET session='other' WHERE seq=3", "tape.tampered"),
        ("DELETE FROM blobs", "tape.blob_missing"),
        ("UPDATE blobs SET data=zeroblob(size)", "tape.blob_mismatch"),
    ],
)
def test_changed_rows_are_never_read(closed: Callable[[], Path], statement: str, code: str) -> None:
    path = closed()
    sql(path, statement)
    assert refused(path).code == code


def test_a_record_of_another_shape_is_tampering(closed: Callable[[], Path]) -> None:
    path = closed()
    record = b'{"exchange":1,"session":"s","type":"request"}'
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE events SET record=?, hash=? WHERE seq=2", (record, leaf(record)))
    connection.close()
    assert refused(path).code == "tape.record_malformed"


def test_a_reader_cannot_write(closed: Callable[[], Path]) -> None:
    connection = connect_reader(closed())
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM events")
    check_genuine(connection, Path("x"))
    connection.close()


def test_unknown_sessions_and_exchanges(closed: Callable[[], Path]) -> None:
    with TapeReader.open(closed()) as reader:
        with pytest.raises(TapeIncomplete, match="no session `x`"):
            reader.history("x")
        with pytest.raises(TapeIncomplete, match="no exchange 9"):
            reader.detail("s", 9)
        assert reader.info().settings == {"note": "x"}
        assert len(reader.history("s").fired) == 2


def test_details(deck: Any) -> None:
    recording = deck.begin(headers=(("authorization", "Bearer abc"), ("x", "y")))
    recording.forwarded(Request("POST", "https", "h.example", 443, "/v1", (), b'{"changed":1}'))
    recording.end("reset")
    deck.read()
    with TapeReader.open(deck.path) as reader:
        detail = reader.detail("s", 1)
        assert reader.forwarded("s") == {("s", 1): detail.forwarded}
        assert reader.forwarded("other") == {}
    assert detail.forwarded is not None
    assert detail.forwarded.body == b'{"changed":1}'
    assert detail.redactions == {"header": 1}
    assert (detail.recorded.upstream, detail.recorded.delivered) == (None, None)


# ---------------------------------------------------------------- what was delivered


def test_without_faults_delivered_is_what_upstream_said(deck: Any) -> None:
    deck.exchange()
    (one,) = deck.read()
    assert one.delivered is one.upstream


def test_a_touched_body_may_be_empty(deck: Any) -> None:
    recording = deck.begin()
    recording.upstream_head(Response(200, "OK", (("a", "b"),)))
    recording.upstream_chunk(b"all of it")
    recording.touched()
    recording.end("cut")
    (one,) = deck.read()
    assert one.upstream.body == b"all of it"
    assert (one.delivered.body, one.delivered.headers) == (b"", (("a", "b"),))


def test_an_answer_without_upstream(deck: Any) -> None:
    recording = deck.begin()
    recording.delivered_head(Response(429, "Slow down", (("retry-after", "1"),), b"{}"))
    recording.end("complete")
    (one,) = deck.read()
    assert one.upstream is None
    assert (one.delivered.status, one.delivered.body) == (429, b"{}")


def test_another_head_before_the_same_body(deck: Any) -> None:
    recording = deck.begin()
    recording.upstream_head(Response(200, "OK"))
    recording.upstream_chunk(b"body")
    recording.delivered_head(Response(500, "No"))
    recording.end("complete")
    (one,) = deck.read()
    assert (one.upstream.status, one.delivered.status, one.delivered.body) == (200, 500, b"body")


def test_an_interrupted_stream_is_read_as_far_as_it_came(deck: Any) -> None:
    recording = deck.begin()
    recording.upstream_head(Response(200, "OK", (("content-type", "text/event-stream"),)))
    recording.upstream_chunk(b"data: one two \n\n")
    deck.writer.flush()
    recording.upstream_chunk(b"data: three \n\n")
    deck.writer.flush()
    with TapeReader.open(deck.path) as reader:
        (one,) = reader.exchanges()
    assert one.ending == "open"
    assert one.upstream is not None
    assert one.upstream.body.startswith(b"data: one two \n\n")
    assert one.duration_ms > 0


def test_a_request_body_that_nobody_held(deck: Any) -> None:
    recording = deck.begin(body=None)
    recording.request_chunk(b'{"a":')
    deck.writer.flush()
    recording.request_chunk(b'"password","password":"x"}')
    recording.end("complete")
    (one,) = deck.read()
    assert one.request.body.startswith(b'{"a":"password","password":"redacted:v1:')


def test_nothing_without_a_request() -> None:
    assert decode(EventDecoder(), lambda _: b"") is None
