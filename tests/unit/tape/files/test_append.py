"""A tape that a later run added to: `faultwire.tape.files.append`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tape.conftest import JSON

from faultwire.errors import TapeTampered
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.replay.match import Missed
from faultwire.replay.reader import index, open_tape
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.files.append import Replayed, append
from faultwire.tape.files.copy import merge
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("p", b"s" * 32)
MASKS = ["$.x"]
FIRED = FaultFired(
    "status", "status", "response", "fired", "call 1 matches", "k", 0, 0, effect="answered 503"
)
Calls = tuple[tuple[str, str], ...]
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Tapes of calls, each with its answer, by session. Of one with `!` a fault made another; `!` alone is a
    fault's."""

    def build(name: str, **sessions: Calls) -> Path:
        path = tmp_path / name / "t.tape"
        writer = TapeWriter.create(path, origin="p/t", settings={"masks": MASKS}, key=b"k" * 32, signer=KEY)
        for session, calls in sessions.items():
            writer.open_session(session, profile="calm", profile_digest="d", seed=7)
            for number, (word, answer) in enumerate(calls, start=1):
                request = asks(word)
                recording = writer.record(Exchange(session, number, request))
                recording.request(request)
                theirs, broken = answer.removesuffix("!"), answer.endswith("!")
                if theirs:
                    recording.upstream_head(Response(200, "OK", JSON))
                    recording.upstream_chunk(json.dumps(theirs).encode())
                if broken:
                    recording.delivered_head(Response(503, "", JSON, b'"broken"'))
                recording.end("complete", None, (FIRED,) if broken else ())
            writer.close_session(session)
        writer.close()
        return path

    return build


def asks(word: str) -> Request:
    return Request("POST", "https", "h.example", 443, "/v1", JSON, json.dumps({"say": word}).encode())


def answers(path: Path, *words: str) -> list[str | None]:
    """What a replay in session `s` says to these, in this order; None where nothing is recorded."""
    with open_tape(path) as reader:
        found = index(reader, session="s")
        taken = [found.take(found.ask(asks(word))) for word in words]
        return [None if isinstance(one, Missed) else said(one.recorded) for one in taken]


def said(recorded: Any) -> str:
    return str(json.loads(recorded.delivered.body))


def numbered(path: Path, session: str) -> list[tuple[int, str]]:
    with TapeReader.open(path) as reader:
        return [(one.number, said(one)) for one in reader.exchanges(session)]


def left(*unasked: tuple[str, int], **answered: tuple[str, int]) -> Replayed:
    return Replayed(unasked, {int(number[1:]): one for number, one in answered.items()})


OLD: Calls = (("a", "a1"), ("a", "a2"), ("b", "b1"))
NEW: Calls = (("a", "a1"), ("c", "c1"))


def test_what_was_not_asked_comes_after_what_was(make: Make, tmp_path: Path) -> None:
    old, new, target = make("old", s=OLD, other=(("o", "o1"),)), make("new", s=NEW), tmp_path / "grown.tape"
    append(target, new=new, old=old, session="s", replayed=left(("s", 2), ("s", 3)), signer=KEY)
    assert answers(target, "a", "a", "b", "c", "a") == ["a1", "a2", "b1", "c1", None]
    assert numbered(target, "s") == [(1, "a1"), (2, "c1"), (3, "a2"), (4, "b1")]
    assert numbered(target, "other") == [(1, "o1")]
    report = verify(target, (KEY.verifier,), demanded=True)
    assert (report.findings, report.sessions, report.exchanges) == ([], 2, 5)
    assert evidence_class(report) == ("PARTIAL", ["it was made from other tapes with `replay`"])
    with TapeReader.open(target) as reader:
        assert {info.name: info.exchanges for info in reader.sessions()} == {"s": 4, "other": 1}
        about = reader.info()
    assert about.origin == "p/t"
    assert about.settings["masks"] == MASKS
    assert [one["root"] for one in about.settings["made_of"]] == [verify(new).root, verify(old).root]
    # without it: what the new tape does not have is gone, or in a session that nobody asks
    assert answers(new, "a", "a", "b", "c") == ["a1", None, None, "c1"]
    merge([new, old], tmp_path / "merged.tape", "p/t", KEY)
    assert answers(tmp_path / "merged.tape", "a", "a", "b", "c") == ["a1", None, None, "c1"]


def test_it_grows_again(make: Make, tmp_path: Path) -> None:
    old, new, first = make("old", s=OLD), make("new", s=NEW), tmp_path / "first.tape"
    append(first, new=new, old=old, session="s", replayed=left(("s", 2), ("s", 3)), signer=None)
    assert [one.code for one in verify(first).findings] == ["seal_missing"]
    again, second = make("again", s=(("d", "d1"), ("b", "b1"))), tmp_path / "second.tape"
    append(second, new=again, old=first, session="s", replayed=left(("s", 1), ("s", 2), ("s", 3)), signer=KEY)
    assert answers(second, "a", "a", "b", "c", "d", "b") == ["a1", "a2", "b1", "c1", "d1", None]


def test_what_a_fault_made_of_a_recorded_answer_does_not_replace_it(make: Make, tmp_path: Path) -> None:
    """`a` was answered from the tape and then broken; `b` by a fault alone, which left the tape's answer;
    `c` is new, `d` is new and was broken on its way."""
    new = make("new", s=(("a", "a1!"), ("b", "!"), ("c", "c1"), ("a", "a2"), ("d", "d1!"), ("e", "!")))
    old, target = make("old", s=OLD), tmp_path / "grown.tape"
    told = left(("s", 3), n1=("s", 1), n4=("s", 2))
    append(target, new=new, old=old, session="s", replayed=told, signer=KEY)
    assert answers(target, "a", "a", "b", "c", "e") == ["a1", "a2", "b1", "c1", None]
    assert numbered(target, "s") == [(1, "a1"), (3, "c1"), (4, "a2"), (5, "broken"), (7, "b1")]
    with TapeReader.open(target) as reader:
        assert [info.exchanges for info in reader.sessions()] == [5]
        found = {one.number: one for one in reader.exchanges("s")}
    assert found[5].upstream is not None
    assert [number for number, one in found.items() if one.faults] == [5]
    assert verify(target, (KEY.verifier,), demanded=True).findings == []


def test_sessions_of_other_names_answered_as_one(make: Make, tmp_path: Path) -> None:
    old, new = make("old", x=OLD, y=OLD), make("new", s=NEW)
    target = tmp_path / "grown.tape"
    append(target, new=new, old=old, session="s", replayed=left(("x", 3), ("y", 1)), signer=KEY)
    assert numbered(target, "s") == [(1, "a1"), (2, "c1"), (3, "b1"), (4, "a1")]
    assert verify(target).sessions == 1
    append(tmp_path / "all.tape", new=new, old=old, session="s", replayed=left(), signer=KEY)
    assert numbered(tmp_path / "all.tape", "s") == numbered(new, "s")


def test_what_was_tampered_with_is_added_to_nothing(make: Make, tmp_path: Path) -> None:
    old, new = make("old", s=OLD), make("new", s=NEW)
    old.chmod(0o600)
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("DELETE FROM events WHERE seq = 3")
    with pytest.raises(TapeTampered, match="does not verify"):
        append(tmp_path / "grown.tape", new=new, old=old, session="s", replayed=left(("s", 2)), signer=KEY)
    assert not (tmp_path / "grown.tape").exists()
