"""Values in every carrier under every encoding are in no file of a run, as a decoder of its own finds."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import re
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote_plus, unquote_to_bytes

import pytest

if str(CORPORA := Path(__file__).parents[2] / "patterns") not in sys.path:
    sys.path.append(str(CORPORA))

from egress_carriers import CARRIERS, CLEAN, ENCODINGS, Cell, cells

from faultwire.events import Exchange, History, Message, Request, Response
from faultwire.profile.model import Profile
from faultwire.report import html as report_html, json as report_json
from faultwire.report.document import Subject
from faultwire.report.observed import observed
from faultwire.tape.export import har, jsonl, otlp
from faultwire.tape.format.blobs import unpack
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record import body as recording
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import Rules

KEY = b"k" * 32
SHARES = [10, pytest.param(1, marks=pytest.mark.nightly)]


# ---------------------------------------------------------------- a run


def run(folder: Path, cells_: list[Cell]) -> None:
    """Record an exchange for each cell with a tool, and write all that a run leaves."""
    path = folder / "t.tape"
    rules = Rules(pii=True)
    writer = TapeWriter.create(
        path, origin="p/t", settings={}, key=KEY, rules=rules, journal=folder / "events.jsonl"
    )
    for number, cell in enumerate(cells_, 1):
        made = cell.made
        headers = made.get("headers", (("content-type", "application/json"),))
        request = Request(
            "POST", "https", "tools.test", 443, made.get("path", "/v1"), headers, made.get("body", b"{}")
        )
        one = writer.record(Exchange("s", number, request, "tool"))
        one.request(request)
        one.upstream_head(Response(200, "OK", ()))
        for message in made.get("messages", ()):
            one.message(message)
        one.end("complete")
    writer.close()
    assert writer.failed is None
    for export, name in ((jsonl, "t.jsonl"), (har, "t.har"), (otlp, "t.otlp.jsonl")):
        out = io.BytesIO()
        export.write(path, out)
        (folder / name).write_bytes(out.getvalue())
    with TapeReader.open(path) as reader:
        exchanges = tuple(reader.exchanges())
    assert len(exchanges) == len(cells_)
    subject = Subject(
        "20261123T080000Z-00aa", "exec", "agent", 42, 1, "2026-11-23T08:00:00+00:00", 0.5, "ab" * 32
    )
    redactor = Redactor(KEY, rules)
    made_of = History("exec", exchanges)
    document = observed(
        subject, Profile(name="none", entries=()), made_of, 0, redact=lambda text: redactor.error(text, {})
    )
    (folder / "report.json").write_text(report_json.render(document), "utf-8")
    (folder / "report.html").write_text(report_html.render(document), "utf-8")


# ---------------------------------------------------------------- what is in its files


def parts(path: Path) -> Iterator[bytes]:
    """What a file holds: of a tape its records, its bodies, and what messages in a row say together."""
    if path.suffix != ".tape":
        yield from path.read_bytes().splitlines() if path.suffix == ".jsonl" else (path.read_bytes(),)
        return
    with closing(sqlite3.connect(path)) as rows:
        yield from (bytes(record) for (record,) in rows.execute("SELECT record FROM events"))
        yield from (unpack(*row) for row in rows.execute("SELECT size, packed, data FROM blobs"))
    with TapeReader.open(path) as reader:
        for one in reader.exchanges():
            yield joined(one.messages)


def joined(messages: tuple[Message, ...]) -> bytes:
    texts = [json.loads(one.data).get("delta", "") for one in messages]
    return "".join(texts).encode()


def undone(data: bytes, depth: int = 5) -> Iterator[bytes]:
    """All that bytes decode to, tried at every place and in any order."""
    yield data
    for one in (*unpacked(data), *written(data)) if depth else ():
        if one and one != data:
            yield from undone(one, depth - 1)


def unpacked(data: bytes) -> Iterator[bytes]:
    """What compressed streams, Base64 and Base32 hold; of noise nothing."""
    for place in re.finditer(b"\x1f\x8b\x08", data):
        with suppress(zlib.error):
            yield zlib.decompressobj(31).decompress(data[place.start() :])
    for run_ in re.findall(rb"(?:[A-Za-z0-9+/]{76}(?:\n|\\n))+[A-Za-z0-9+/=]+|[A-Za-z0-9+/]{16,}=*", data):
        text = run_.replace(b"\\n", b"").replace(b"\n", b"").rstrip(b"=")
        for skip in range(4):
            piece = text[skip:]
            plain = base64.b64decode(piece[: len(piece) // 4 * 4] + tail(piece))
            if any(mark in plain for mark in (b"value is ", b"note: ", b"asked for", b"\x1f\x8b\x08")):
                yield plain
    for run_ in re.findall(rb"[A-Z2-7]{16,}", data):
        yield base64.b32decode(run_[: len(run_) // 8 * 8])
        if len(run_) % 8 in (2, 4, 5, 7):
            yield base64.b32decode(run_ + b"=" * (-len(run_) % 8))


def written(data: bytes) -> Iterator[bytes]:
    """What percent-encoding, a form, JSON and HTML say."""
    if b"%" in data:
        yield unquote_to_bytes(data)
    if b"+" in data:
        yield unquote_plus(data.decode("latin-1")).encode("latin-1", "replace")
    if b"\\" in data:
        plain = re.sub(rb"\\+u00([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), data)
        yield re.sub(rb'\\+(["/n])', lambda found: b"\n" if found[1] == b"n" else found[1], plain)
    if b"&#" in data or b"<b>" in data:
        yield html.unescape(data.decode("latin-1")).replace("<b>", "").encode("latin-1", "replace")


def tail(text: bytes) -> bytes:
    rest = text[len(text) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


def bare(text: str) -> bytes:
    return "".join(text.split()).encode()


def found(folder: Path, wanted: list[Cell]) -> dict[str, set[str]]:
    """The values that are in the files of a folder, by file."""
    values = {bare(cell.value): f"{cell.kind}: {cell.value[:40]}" for cell in wanted}
    left: dict[str, set[str]] = {}
    for path in sorted(folder.iterdir()):
        for part in parts(path):
            for said in {b"".join(one.split()) for one in undone(part)}:
                left.setdefault(path.name, set()).update(
                    name for value, name in values.items() if value in said
                )
    return {name: hits for name, hits in left.items() if hits}


# ---------------------------------------------------------------- tests


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_value_is_in_a_file_of_the_run(tmp_path: Path, carrier: str, share: int) -> None:
    wanted = list(cells(carrier, share))
    run(tmp_path, wanted)
    assert found(tmp_path, wanted) == {}
    print(f"{carrier}: {len(wanted)} values, 0 found in {len(list(tmp_path.iterdir()))} files")


@pytest.mark.parametrize("carrier", CARRIERS)
def test_without_the_layer_values_are_found(
    tmp_path: Path, carrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same search over what is recorded when nothing is looked through."""
    monkeypatch.setattr(recording.Body, "_edits", lambda self, text, *, final: [])
    monkeypatch.setattr(recording, "untouched", lambda redactor, head, parts: None)
    monkeypatch.setattr(Redactor, "path", lambda self, path, counts, host="": path)
    monkeypatch.setattr(Redactor, "suspects", lambda self, record: False)
    monkeypatch.setattr("faultwire.tape.redact.messages.whole_edits", lambda text, rules: [])
    monkeypatch.setattr("faultwire.tape.redact.messages.joined_edits", lambda text, pieces, rules: [])
    monkeypatch.setattr("faultwire.tape.redact.messages.whole_edits", lambda text, rules: [])
    wanted = list(cells(carrier, 20))
    run(tmp_path, wanted)
    assert len(found(tmp_path, wanted)["t.tape"]) == len({cell.value for cell in wanted}) > 0


