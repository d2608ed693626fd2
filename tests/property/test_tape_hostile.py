"""Tapes that somebody bent in ways that no reader expects, under every command that reads one, and under all
verifiers.

Hashes and links are made anew, so that what was changed is read. Every command ends with one of its exit
codes, and nothing that it prints can steer a terminal.
"""

from __future__ import annotations

import gc
import io
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.tape.conftest import second_verifier

from faultwire.cli import main
from faultwire.events import Exchange, FaultFired, Message, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import jsonl, verify_export
from faultwire.tape.format import events as tape_events
from faultwire.tape.format.hash_chain import GENESIS, leaf
from faultwire.tape.record.writer import TapeWriter

JSON = (("content-type", "application/json"),)
LINE = FaultFired("status", "status", "response", "fired", "why", "k", 0, 0, effect="x", settings={"ms": 1.5})
ASKED = b'{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"password":"hunter22222"}'
ANSWER = b'{"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"hello"}}]}'
ONLY_OURS = {"schema_mismatch", "row_mismatch", "hash_mismatch", "blob_unreferenced", "damaged"}
"""What only a database has."""
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**53 - 1, 2**53, 2**63, -(2**63), 1.5, -0.0, 1e308, "", "x", "1" * 400),
    *("\x1b[31m", "\x00", "a\nb", "\u202e", "é", "\u4e2d", "//[", "http://[", "{", "[]", "7", "null"),
    *([], {}, [[]], [None], {"a": 1}, [["a", "b"]], [["a", 1]], [[1, 2]], [[2**62, 2**62]]),
    *({"blob": "zz", "size": 0}, {"blob": "00" * 32, "size": 0}, {"blob": 5, "size": "x"}),
    '{"made_by":"fork","made_of":[{"events":-1,"root":"x"}],"fork":{"at":5}}',
    *('{"masks":["$["]}', '{"imported":5}', '{"x":NaN}', '{"x":1,"x":2}', f'{{"x":{"[" * 130}{"]" * 130}}}'),
    *([[True, 1]], [[], 1], json.loads("[" * 126 + "]" * 126), json.loads("[" * 200 + "]" * 200)),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sound_tape(tmp_path_factory.mktemp("sound") / "t.tape")


def sound_tape(path: Path) -> Path:
    """A tape with an event of every kind."""
    writer = TapeWriter.create(path, origin="p/t", settings={"imported": "agentops"}, key=b"k" * 32)
    writer.open_session("a", profile="calm", profile_digest="d", seed=7, agent="bot")

    def begin(number: int, kind: Any, request: Request, **known: Any) -> Any:
        recording = writer.record(Exchange("a", number, request, kind, **known))
        recording.request(request)
        return recording

    model = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, ASKED)
    one = begin(1, "llm", model, protocol="openai_chat", provider="openai", key="k")
    one.upstream_head(Response(200, "OK", JSON))
    one.upstream_chunk(ANSWER)
    one.end("complete", None, (LINE,))
    two = begin(2, "tool", Request("GET", "https", "t.example", 443, "/x?a=1", (("x", "y"),)), tool="look")
    two.forwarded(Request("GET", "https", "t.example", 443, "/y", (), b"changed"))
    two.upstream_head(Response(200, "OK", ()))
    two.upstream_chunk(bytes(range(256)))
    two.delivered_head(Response(503, "No", JSON, b"{}"))
    two.trailers("upstream", (("grpc-status", "0"),))
    writer.flush()
    two.upstream_chunk(b"more")
    two.end("cut", "cut off", (LINE,))
    three = begin(3, "other", Request("GET", "wss", "ws.example", 443, "/ws"))
    three.message(Message("client", "text", b"hi", 1, None, None))
    three.message(Message("server", "close", b"", None, 2, 1000))
    three.end("upstream_aborted", "reset")
    writer.drop(Exchange("a", 4, model), "the queue was full")
    writer.foreign(
        tape_events.foreign("a", "agentops v0.6", "TOOL_CALL", 1, 1000), b'{"payload":{"args":[1]}}'
    )
    writer.note("x", "a note")
    writer.close_session("a")
    writer.close()
    return path


