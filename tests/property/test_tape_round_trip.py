"""What was recorded is what is read: heads, bodies, chunks, endings and the ledger."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings, strategies as st

from faultwire import _core
from faultwire.events import Delivery, Exchange, FaultFired, Headers, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.hash_chain import record_bytes
from faultwire.tape.read.fault_ledger import ledger_hash
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor

KEY = b"k" * 32

latin = st.text(st.characters(max_codepoint=255), max_size=20)
names = st.sampled_from(("x-a", "X-B", "content-type", "accept", "date", "x-a"))
headers = st.lists(st.tuples(names, latin), max_size=5).map(tuple)
kinds = st.sampled_from(
    (
        *("application/json", "text/event-stream", "application/x-ndjson", "text/plain", ""),
        "application/vnd.amazon.eventstream",
    )
)
whole_text = st.text(st.characters(exclude_categories=("Cs",)))
scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | whole_text
json_values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner),
    max_leaves=8,
)
bodies = st.one_of(
    st.binary(max_size=200),
    json_values.map(orjson.dumps),
    st.lists(st.text("abc déf\n", max_size=12), max_size=8).map(
        lambda texts: b"".join(b"data: " + orjson.dumps({"delta": {"content": t}}) + b"\n\n" for t in texts)
    ),
)
faults = st.builds(
    FaultFired,
    fault=st.sampled_from(("status", "latency")),
    id=st.sampled_from(("status", "latency", "status#2")),
    site=st.just("response"),
    outcome=st.sampled_from(("fired", "skipped", "no_effect")),
    reason=st.text(max_size=12),
    key=st.text("0123456789abcdef", max_size=8),
    n=st.integers(0, 50),
    attempt=st.integers(0, 3),
    unit=st.none() | st.floats(0, 1, exclude_max=True),
    subject=st.none() | st.just("search"),
    effect=st.none() | st.text(max_size=12),
    settings=st.dictionaries(st.sampled_from(("ms", "status")), st.floats(0, 9) | st.integers(0, 9)),
)


def chopped(body: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted({cut % (len(body) + 1) for cut in cuts}), len(body)]
    return [body[a:b] for a, b in pairwise(places)]


def delivery(response: Response, chunks: list[bytes]) -> Delivery:
    ends = tuple((end, 0) for end in accumulate(map(len, chunks)))
    return Delivery(response.status, response.reason, response.headers, b"".join(chunks), ends)


def timeless(delivery: Delivery | None) -> Delivery | None:
    if delivery is None:
        return None
    instants = [at_ns for _, at_ns in delivery.chunks]
    assert instants == sorted(instants)
    ends = tuple((end, 0) for end, _ in delivery.chunks)
    return Delivery(delivery.status, delivery.reason, delivery.headers, delivery.body, ends)


@st.composite
def exchanges(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(kinds)
    head: Headers = (*((("content-type", kind),) if kind else ()), *draw(headers))
    said = Response(draw(st.integers(100, 599)), draw(latin), head) if draw(st.booleans()) else None
    cuts = st.lists(st.integers(0, 300), max_size=4)
    codes = st.integers(100, 599)
    body = draw(st.none() | bodies)
    return {
        "request": Request("POST", "https", "api.openai.com", 443, "/v1/x?a=b", draw(headers), body),
        "said": said,
        "up": chopped(draw(bodies), draw(cuts)) if said else [],
        "given": Response(draw(codes), draw(latin), draw(headers)) if draw(st.booleans()) else None,
        "down": chopped(draw(bodies), draw(cuts)) if draw(st.booleans()) else None,
        "flush": draw(st.lists(st.booleans(), min_size=6, max_size=6)),
        "ending": draw(st.sampled_from(("complete", "client_aborted", "cut", "reset", "refused"))),
        "error": draw(st.none() | st.text(st.characters(exclude_categories=("Cs",)), max_size=20)),
        "faults": tuple(draw(st.lists(faults, max_size=3))),
    }


def record(writer: TapeWriter, number: int, what: dict[str, Any]) -> None:
    def pause(at: int) -> None:
        if what["flush"][at]:
            writer.flush()

    exchange = Exchange("s", number, what["request"], "llm", "openai_chat", "openai", key="k", attempt=2)
    recording = writer.record(exchange)
    recording.request(what["request"])
    pause(0)
    if what["said"]:
        recording.upstream_head(what["said"])
        pause(1)
    for chunk in what["up"]:
        recording.upstream_chunk(chunk)
    pause(2)
    if what["given"]:
        recording.delivered_head(what["given"])
    if what["down"] is not None:
        recording.touched()
        pause(3)
        for chunk in what["down"]:
            recording.delivered_chunk(chunk)
            pause(4)
    recording.end(what["ending"], what["error"], what["faults"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(exchanges(), max_size=4))
def test_what_was_recorded_is_read_back(sent: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.tape"
        writer = TapeWriter.create(path, origin="p/t", settings={"a": 1.5}, key=KEY)
        writer.open_session("s", profile="calm", profile_digest="ab", seed=2**60)
        for number, what in enumerate(sent, 1):
            record(writer, number, what)
        writer.close_session("s")
        assert writer.flush() == len(sent)
        writer.close()
        report = verify(path)
        assert [finding.code for finding in report.findings] == ["seal_missing"]
        with TapeReader.open(path) as reader:
            (session,) = reader.sessions()
            assert (session.seed, session.exchanges, session.ended_ms is None) == (2**60, len(sent), False)
            read = reader.history("s").exchanges
            expected = [("s", fault) for what in sent for fault in what["faults"]]
            assert reader.ledger_hash() == ledger_hash(expected)
        assert [r.number for r in read] == list(range(1, len(sent) + 1))
        for got, what in zip(read, sent, strict=True):
            assert got.request == what["request"]
            kept = tuple(
                replace(fault, key=Redactor(KEY).keyed(fault.key), unit=None) for fault in what["faults"]
            )
            assert (got.ending, got.error, got.faults) == (what["ending"], what["error"], kept)
            assert (got.kind, got.protocol, got.provider, got.attempt) == ("llm", "openai_chat", "openai", 2)
            upstream = delivery(what["said"], what["up"]) if what["said"] else None
            assert timeless(got.upstream) == upstream
            head = what["given"] or what["said"]
            chunks = what["up"] if what["down"] is None else what["down"]
            assert timeless(got.delivered) == (delivery(head, chunks) if head else None)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("ab"), faults), max_size=8), st.randoms())
def test_the_ledger_hash_has_no_order(lines: list[tuple[str, FaultFired]], random: Any) -> None:
    shuffled = list(lines)
    random.shuffle(shuffled)
    assert ledger_hash(shuffled) == ledger_hash(lines)
    if lines:
        assert ledger_hash(lines[1:]) != ledger_hash(lines)
        (session, first), *rest = lines
        assert ledger_hash([(session + "x", first), *rest]) != ledger_hash(lines)


events = st.dictionaries(
    st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8),
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=4), inner),
        max_leaves=12,
    ),
)


@settings(max_examples=150)
@given(events)
def test_records_are_canonical_as_the_core_says(event: dict[str, Any]) -> None:
    record = record_bytes(event)
    assert _core.jcs(record) == record
    assert orjson.loads(record) == event


def test_every_single_character_is_escaped_as_rfc_8785_says() -> None:
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x10000), 0x10000, 0x1F600, 0x10FFFF]))
    record = record_bytes({"text": text})
    assert _core.jcs(record) == record
