"""A planted secret is nowhere on disk: any place, any encoding, any chunking."""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64encode
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import zstandard
from hypothesis import HealthCheck, given, settings, strategies as st

from faultwire import _core
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

ALNUM = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


def letters(low: int, high: int, alphabet: str = ALNUM) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=low, max_size=high)


shaped = st.one_of(
    letters(32, 48).map("sk-ant-api03-{}".format),
    letters(32, 48).map("sk-proj-{}".format),
    letters(40, 48).map("sk-{}".format),
    letters(16, 16, "ABCDEFGHJKLMNPQRSTUVWXYZ234567").map("AKIA{}".format),
    letters(36, 36).map("ghp_{}".format),
    letters(24, 24).map("xoxb-123456789012-{}".format),
    st.tuples(letters(20, 30), letters(30, 60), letters(30, 43)).map(lambda p: f"eyJ{p[0]}.eyJ{p[1]}.{p[2]}"),
    letters(64, 200).map("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----".format),
    letters(24, 40).map("Bearer {}".format),
)
"""Secrets that are told by their shape."""


@dataclass(frozen=True)
class Plant:
    """What is sent, with one secret in it; `traces` are the texts that must not be found on disk."""

    request: Request
    response: Response
    chunks: tuple[bytes, ...]
    delivered: tuple[bytes, ...]
    error: str | None
    faults: tuple[FaultFired, ...]
    traces: tuple[str, ...]


def core(secret: str) -> str:
    """The part of a secret that nothing may show, whatever stands around it."""
    if secret.startswith("-----BEGIN"):
        return secret.split("\n")[1]
    return secret.removeprefix("Bearer ")


def encoded(secret: str, how: str) -> str:
    if how == "escaped":
        return "".join(c if c.isalnum() and n % 3 else f"\\u{ord(c):04x}" for n, c in enumerate(secret))
    if how == "base64":
        return b64encode(secret.encode()).decode()
    if how == "percent":
        return "".join(f"%{byte:02X}" for byte in secret.encode())
    return json.dumps(secret)[1:-1]


def chopped(data: bytes, cuts: list[int]) -> tuple[bytes, ...]:
    places = [0, *sorted({cut % (len(data) + 1) for cut in cuts}), len(data)]
    return tuple(data[a:b] for a, b in pairwise(places))


def sse(texts: list[str], field: str) -> bytes:
    said = [{"id": "x", "choices": [{"index": 0, "delta": {field: text}}]} for text in texts]
    return "".join([*(f"data: {json.dumps(one)}\n\n" for one in said), "data: [DONE]\n\n"]).encode()


def frames(texts: list[str], wrapped: bool) -> bytes:
    """An AWS event stream: each text in a frame of its own, `wrapped` in Base64 as InvokeModel does."""
    said = [json.dumps({"delta": {"text": text}}).encode() for text in texts]
    payloads = [json.dumps({"bytes": b64encode(one).decode()}).encode() if wrapped else one for one in said]
    return b"".join(_core.eventstream_write((), payload) for payload in payloads)


HEAD = (("content-type", "application/json"), ("x-request-id", "req_1"))
STREAMS = ("sse event", "sse split", "ndjson split", "arguments split", "plain text", "frames split")
PLACES = (
    *("authorization", "x-api-key", "cookie", "other header", "response header", "query", "path value"),
    *("userinfo", "json value", "json key", "nested json", "python repr", "form", "error", "effect"),
    *("gzip", "zstd", "deflate", "delivered", "url in a header", "url in a body"),
    *STREAMS,
)
PACK = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "deflate": zlib.compress}