def other(value: Any, chance: random.Random) -> Any:
    """The same with another value in one place."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.15:
        return chance.choice(VALUES)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        return [*value[:at], other(value[at], chance), *value[at + 1 :]]
    name = chance.choice(
        [name for name in value if name not in ("seq", "prev", "type", "session")] or [*value]
    )
    if chance.random() < 0.1:
        return {key: one for key, one in value.items() if key != name}
    return {**value, name: other(value[name], chance)}


def bent(sound: Path, path: Path, chance: random.Random) -> None:
    """A copy with other values in some events, and hashes and links that fit."""
    shutil.copy(sound, path)
    path.chmod(0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as rows:
        events = [json.loads(one) for (one,) in rows.execute("SELECT record FROM events ORDER BY seq")]
        for _ in range(chance.choice((1, 1, 2, 4))):
            at = chance.randrange(len(events))
            events[at] = other(events[at], chance)
        prev = GENESIS
        for seq, event in enumerate(events):
            if isinstance(event, dict) and "prev" in event:
                event["prev"] = prev
            record = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            session = event.get("session", "") if isinstance(event, dict) else ""
            row = (record, leaf(record), session if isinstance(session, str) else "", seq)
            rows.execute("UPDATE events SET record=?, hash=?, session=? WHERE seq=?", row)
            prev = leaf(record).hex()


def commands(tape: str, sound: Path) -> Iterator[list[str]]:
    yield ["list", "-l", "."]
    yield ["show", tape]
    yield ["show", tape, "--format", "json"]
    yield ["show", tape, "--session", "a"]
    for number in "123":
        yield ["show", tape, "--session", "a", "--exchange", number]
        yield ["show", tape, "--session", "a", "--exchange", number, "--format", "json"]
    yield ["verify", tape]
    yield ["verify", tape, "--json"]
    for format_ in ("jsonl", "har", "flows", "otlp", "bundle"):
        yield ["export", tape, "--to", format_, "-o", f"out.{format_}"]
    yield ["export", tape, "--share", "-o", "shared.jsonl"]
    yield ["scan", tape]
    yield ["merge", tape, tape, "-o", "m.tape"]
    yield ["split", tape, "--session", "a", "-o", "s.tape"]
    yield ["salvage", tape, "-o", "saved.tape"]
    yield ["diff", tape, str(sound)]
    yield ["diff", str(sound), tape]
    yield ["learn", tape, str(sound)]
    yield ["tree", tape]
    yield ["seal", tape]
    yield ["prove", tape, "--event", "3"]


def judged_alike(path: Path, other_verifier: ModuleType) -> None:
    """Do all three verifiers say of the tape, and of its export, that it is or is not what was recorded?"""
    ours = {one.code for one in verify(path).findings if not one.is_note} - ONLY_OURS
    out = io.BytesIO()
    jsonl.write(path, out)
    found = other_verifier.verify(out.getvalue().splitlines(keepends=True)[1:]).findings
    theirs = {one["code"] for one in found if not one["note"]}
    assert bool(ours) == bool(theirs), (ours, theirs)
    path.with_suffix(".jsonl").write_bytes(out.getvalue())
    core = {one.code for one in verify_export.verify(path.with_suffix(".jsonl")).findings if not one.is_note}
    assert core == theirs


def met(sound: Path, folder: Path, seeds: range) -> dict[int, int]:
    """How often each exit code was seen."""
    codes: dict[int, int] = {}
    other_verifier = second_verifier()
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir()
        os.chdir(place)
        bent(sound, place / "t.tape", random.Random(seed))
        judged_alike(place / "t.tape", other_verifier)
        for command in commands("./t.tape", sound):
            if command[0] == "seal":  # what a failed command of this process still reads would be in its way
                gc.collect()
            done = CliRunner().invoke(main, ["tape", *command])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise AssertionError(f"seed {seed}, {command}") from done.exception
            codes[done.exit_code] = codes.get(done.exit_code, 0) + 1
            assert all(c.isprintable() or c in "\n\t" for c in done.output), (seed, command)
            if command[0] == "salvage" and done.exit_code in (0, 1):
                kept = CliRunner().invoke(main, ["tape", "verify", "./saved.tape"])
                assert kept.exit_code == 0, (seed, kept.output)
        shutil.rmtree(place)
    return codes


def test_bent_tapes(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes = met(sound, tmp_path, range(12))
    assert codes.keys() == {0, 1, 3}, codes


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_many_bent_tapes(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes = met(sound, tmp_path, range(1000, 1850))
    assert codes.keys() <= {0, 1, 2, 3}, codes
