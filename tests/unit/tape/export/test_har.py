"""`faultwire.tape.export.har`: what HAR 1.2 demands, and nothing that the tape does not say."""

from __future__ import annotations

import gzip
import io
import json
from base64 import b64encode
from typing import Any

from tests.unit.tape.conftest import LINE, Deck

from faultwire.events import Response
from faultwire.tape.export import har

ENTRY = {"startedDateTime", "time", "request", "response", "cache", "timings"}
REQUEST = {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"}
RESPONSE = {
    "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
    "bodySize",
}  # fmt: skip


def exported(deck: Deck) -> list[dict[str, Any]]:
    deck.writer.close_session("s")
    deck.writer.close()
    out = io.BytesIO()
    count = har.write(deck.path, out)
    log = json.loads(out.getvalue())["log"]
    assert (log["version"], log["creator"]["name"]) == ("1.2", "faultwire")
    assert [page["id"] for page in log["pages"]] == ["s"]
    assert count == len(log["entries"])
    for entry in log["entries"]:
        assert entry.keys() >= ENTRY
        assert entry["request"].keys() >= REQUEST
        assert entry["response"].keys() >= RESPONSE
    return log["entries"]


def test_a_plain_exchange(deck: Deck) -> None:
    deck.exchange(b'{"ok":1}')
    (entry,) = exported(deck)
    assert entry["request"]["url"] == "https://h.example/v1"
    assert entry["request"]["postData"] == {"mimeType": "application/json", "params": [], "text": "{}"}
    assert entry["response"]["content"] == {"size": 8, "mimeType": "application/json", "text": '{"ok":1}'}
    assert entry["_faults"][0]["fault"] == "status"
    timings = entry["timings"]
    assert abs(timings["send"] + timings["wait"] + timings["receive"] - entry["time"]) < 0.01


def test_the_query_is_spelled_out_and_packed_bodies_are_unpacked(deck: Deck) -> None:
    recording = deck.begin(gzip.compress(b"text"), (("content-encoding", "gzip"),), "/v1?a=1&b=x%20y&c=")
    recording.upstream_head(Response(200, "OK", (("content-type", "image/png"),)))
    recording.upstream_chunk(b"\x89PNG\xff")
    recording.end("complete", None, ())
    (entry,) = exported(deck)
    assert entry["request"]["queryString"] == [
        {"name": "a", "value": "1"}, {"name": "b", "value": "x y"}, {"name": "c", "value": ""},
    ]  # fmt: skip
    assert entry["request"]["postData"]["text"] == "text"
    content = entry["response"]["content"]
    assert (content["encoding"], content["text"]) == ("base64", b64encode(b"\x89PNG\xff").decode())


def test_what_a_fault_changed_keeps_what_upstream_had_said(deck: Deck) -> None:
    recording = deck.begin()
    recording.upstream_head(Response(200, "OK", ()))
    recording.upstream_chunk(b"good")
    recording.touched()
    recording.delivered_head(Response(503, "No", ()))
    recording.delivered_chunk(b"bad")
    recording.end("complete", None, (LINE,))
    (entry,) = exported(deck)
    assert (entry["response"]["status"], entry["response"]["content"]["text"]) == (503, "bad")
    assert (entry["_upstream"]["status"], entry["_upstream"]["content"]["text"]) == (200, "good")


def test_an_exchange_that_nothing_came_back_of(deck: Deck) -> None:
    deck.begin().end("reset", "connection reset", ())
    (entry,) = exported(deck)
    assert (entry["response"]["status"], entry["response"]["_error"]) == (0, "connection reset")
    assert entry["_ending"] == "reset"


def test_paths_that_no_parser_of_urls_takes(deck: Deck) -> None:
    for path in ("//[", "*", "/x?[=1&b=%ff#c"):
        deck.begin(path=path).end("complete", None, ())
    found = [(one["request"]["url"], one["request"]["queryString"]) for one in exported(deck)]
    assert [url for url, _ in found] == [
        "https://h.example//[",
        "https://h.example/*",
        "https://h.example/x?[=1&b=%ff#c",
    ]
    assert found[2][1] == [{"name": "[", "value": "1"}, {"name": "b", "value": "\ufffd#c"}]
