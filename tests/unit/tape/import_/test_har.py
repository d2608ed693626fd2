"""`faultwire.tape.import_.har`, with `_har_body` and `_har_entries`: HARs of browsers and our own."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tape.conftest import Deck
from tests.unit.tape.import_ import made

from faultwire.errors import TapeError
from faultwire.events import Headers, Message, Response
from faultwire.tape.export import har as exporting
from faultwire.tape.import_ import har
from faultwire.tape.import_._api import Elsewhere, Exchanged, Found
from faultwire.tape.import_._har_entries import Entries
from faultwire.tape.read.reader import TapeReader


def told(tmp_path: Path, data: bytes) -> tuple[list[Exchanged], list[str]]:
    path = tmp_path / "x.har"
    path.write_bytes(data)
    items = list(har.read(path))
    codes = [one.code for one in items if isinstance(one, Found)]
    return [one for one in items if isinstance(one, Exchanged)], codes


def only(tmp_path: Path, **changed: Any) -> tuple[Elsewhere, list[str]]:
    (one,), codes = told(tmp_path, made.har(made.entry(**changed)))
    return one.exchange, codes


def answered(text: str, headers: Headers = (), **content: Any) -> dict[str, Any]:
    fields = [{"name": name, "value": value} for name, value in headers]
    return {"status": 200, "headers": fields, "content": {"text": text, **content}}


def test_an_entry_of_a_browser(tmp_path: Path) -> None:
    (one,), codes = told(tmp_path, made.har(made.entry()))
    assert (one.session, codes) == ("page_1", [])
    request, answer = one.exchange.request, one.exchange.delivered
    assert request.url == "https://api.openai.com/v1/chat/completions?x=1"
    assert request.body == made.ASK.encode()
    assert [name for name, _ in request.headers] == ["authorization", "content-type"]
    assert answer
    assert answer == one.exchange.upstream
    assert answer.body == made.ANSWER.encode()
    # The text has no coding any more, so the header says neither that nor its length when packed.
    assert answer.headers == (
        ("content-type", "application/json"),
        ("content-length", str(len(made.ANSWER))),
    )
    assert one.exchange.started_ms == 1767323045006
    assert (one.exchange.duration_ns, answer.chunks) == (12_500_000, ((len(made.ANSWER), 10_000_000),))


def test_a_body_in_base64_and_one_that_still_is_packed(tmp_path: Path) -> None:
    raw = b64encode(b"\x89PNG\xff").decode()
    one, codes = only(tmp_path, response=answered(raw, encoding="base64", size=5))
    assert one.delivered
    assert (one.delivered.body, codes) == (b"\x89PNG\xff", [])
    packed = gzip.compress(b"text" * 50)
    fields = (("Content-Encoding", "gzip"),)
    one, _ = only(tmp_path, response=answered(b64encode(packed).decode(), fields, encoding="base64"))
    assert one.delivered
    assert (one.delivered.body, one.delivered.headers) == (packed, fields)


@pytest.mark.parametrize("text", ["%%%", "QQ", "QQ=="[:3]])
def test_what_is_no_base64(tmp_path: Path, text: str) -> None:
    one, codes = only(tmp_path, response=answered(text, encoding="base64"))
    assert codes == ["har_content_malformed"]
    assert one.delivered
    assert one.delivered.body == b""


def test_text_keeps_the_charset_that_it_names(tmp_path: Path) -> None:
    latin, _ = only(tmp_path, response=answered("é", mimeType="text/plain; charset=ISO-8859-1"))
    other, _ = only(tmp_path, response=answered("é", mimeType="text/plain; charset=rot13"))
    assert latin.delivered
    assert other.delivered
    assert (latin.delivered.body, other.delivered.body) == (b"\xe9", "é".encode())


def test_forms_are_put_together_from_their_fields(tmp_path: Path) -> None:
    params = [{"name": "a b", "value": "1&2"}, {"name": "c"}]
    posted = {"mimeType": "application/x-www-form-urlencoded", "params": params, "text": ""}
    asked = {**made.entry()["request"], "postData": posted}
    one, codes = only(tmp_path, request=asked)
    assert (one.request.body, codes) == (b"a+b=1%262&c=", ["har_body_rebuilt"])
    file = [{"name": "f", "value": "data", "fileName": 'x".txt', "contentType": "text/plain"}]
    asked["postData"] = {"mimeType": "multipart/form-data; boundary=XX", "params": file}
    one, _ = only(tmp_path, request=asked)
    assert one.request.body == (
        b'--XX\r\nContent-Disposition: form-data; name="f"; filename="x%22.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\ndata\r\n--XX--\r\n"
    )


def test_what_did_not_come_back(tmp_path: Path) -> None:
    gone = {"status": 0, "statusText": "", "headers": [], "content": {}, "_error": "net::ERR_ABORTED"}
    one, _ = only(tmp_path, response=gone)
    assert (one.delivered, one.ending, one.error) == (None, "client_aborted", "net::ERR_ABORTED")
    one, _ = only(tmp_path, response={**gone, "_error": "net::ERR_CONNECTION_RESET"})
    assert one.ending == "upstream_aborted"


def test_missing_and_lying_members(tmp_path: Path) -> None:
    bare = {"request": {"url": "http://h.example/"}}
    missing = made.entry(response={"status": 200, "content": {"size": 10_000_000_000}})
    lie = made.entry(response={"status": 200, "content": {"size": 10_000_000_000, "text": "x"}})
    odd = made.entry(response={"status": 10**30, "content": {}})
    data = made.har(bare, missing, lie, odd, None, {"request": {"url": "nowhere"}}, {"request": []})
    found, codes = told(tmp_path, data)
    assert codes == [
        "har_time",
        "har_content_missing",
        "har_size_differs",
        "har_status",
        *["har_entry_malformed"] * 3,
    ]
    assert len(found) == 4
    assert (found[0].exchange.request.method, found[0].exchange.request.path) == ("GET", "/")
    assert found[0].session == "imported"


def test_websocket_messages(tmp_path: Path) -> None:
    began = 1767323045.006
    messages = [
        {"type": "send", "time": began + 0.5, "opcode": 1, "data": "hé"},
        {"type": "receive", "time": began + 1, "opcode": 2, "data": "AAE="},
        {"type": "receive", "time": began, "opcode": 2, "data": "!"},
        {"type": "receive", "time": began, "opcode": 9, "data": ""},
    ]
    one, codes = only(tmp_path, _webSocketMessages=messages)
    assert codes == ["har_message_malformed"] * 2
    first, second = one.messages
    assert (first.by, first.kind, first.data) == ("client", "text", "hé".encode())
    assert (second.by, second.kind, second.data) == ("server", "binary", b"\0\1")
    assert abs((first.sent_ns or 0) - 500_000_000) < 1_000_000


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"null", b'{"log":1}', b'{"log":{"entries":{}}}', b"[" * 200_000, b"\xff{"]
)
def test_what_is_no_har(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(TapeError, match="no HAR"):
        told(tmp_path, data)


def test_entries_are_found_wherever_they_stand() -> None:
    def texts(data: bytes) -> list[bytes]:
        return list(Entries(data))

    assert (
        texts(b'{"log":{"pages":[{"entries":[{"x":1}]}],"comment":"\\"entries\\":[","entries": [ ]}}') == []
    )
    assert texts(b'{"log":{"entries":[{"a":"]}"},[{}] , {"b":{}}],"version":"9"}}') == [
        b'{"a":"]}"}', b"[{}]", b'{"b":{}}',
    ]  # fmt: skip
    assert texts(b'{"log":{"entries":[null,{},"x", 7]}}') == [b"null", b"{}", b'"x", 7']
    read: list[bytes] = []
    with pytest.raises(TapeError, match="do not end"):
        read.extend(Entries(b'{"log":{"entries":[{},{}'))
    for data in (b'{"log":{"x":{"entries":[]}}}', b'{"log":{}}{"entries":[]}', b'{"log":{"entries":1}}'):
        with pytest.raises(TapeError, match="no HAR"):
            texts(data)


def test_many_small_entries_are_never_held_at_once() -> None:
    data = b'{"log":{"entries":[' + b"{}," * 50_000 + b"{}]}}"
    tracemalloc.start()
    try:
        assert sum(1 for _ in Entries(data)) == 50_001
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_har_that_breaks_off_or_has_another_version(tmp_path: Path) -> None:
    data = made.har(made.entry(), made.entry(), version="2.0")
    found, codes = told(tmp_path, data)
    assert (len(found), codes) == (2, ["har_version"])
    with pytest.raises(TapeError, match="do not end"):
        told(tmp_path, data[:-5])
    (tmp_path / "x.har").write_bytes(data[:-5])
    items = har.read(tmp_path / "x.har")
    assert isinstance(next(items), Found)
    assert isinstance(next(items), Exchanged)


def test_bytes_that_are_no_utf8_and_half_characters_are_read(tmp_path: Path) -> None:
    data = made.har(made.entry()).replace(b'"hello\\"', b'"h\xffllo\\"').replace(b'"OK"', b'"\\ud800"')
    (one,), _ = told(tmp_path, b"\xef\xbb\xbf" + data)
    assert one.exchange.delivered
    assert b"h\xef\xbf\xbdllo" in one.exchange.delivered.body
    assert one.exchange.delivered.reason == "\ud800"


def test_our_own_export_comes_back(deck: Deck, tmp_path: Path) -> None:
    deck.exchange(b'{"ok":1}')
    packed = deck.begin(gzip.compress(b"ask"), (("content-encoding", "gzip"),), "/v1?a=1&b=x%20y")
    packed.upstream_head(Response(200, "OK", (("content-type", "image/png"), ("x-a", "1"), ("x-a", "2"))))
    packed.upstream_chunk(b"\x89PNG\xff")
    packed.end("complete")
    changed = deck.begin(b"\xff\xfe")
    changed.upstream_head(Response(200, "OK"))
    changed.upstream_chunk(b"good")
    changed.touched()
    changed.delivered_head(Response(503, "No"))
    changed.delivered_chunk(b"bad")
    changed.end("complete")
    deck.begin().end("reset", "connection reset")
    talk = deck.begin(b"")
    talk.upstream_head(Response(101, "Switching Protocols"))
    talk.message(Message("client", "text", b"hi", 5_000_000, 5_000_000))
    talk.message(Message("server", "binary", b"\0", 6_000_000, None))
    talk.end("complete")
    deck.writer.close_session("s")
    before = deck.read()
    out = io.BytesIO()
    exporting.write(deck.path, out)
    after, codes = told(tmp_path, out.getvalue())
    assert codes == []
    assert {one.session for one in after} == {"s"}
    assert len(after) == len(before)
    for was, now in zip(before, (one.exchange for one in after), strict=True):
        assert now.request.url == was.request.url
        assert (now.ending, now.error) == (was.ending, was.error)
        assert now.started_ms == was.started_ms
        assert [m.data for m in now.messages] == [m.data for m in was.messages]
        for mine, theirs in ((now.delivered, was.delivered), (now.upstream, was.upstream)):
            assert (mine is None) == (theirs is None)
            if mine and theirs:
                assert (mine.status, mine.reason, mine.body) == (theirs.status, theirs.reason, theirs.body)
                assert mine.headers == theirs.headers
    assert after[1].exchange.request.body == b"ask"
    assert after[1].exchange.request.headers == ()
    assert after[2].exchange.request.body == b"\xff\xfe"
    assert [one.delivered_ns is None for one in after[4].exchange.messages] == [False, True]
    with TapeReader.open(deck.path) as reader:
        assert reader.info().settings == {"note": "x"}


def test_a_request_whose_body_is_no_base64(tmp_path: Path) -> None:
    request = made.entry()["request"]
    request["postData"] |= {"text": "%%%", "encoding": "base64"}
    assert only(tmp_path, request=request)[1] == ["har_content_malformed"]
    request["postData"] |= {"text": "e30="}
    assert only(tmp_path, request=request)[1] == []