@pytest.mark.parametrize("carrier", CARRIERS)
def test_clean_text_is_left_as_it_is(tmp_path: Path, carrier: str) -> None:
    clean = [Cell("", CLEAN, name, CARRIERS[carrier](encode(CLEAN))) for name, encode in ENCODINGS.items()]
    run(tmp_path, clean)
    with TapeReader.open(tmp_path / "t.tape") as reader:
        for cell, one in zip(clean, reader.exchanges(), strict=True):
            assert one.request.path == cell.made.get("path", "/v1")
            assert one.request.body == cell.made.get("body", b"{}")
            assert [m.data for m in one.messages] == [m.data for m in cell.made.get("messages", ())]


def test_there_are_sixty_values_of_thirty_kinds_in_sixteen_carriers() -> None:
    all_of = [list(cells(carrier)) for carrier in CARRIERS]
    kinds = groupby(all_of[0], key=lambda cell: cell.kind)
    assert [len({cell.value for cell in own}) for _, own in kinds] == [2] * 30
    assert sum(map(len, all_of)) == 60 * 16 * 4
    tenth = sum(len(list(cells(carrier, 10))) for carrier in CARRIERS)
    assert 300 <= tenth <= 480
    assert gzip.decompress(CARRIERS["gzip"]("x")["body"]) == b"note: x"
