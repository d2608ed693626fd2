"""Tapes made out of others: `faultwire.tape.files.copy` and `faultwire.tape.redact.rekey`."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tape.conftest import Deck

from faultwire import _core
from faultwire.errors import TapeIncomplete, TapeTampered, UsageError
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.files.copy import merge, share, split
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.rekey import Rekey

KEY = SignerKey("p", b"s" * 32)
SECRET = "sk-ant-api03-" + "A" * 40
MARK = b"redacted:v1:" + b"ab" * 16


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    def build(
        name: str,
        sessions: tuple[str, ...] = ("s",),
        masks: tuple[str, ...] = (),
        redact: dict[str, Any] | None = None,
    ) -> Path:
        path = tmp_path / "tapes" / f"{name}.tape"
        settings: dict[str, Any] = {"masks": list(masks)} if masks else {}
        settings |= {"redact": redact} if redact else {}
        writer = TapeWriter.create(path, origin=f"p/{name}", settings=settings, key=b"k" * 32, signer=KEY)
        for session in sessions:
            writer.open_session(session, profile="calm", profile_digest="d", seed=7)
            deck = Deck(path, writer)
            for number in range(2):
                recording = deck.begin(
                    b'{"api_key":"%s","n":%d}' % (SECRET.encode(), number), session=session
                )
                recording.end("complete", None, ())
            writer.close_session(session)
        writer.close()
        return path

    return build


def bodies(path: Path) -> list[tuple[str, bytes | None]]:
    with TapeReader.open(path) as reader:
        names = [info.name for info in reader.sessions()]
        return [(name, e.request.body) for name in names for e in reader.exchanges(name)]


def test_two_tapes_become_one_and_no_session_is_lost(make: Callable[..., Path], tmp_path: Path) -> None:
    one, two = make("one", ("a", "b")), make("two", ("b", "c"))
    target = tmp_path / "both.tape"
    done = merge([one, two], target, "p/both", KEY)
    assert [name for name, _ in bodies(target)] == ["a", "a", "b", "b", "b-2", "b-2", "c", "c"]
    assert sorted(body for _, body in bodies(target)) == sorted(
        body for path in (one, two) for _, body in bodies(path)
    )
    report = verify(target, (KEY.verifier,), demanded=True)
    assert report.ok
    assert evidence_class(report) == ("PARTIAL", ["it was made from other tapes with `merge`"])
    with TapeReader.open(target) as reader:
        made_of = reader.info().settings["made_of"]
    assert [one["root"] for one in made_of] == [verify(one).root, verify(two).root]
    # of the two first events and the two seals one each
    assert done.events == sum(one["events"] for one in made_of) - 2
    with pytest.raises(UsageError, match="exists already"):
        merge([one], target, "p/both", KEY)


def test_one_session_is_taken_out(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make("one", ("a", "b"))
    split(path, "b", tmp_path / "b.tape", "p/b", None)
    assert bodies(tmp_path / "b.tape") == [one for one in bodies(path) if one[0] == "b"]
    assert verify(tmp_path / "b.tape").ok
    with pytest.raises(TapeIncomplete, match="has no session `c`"):
        split(path, "c", tmp_path / "c.tape", "p/c", None)
    assert not (tmp_path / "c.tape").exists()


def test_a_shared_tape_matches_no_other(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make("one")
    share(path, tmp_path / "a.tape", "p/a", None)
    share(path, tmp_path / "b.tape", "p/b", None)
    found = [bodies(one) for one in (path, tmp_path / "a.tape", tmp_path / "b.tape")]
    marks = [{body[12:56] for _, body in one if body} for one in found]
    assert all(len(one) == 1 for one in marks)  # equal values stay equal on a tape
    assert len(set.union(*marks)) == 3  # and match on no other
    assert {len(body) for one in found for _, body in one if body} == {len(found[0][0][1] or b"")}
    with closing(sqlite3.connect(path)) as before, closing(sqlite3.connect(tmp_path / "a.tape")) as after:
        assert (
            before.execute("SELECT count(*) FROM blobs").fetchone()
            == after.execute("SELECT count(*) FROM blobs").fetchone()
        )
    assert verify(tmp_path / "a.tape").ok


@pytest.mark.parametrize("fits", [True, False], ids=["same length", "shorter"])
def test_a_frame_that_redaction_has_broken_is_shared(tmp_path: Path, fits: bool) -> None:
    """Frames under another type of content are redacted as text, and their checksums do not hold any more."""
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    deck = Deck(path, writer)
    secret = SECRET[: len(MARK) if fits else None].encode()
    recording = deck.begin(_core.eventstream_write((), b'{"say":"%s"}' % secret))
    recording.end("complete", None, ())
    writer.close()
    share(path, tmp_path / "given.tape", "p/given", None)
    ((_, before),), ((_, after),) = bodies(path), bodies(tmp_path / "given.tape")
    assert before is not None
    assert after is not None
    at = before.index(b"redacted:v1:") + len(b"redacted:v1:")
    assert before[at : at + 32] != after[at : at + 32]
    assert (before[:at], before[at + 32 :]) == (after[:at], after[at + 32 :])


def test_a_copy_keeps_the_masks_that_all_its_sources_have(make: Callable[..., Path], tmp_path: Path) -> None:
    one, two = make("one", ("a", "b"), ("$.id", "$.at")), make("two", ("c",), ("$.at", "$.n"))
    merge([one, two], tmp_path / "both.tape", "p/both", None)
    merge([one, make("bare", ("d",))], tmp_path / "all.tape", "p/all", None)
    split(one, "b", tmp_path / "b.tape", "p/b", None)
    share(one, tmp_path / "given.tape", "p/given", None)

    def masks(name: str) -> object:
        with TapeReader.open(tmp_path / name) as reader:
            return reader.info().settings.get("masks")

    assert masks("b.tape") == masks("given.tape") == ["$.id", "$.at"]
    assert masks("both.tape") == ["$.at"]
    assert masks("all.tape") is None


def test_what_was_tampered_with_is_not_copied(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make("one")
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM events WHERE seq = 3")
    with pytest.raises(TapeTampered, match="does not verify"):
        merge([path], tmp_path / "two.tape", "p/two", None)
    assert not (tmp_path / "two.tape").exists()


def test_placeholders_are_renamed_wherever_they_stand() -> None:
    rekey = Rekey(b"k" * 32)
    new = rekey.data(MARK)
    assert new != MARK
    assert len(new) == len(MARK)
    assert rekey.data(b'{"a":"%s"}' % MARK) == b'{"a":"%s"}' % new
    assert rekey.data(b64encode(b"say " + MARK + b"..")) == b64encode(b"say " + new + b"..")
    frame = _core.eventstream_write((), b'{"bytes":"%s"}' % b64encode(b"xx" + MARK + b"xx"))
    renamed = rekey.data(frame + frame)
    expected = _core.eventstream_write((), b'{"bytes":"%s"}' % b64encode(b"xx" + new + b"xx"))
    assert renamed == expected + expected
    assert rekey.data(b"nothing here") == b"nothing here"
    assert Rekey().data(MARK) != new


def test_a_copy_redacts_what_any_of_its_sources_did(make: Callable[..., Path], tmp_path: Path) -> None:
    withheld = {"id": "client", "regex": MARK.decode()}
    one, two = make("one", redact={"pii": True}), make("two", redact={"patterns": [withheld]})
    merge([one, two, make("three")], tmp_path / "all.tape", "p/all", KEY)
    share(tmp_path / "all.tape", tmp_path / "given.tape", "p/given", KEY)
    kept = []
    for name in ("all", "given"):
        with TapeReader.open(tmp_path / f"{name}.tape") as reader:
            kept.append(reader.info().settings["redact"])
    assert kept[0] == {"pii": True, "patterns": [withheld]}
    regex = kept[1]["patterns"][0]["regex"]
    assert regex.startswith("redacted:v1:")
    assert regex != withheld["regex"]
    make("plain")
    split(tmp_path / "tapes" / "plain.tape", "s", tmp_path / "bare.tape", "p/bare", KEY)
    with TapeReader.open(tmp_path / "bare.tape") as reader:
        assert "redact" not in reader.info().settings