@st.composite
def plants(draw: st.DrawFn, place: str) -> Plant:  # noqa: C901 - one case a place
    secret = draw(shaped)
    how = draw(st.sampled_from(("plain", "plain", "escaped", "base64", "percent")))
    filler = draw(letters(0, 30, "abc xyz\n."))
    cuts = draw(st.lists(st.integers(0, 5000), max_size=12))
    plain = core(secret)
    one_line = secret.replace("\n", " ")
    headers, path = list(HEAD), "/v1/chat/completions"
    body = b'{"model":"m"}'
    answer, kind = b'{"ok":true}', "application/json"
    error, effect, delivered = None, None, ()
    traces = [plain]
    coding = None
    match place:
        case "authorization":
            headers.append(("Authorization", f"Bearer {plain}"))
        case "x-api-key" | "cookie":
            headers.append((place.upper(), plain))
        case "other header":
            headers.append(("x-note", f"see {one_line}"))
        case "query":
            path += f"?a=1&api_key={plain}&b=2"
        case "path value":
            shapeless = secret.startswith(("-----BEGIN", "Bearer"))
            path = f"/hooks/{'sk-ant-' if shapeless else ''}{plain}/x"
        case "userinfo":
            body = json.dumps({"url": f"https://me:{plain}@host/"}).encode()
        case "json value":
            body = f'{{"text": "{json.dumps(filler)[1:-1]} {encoded(secret, how)} end", "n": 1}}'.encode()
            traces.append(encoded(plain, how))
        case "json key":
            body = json.dumps({"a": [{"client_secret": plain, "max_tokens": 5}]}).encode()
        case "nested json":
            inner = json.dumps({"password": plain, "pin": [1, 2]})
            body = json.dumps({"arguments": json.dumps({"again": inner})}).encode()
        case "form":
            headers[0] = ("content-type", "application/x-www-form-urlencoded")
            body = f"user=me&password={plain}&x={encoded(one_line, 'percent')}".encode()
        case "sse event":
            kind, answer = "text/event-stream", sse(["hello", f"{filler} {secret} bye", "x"], "content")
        case "url in a body":
            body = json.dumps({"next": f"https://h/cb?a=1&code={plain}xxxxxxxx#f"}).encode()
        case "sse split" | "ndjson split" | "arguments split" | "frames split":
            text = f"{filler} {secret} and more words"
            if place == "arguments split":
                text = json.dumps({"user": "me", "password": plain, "pin": 7})
            splits = draw(st.lists(st.integers(0, 200), max_size=60))
            parts = [part.decode() for part in chopped(text.encode(), splits)]
            if place == "frames split":
                kind, answer = "application/vnd.amazon.eventstream", frames(parts, draw(st.booleans()))
                traces += [b64encode(p.encode()).decode()[:-4] for p in parts if len(p) > 8 and p in plain]
            elif place == "ndjson split":
                kind = "application/x-ndjson"
                answer = b"".join(json.dumps({"message": {"content": p}}).encode() + b"\n" for p in parts)
            else:
                kind = "text/event-stream"
                answer = sse(parts, "content" if place == "sse split" else "arguments")
            traces += [p for p in parts if len(p) > 8 and p in plain]
        case "plain text":
            kind, answer = "text/plain", f"{filler} {secret} {filler}".encode()
        case "error":
            error = f"upstream sent: bad key {one_line}"
        case "effect":
            effect = f"answered with {one_line}"
        case "gzip" | "zstd" | "deflate":
            coding = place
            answer = PACK[place](json.dumps({"text": secret, "filler": filler}).encode())
            traces.append(answer.decode("latin-1"))
        case "delivered":
            delivered = chopped(json.dumps({"text": f"{filler} {secret}"}).encode(), cuts)
        case "response header" | "url in a header":
            pass
        case "python repr":
            body = json.dumps({"content": str({"password": plain})}).encode()
    response_headers = [("content-type", kind)]
    if coding:
        response_headers.append(("content-encoding", coding))
    if place == "response header":
        response_headers.append(("Set-Cookie", f"sid={plain}; Path=/"))
    if place == "url in a header":
        name = draw(st.sampled_from(("Location", "Link", "Content-Location", "Refresh")))
        response_headers.append((name, f"https://h/cb?a=1&X-Amz-Signature={plain}&b=2"))
    line = FaultFired("status", "status", "response", "fired", "rolled", "k", 0, 0, effect=effect)
    return Plant(
        Request("POST", "https", "api.example.com", 443, path, tuple(headers), body),
        Response(200, "OK", tuple(response_headers)),
        chopped(answer, cuts),
        delivered,
        error,
        (line,) if effect else (),
        tuple(traces),
    )


def record(folder: Path, plant: Plant, *, step: bool) -> bytes:
    """Record it; everything that was on disk at any moment when we looked."""
    seen: list[bytes] = []

    def look() -> None:
        writer.flush()
        seen.extend(path.read_bytes() for path in sorted(folder.iterdir()))

    writer = TapeWriter.create(folder / "t.tape", origin="p/t", settings={}, journal=folder / "events.jsonl")
    writer.open_session("s", profile="calm", profile_digest="", seed=1)
    exchange = Exchange("s", 1, plant.request, "llm")
    recording = writer.record(exchange)
    recording.request(plant.request)
    recording.upstream_head(plant.response)
    for chunk in plant.chunks:
        recording.upstream_chunk(chunk)
        if step:
            look()
    for chunk in plant.delivered:
        recording.delivered_chunk(chunk)
    recording.end("complete", plant.error, plant.faults)
    writer.close_session("s")
    look()
    writer.close()
    assert writer.failed is None
    seen.extend(path.read_bytes() for path in sorted(folder.iterdir()))
    with TapeReader.open(folder / "t.tape") as reader:
        for one in reader.exchanges():
            assert one.delivered is not None
            seen += [one.request.body or b"", one.delivered.body, repr(one).encode()]
    return b"\n".join(seen)


def check(plant: Plant, *, step: bool) -> None:
    with TemporaryDirectory() as folder:
        disk = record(Path(folder), plant, step=step)
        for trace in plant.traces:
            assert trace.encode("latin-1") not in disk, trace
        assert verify(Path(folder) / "t.tape").ok


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(PLACES))
def test_no_planted_secret_reaches_the_disk(data: st.DataObject, place: str) -> None:
    check(data.draw(plants(place)), step=False)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(STREAMS))
def test_nor_while_the_stream_is_still_coming(data: st.DataObject, place: str) -> None:
    check(data.draw(plants(place)), step=True)


def test_the_search_would_find_a_secret_that_was_stored(tmp_path: Path) -> None:
    secret = "correct-horse-battery-staple"  # no shape, no telling name: nobody can know
    request = Request("POST", "https", "h", 443, "/", HEAD, json.dumps({"text": secret}).encode())
    plant = Plant(request, Response(200), (), (), None, (), (secret,))
    assert secret.encode() in record(tmp_path, plant, step=True)
