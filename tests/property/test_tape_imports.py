"""Files that somebody bent: an import tells findings or one typed error, and never anything else."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow
from tests.unit.tape.import_ import made

from faultwire.errors import TapeError
from faultwire.mitm.flowfile import import_ as flowfile_import
from faultwire.tape.evidence.verify import verify
from faultwire.tape.import_ import agentops, har, tracefork
from faultwire.tape.import_._api import Item, store

Read = Callable[[Path], Iterator[Item]]
WORDS = (
    b'"',
    b"{",
    b"[",
    b"]",
    b"}",
    b"\0",
    b"\xff",
    b"\\ud800",
    b"99999999999999999999",
    b"-1",
    b"null",
    b":",
    b"e9",
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 10**10, 10**30, 1.5, -0.0, 1e308, "", "x", "\ud800", "\x00", [], {}, [[]]),
    *(
        "http://[",
        "http://h:99999/",
        "http://h:x/",
        "0000-00-00",
        "9999-12-31T23:59:59Z",
        "=",
        "QQ==",
        "%s" * 50,
    ),
    *({"name": 1}, [None], "1" * 5000, "é" * 100, "base64", "[REDACTED]"),
    *(float("nan"), float("inf"), -float("inf"), 2**53, -(2**63), 2**64, "\u202e\x1b[31m", [[[[[[[[]]]]]]]]),
)


def flows() -> bytes:
    out = io.BytesIO()
    writer = FlowWriter(out)
    for flow in (
        tflow.tflow(resp=http.Response.make(201, b"made")),
        tflow.tflow(err=True),
        tflow.twebsocketflow(),
    ):
        writer.add(flow)
    return out.getvalue()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Read, bytes]]:
    return made_files(tmp_path_factory.mktemp("files"))


def made_files(folder: Path) -> list[tuple[Read, bytes]]:
    """A sound file of each format, with what reads it."""
    messages = [{"type": "send", "time": 1767323045.5, "opcode": 1, "data": "hi"}]
    web = made.har(
        made.entry(), made.entry(_webSocketMessages=messages, _ending="cut", _upstream={"status": 200})
    )
    old = made.old_log(*made.OLD_EVENTS)
    sealed = made.sealed_old(old, event_count=6, session_digest="0" * 64)
    document = {
        "evidence_class": "X",
        "session_metadata": {"event_count": 6},
        "seal": {"present": True},
        "events": old,
    }
    return [
        (har.read, web),
        (flowfile_import.read, flows()),
        (agentops.read, made.lines(sealed)),
        (agentops.read, made.lines(made.new_log(*made.NEW_EVENTS))),
        (agentops.read, json.dumps(document).encode()),
        (tracefork.read, made.sqlite_tape(folder / "t").read_bytes()),
        *((tracefork.read, made.envelope(version)) for version in (1, 3, 6)),
    ]


def bent(data: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut, doubled and put in."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.randrange(len(out) + 1)
        end = min(len(out), at + chance.choice((1, 4, 100)))
        how = chance.randrange(5)
        if how == 0 and at < len(out):
            out[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            del out[at:end]
        elif how == 2:
            out[at:at] = out[at:end]
        elif how == 3:
            out[at:end] = chance.choice(WORDS)
        else:
            del out[at:]
    return bytes(out)


def twisted(data: bytes, chance: random.Random) -> bytes:
    """The same JSON (of a document, of lines, of an envelope's header) with other values in some places."""
    head, rest, tail = b"", data, b""
    if data.startswith(b"TFTAPE\0"):
        (length,) = struct.unpack_from(">I", data, 9)
        head, rest, tail = data[:9], data[13 : 13 + length], data[13 + length :]
    try:
        lines = [json.loads(line) for line in rest.splitlines()]
    except ValueError:
        return bent(data, chance)
    for _ in range(chance.choice((1, 1, 2, 5))):
        number = chance.randrange(len(lines))
        lines[number] = _other(lines[number], chance)
    out = b"\n".join(json.dumps(line).encode() for line in lines)
    return head + struct.pack(">I", len(out)) + out + tail if head else out


def _other(value: Any, chance: random.Random) -> Any:
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.1:
        return chance.choice(VALUES)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        return [*value[:at], _other(value[at], chance), *value[at + 1 :]]
    name = chance.choice(list(value))
    if chance.random() < 0.1:
        return {key: one for key, one in value.items() if key != name}
    return {**value, name: _other(value[name], chance)}


def judged(read: Read, data: bytes, folder: Path, *, kept: bool) -> str:
    """What became of a file: `told`, `refused`; anything else that is raised fails the test."""
    path, target = folder / "file", folder / "t.tape"
    path.write_bytes(data)
    try:
        if not kept:
            assert all(isinstance(one, Item) for one in read(path))
            return "told"
        store(read(path), target, "x", "p/t", key=b"k" * 32)
    except TapeError as error:
        return "refused" if error.code.startswith("tape.") and not target.exists() else error.code
    bad = [one for one in verify(target).findings if not one.is_note and one.code != "import_finding"]
    assert bad == [], "the tape itself is whole, whatever was wrong with the file"
    target.unlink()
    return "told"


def many(files: list[tuple[Read, bytes]], folder: Path, count: int, seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    outcomes = {"told": 0, "refused": 0}
    for number in range(count):
        read, data = files[number % len(files)]
        changed = (bent if chance.random() < 0.4 else twisted)(data, chance)
        outcomes[judged(read, changed, folder, kept=number % 8 == 0)] += 1
    return outcomes


def test_bent_files(files: list[tuple[Read, bytes]], tmp_path: Path) -> None:
    outcomes = many(files, tmp_path, 300, 1)
    assert min(outcomes.values()) > 30, outcomes


@pytest.mark.nightly
def test_ten_thousand_bent_files(files: list[tuple[Read, bytes]], tmp_path: Path) -> None:
    outcomes = many(files, tmp_path, 10_000, 2)
    assert min(outcomes.values()) > 1000, outcomes


def test_files_as_they_were_made_are_reported(files: list[tuple[Read, bytes]], tmp_path: Path) -> None:
    for read, data in files:
        assert judged(read, data, tmp_path, kept=True) == "told"


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (flowfile_import.read, b"10000000000:" + b"x" * 100),
        (flowfile_import.read, b"999999999999:4:type;"),
        (flowfile_import.read, b"10:" * 1000),
        (tracefork.read, b"TFTAPE\0" + struct.pack(">HI", 6, 0xFFFFFFFF) + b"{}"),
        (tracefork.read, made.envelope()[:-60] + b"\xff\xff\xff\xff" + b"x" * 40),
        (har.read, b'{"log":{"entries":[' + b"[" * 100_000),
        (agentops.read, b'{"event_type":' * 50_000),
        (agentops.read, b'{"event_type":"X","payload":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    ],
)
def test_claims_and_depths_cost_no_memory(read: Read, data: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    tracemalloc.start()
    try:
        assert judged(read, data, tmp_path, kept=False) in ("told", "refused")
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
