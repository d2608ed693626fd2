"""What is saved of a damaged tape, to the row, and what is said of the first that is not."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.unit.tape.conftest import Deck
from tests.unit.tape.evidence.resealed import KEY, append, recorded, rewrite, sealed_with

from faultwire.errors import TapeError, TapeNotFound, TapeTampered, UsageError
from faultwire.tape.evidence.salvage import Salvaged, cut_short, kept_of_cut, salvage, to_its_end
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.hash_chain import leaf, record_bytes

Change = Callable[[sqlite3.Connection], object]


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    folder.mkdir()
    return recorded(folder, None)


def rows_of(path: Path) -> tuple[list[Any], set[Any]]:
    with closing(sqlite3.connect(path)) as rows:
        events = rows.execute("SELECT seq, session, record, hash FROM events ORDER BY seq").fetchall()
        return events, set(rows.execute("SELECT digest, size, packed, data FROM blobs"))


def bodies(events: list[Any]) -> list[tuple[int, str]]:
    """(number of the event, digest) of each that has a body."""
    said = [(row[0], orjson.loads(row[2]).get("body")) for row in events]
    return [(seq, body["blob"]) for seq, body in said if body]


def put(seq: int, record: bytes) -> Change:
    """Another record in an event's place, with the hash that it has."""
    return lambda rows: rows.execute(
        "UPDATE events SET record = ?, hash = ? WHERE seq = ?", (record, leaf(record), seq)
    )


def event(path: Path, number: int, **changed: Any) -> bytes:
    events, _ = rows_of(path)
    return record_bytes({**orjson.loads(events[number][2]), **changed})


def kept(source: Path, target: Path) -> tuple[int, str | None]:
    """How much was saved and why no more, after a look at the copy: it is the beginning, byte for byte."""
    before, blobs = rows_of(source)
    done = salvage(source, target)
    events, saved = rows_of(target)
    assert events == before[: done.events]
    assert {one[0].hex() for one in saved} == {digest for _, digest in bodies(events)}
    assert saved <= blobs
    assert done.blobs == len(saved)
    assert not [one for one in verify(target, (KEY.verifier,)).findings if not one.is_note]
    return done.events, done.reason


# ---------------------------------------------------------------- what is saved


def test_a_sound_tape_is_saved_whole(tape: Path, tmp_path: Path) -> None:
    count = len(rows_of(tape)[0])
    assert kept(tape, tmp_path / "new" / "s.tape") == (count, None)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert not [name for name in os.listdir(tmp_path / "new") if not name.startswith("s.tape")]


def test_a_tape_of_more_events_than_are_written_at_once(deck: Deck, tmp_path: Path) -> None:
    for number in range(90):
        deck.exchange(b'{"n":%d}' % number)
    deck.writer.close()
    count = len(rows_of(deck.path)[0])
    assert count > 300
    assert kept(deck.path, tmp_path / "s.tape") == (count, None)


def test_nothing_is_saved_before_it_is_counted() -> None:
    assert Salvaged() == Salvaged(events=0, blobs=0, reason=None)


def test_seals_by_keys_that_nobody_trusts_here_are_saved(tmp_path: Path) -> None:
    path = recorded(tmp_path, KEY)
    assert "seal_untrusted" in {one.code for one in verify(path).findings}
    assert kept(path, tmp_path / "new" / "s.tape") == (len(rows_of(path)[0]), None)


# ---------------------------------------------------------------- the first row that is not sound


def test_the_first_row_that_is_not_what_was_recorded_ends_what_is_saved(tape: Path, tmp_path: Path) -> None:
    whole = tape.read_bytes()
    events, _ = rows_of(tape)
    at = next(row[0] for row in events if orjson.loads(row[2])["type"] == "response")
    changed = "event {} is not what was recorded".format
    fraction = event(tape, at).replace(b'"status":200', b'"status":200.5')
    assert fraction != events[at][2]
    cases: list[tuple[Change, str]] = [
        (lambda rows: rows.execute("DELETE FROM events WHERE seq = ?", (at,)), f"event {at} is missing"),
        (
            lambda rows: rows.execute("UPDATE events SET hash = ? WHERE seq = ?", (bytes(32), at)),
            changed(at),
        ),
        (put(at, events[at][2].replace(b":", b": ", 1)), changed(at)),
        (put(at, event(tape, at, prev="ab" * 32)), f"event {at} does not follow the one before it"),
        (put(at, event(tape, at, seq=at + 1)), f"event {at} does not follow the one before it"),
        (
            lambda rows: rows.execute("UPDATE events SET session = 'x' WHERE seq = ?", (at,)),
            f"event {at} is not what its row says",
        ),
        (
            put(at, b"[]"),
            f"event {at} of tape `{tape}` is none that a tape has: TypeError('found list')",
        ),
    ]
    for number, (change, reason) in enumerate(cases):
        tape.chmod(0o600)
        tape.write_bytes(whole)
        rewrite(tape, change)
        assert kept(tape, tmp_path / f"{number}.tape") == (at, reason)


def test_a_number_that_not_every_reader_keeps_is_not_what_was_recorded(tape: Path, tmp_path: Path) -> None:
    last = len(rows_of(tape)[0]) - 1
    record = event(tape, last, more="?").replace(b'"?"', b"1.5")
    assert b'"more":1.5' in record
    rewrite(tape, put(last, record))
    assert kept(tape, tmp_path / "s.tape") == (last, f"event {last} is not what was recorded")


def test_what_only_a_verifier_sees_ends_it_in_the_verifiers_words(tmp_path: Path) -> None:
    path = recorded(tmp_path, KEY)
    sealed_with(path, {"event": {"root": "00" * 32}})
    (bad,) = [one for one in verify(path).findings if one.seq is not None and one.code != "seal_untrusted"]
    last = len(rows_of(path)[0]) - 1
    assert bad.seq == last
    assert kept(path, tmp_path / "s.tape") == (last, bad.message)


@pytest.mark.parametrize(
    ("change", "end"),
    [
        ("DELETE FROM blobs WHERE digest = ?", " is missing or changed"),
        ("UPDATE blobs SET size = size + 1 WHERE digest = ?", " is missing or changed"),
        ("UPDATE blobs SET data = zeroblob(size) WHERE digest = ?", " is missing or changed"),
        (
            "UPDATE blobs SET packed = 2 WHERE digest = ?",
            ": a blob claims {} bytes, expected at most 268435456",
        ),
        (
            "UPDATE blobs SET data = CAST(data || x'00' AS BLOB) WHERE digest = ?",
            ": a blob holds {more} bytes, expected {}",
        ),
    ],
    ids=["gone", "size", "data", "form", "longer"],
)
def test_a_body_that_is_not_there_as_it_was(tape: Path, tmp_path: Path, change: str, end: str) -> None:
    events, blobs = rows_of(tape)
    at, digest = bodies(events)[1]
    size = next(one[1] for one in blobs if one[0].hex() == digest)
    at = next(seq for seq, one in bodies(events) if one == digest)
    rewrite(tape, lambda rows: rows.execute(change, (bytes.fromhex(digest),)))
    before, _ = rows_of(tape)
    done = salvage(tape, tmp_path / "s.tape")
    assert done.reason == f"the body of event {at}" + end.format(size, more=size + 1)
    assert rows_of(tmp_path / "s.tape")[0] == before[:at]


def test_of_nothing_sound_no_tape_is_made(tape: Path, tmp_path: Path) -> None:
    rewrite(tape, lambda rows: rows.execute("DELETE FROM events WHERE seq = 0"))
    with pytest.raises(TapeTampered) as error:
        salvage(tape, tmp_path / "s.tape")
    assert (error.value.message, error.value.code) == (
        "nothing can be saved: event 0 is missing",
        "tape.salvage",
    )
    assert os.listdir(tmp_path) == ["recorded"]


# ---------------------------------------------------------------- targets


def test_a_target_that_cannot_be(tape: Path, tmp_path: Path) -> None:
    target = tmp_path / "s.tape"
    target.write_text("mine")
    with pytest.raises(UsageError) as error:
        salvage(tape, target)
    assert (error.value.message, error.value.code) == (f"tape `{target}` exists already", "tape.exists")
    assert target.read_text() == "mine"
    with pytest.raises(UsageError, match="tape name 'a b' is not allowed"):
        salvage(tape, tmp_path / "a b.tape")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UsageError, match="is writable by everybody"):
        salvage(tape, tmp_path / "open" / "s.tape")
    with pytest.raises(TapeNotFound):
        salvage(tmp_path / "none.tape", tmp_path / "new.tape")


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """As on a disk that is full: more than so many bytes cannot be written to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full(tape: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "s.tape"
    with no_file_longer_than(4096), pytest.raises(TapeError) as error:
        salvage(tape, target)
    assert error.value.code == "tape.create"
    assert error.value.message.startswith(f"cannot write tape `{target}`: ")
    assert isinstance(error.value.__cause__, (OSError, sqlite3.Error))
    cut = shortened(tape)
    with no_file_longer_than(4096), pytest.raises(TapeError) as error:
        salvage(cut, target)
    assert error.value.code == "tape.create"
    assert error.value.message.startswith(f"cannot write `{target.parent}/.s.tape.")
    assert error.value.message.endswith("`: File too large")
    assert os.listdir(target.parent) == []


# ---------------------------------------------------------------- tapes whose end is gone

PAGE = 8192


def shortened(path: Path, size: int = -PAGE) -> Path:
    """A copy of a tape of which only so many bytes are there."""
    cut = path.with_name("cut.tape")
    cut.write_bytes(path.read_bytes()[:size])
    return cut


def test_what_stands_in_the_place_of_the_end_is_nothing(tape: Path, tmp_path: Path) -> None:
    whole = tape.read_bytes()
    with to_its_end(tape, tmp_path / "s.tape") as place:
        assert place == tape
    cut = shortened(tape, len(whole) - PAGE - 100)
    with to_its_end(cut, tmp_path / "s.tape") as place:
        assert place.parent == tmp_path
        assert place.name.startswith(".s.tape.")
        assert place.stat().st_mode & 0o777 == 0o600
        said = place.read_bytes()
        assert len(said) == len(whole)
        assert said == cut.read_bytes()[:18] + b"\1\1" + cut.read_bytes()[20:] + bytes(PAGE + 100)
    assert sorted(os.listdir(tmp_path)) == ["recorded"]
    assert cut.read_bytes() == whole[: -PAGE - 100]


def test_the_beginning_is_saved_and_counted_alike(deck: Deck, tmp_path: Path) -> None:
    for number in range(90):
        deck.exchange(b'{"n":%d}' % number)
    deck.writer.close()
    before, _ = rows_of(deck.path)
    size = deck.path.stat().st_size
    cut = shortened(deck.path, size - 4 * PAGE)
    found = kept_of_cut(cut)
    done = salvage(cut, tmp_path / "s.tape")
    assert found is not None
    assert 0 < done.events < len(before)
    assert done.reason is not None
    assert (found.events, found.reason) == (done.events, done.reason)
    assert rows_of(tmp_path / "s.tape")[0] == before[: done.events]
    assert kept_of_cut(deck.path) is None
    assert kept_of_cut(tmp_path / "none.tape") is None


def test_a_page_that_cannot_be_read_ends_it(deck: Deck, tmp_path: Path) -> None:
    for number in range(90):
        deck.exchange(b'{"n":%d}' % number)
    deck.writer.close()
    before, _ = rows_of(deck.path)
    with closing(sqlite3.connect(deck.path)) as rows:
        (root,) = rows.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").fetchone()
    data = bytearray(deck.path.read_bytes())
    start = (root - 1) * PAGE  # an inner page: the right-most child is named in its bytes 8 to 11
    assert data[start] == 5
    last = int.from_bytes(data[start + 8 : start + 12], "big")
    data[(last - 1) * PAGE] = 0xFF
    deck.path.write_bytes(bytes(data))
    done = salvage(deck.path, tmp_path / "s.tape")
    assert 0 < done.events < len(before)
    assert done.reason == f"event {done.events} cannot be read: database disk image is malformed"
    assert rows_of(tmp_path / "s.tape")[0] == before[: done.events]


def test_too_little_for_even_one_event(tape: Path) -> None:
    cut = shortened(tape, 200)
    found = kept_of_cut(cut)
    assert found == Salvaged(reason="too little is left to read any event")


def test_a_cut_file_that_is_no_tape_is_named_itself(tape: Path, tmp_path: Path) -> None:
    other = tape.with_name("other.tape")
    with closing(sqlite3.connect(other)) as rows, rows:
        rows.execute("CREATE TABLE t (x)")
        rows.executemany("INSERT INTO t VALUES (?)", [("x" * 3000,)] * 9)
    cut = shortened(other, -4096)
    for act in (kept_of_cut, lambda path: salvage(path, tmp_path / "s.tape")):
        with pytest.raises(TapeError) as error:
            act(cut)
        assert (error.value.message, error.value.code) == (f"`{cut}` is not a tape", "tape.unreadable")
    assert os.listdir(tmp_path) == ["recorded"]


def test_a_folder_that_is_not_there(tape: Path, tmp_path: Path) -> None:
    cut = shortened(tape)
    with pytest.raises(TapeError) as error, to_its_end(cut, tmp_path / "none" / "s.tape"):
        pass
    assert error.value.message.startswith(f"cannot write `{tmp_path}/none/.s.tape.")
    assert error.value.message.endswith("`: No such file or directory")
    assert error.value.code == "tape.create"


def head(page: int, count: int) -> bytes:
    """The first 100 bytes of an SQLite file that says how many pages of which size it has."""
    return b"SQLite format 3\0" + page.to_bytes(2, "big") + bytes(10) + count.to_bytes(4, "big") + bytes(68)


@pytest.mark.parametrize(
    ("data", "cut"),
    [
        (head(4096, 1), True),
        (head(4096, 1) + bytes(3995), True),
        (head(4096, 1) + bytes(3996), False),
        (head(4096, 1) + bytes(3997), False),
        (head(4096, 1)[:99], False),
        (head(4096, 0), False),
        (head(1, 1) + bytes(65435), True),
        (head(1, 1) + bytes(65436), False),
        (head(512, 3) + bytes(1436), False),
        (head(512, 3) + bytes(1435), True),
        (head(512, 0x01000000), True),
        (head(512, 0x0101) + bytes(512 * 0x0101 - 101), True),
        (head(512, 0x0101) + bytes(512 * 0x0101 - 100), False),
        (b"x" + head(4096, 1)[1:], False),
        (b"", False),
    ],
    ids=lambda value: str(len(value) if isinstance(value, bytes) else value),
)
def test_a_file_is_cut_where_it_says_that_it_is_longer(tmp_path: Path, data: bytes, cut: bool) -> None:
    path = tmp_path / "t.tape"
    path.write_bytes(data)
    assert cut_short(path) is cut


def test_what_is_not_a_file_of_its_own_is_not_cut(tape: Path, tmp_path: Path) -> None:
    cut = shortened(tape)
    assert cut_short(cut)
    link = tmp_path / "link.tape"
    link.symlink_to(cut)
    for path in (tape, link, tmp_path, tmp_path / "none.tape"):
        assert not cut_short(path)
    log = cut.with_name("cut.tape-wal")
    log.symlink_to("nowhere")  # who opens the tape says what is wrong with it
    assert not cut_short(cut)
    assert kept_of_cut(cut) is None
    with to_its_end(cut, tmp_path / "s.tape") as place:
        assert place == cut


@pytest.mark.timeout(10)  # who opens a pipe waits for the other side
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tape")
    assert not cut_short(tmp_path / "pipe.tape")


def test_what_is_only_a_note_ends_nothing(deck: Deck, tmp_path: Path) -> None:
    deck.writer.close()
    drop = {"type": "drop", "session": "s", "exchange": 1, "reason": "the disk was slow"}
    rewrite(deck.path, lambda rows: append(rows, drop))
    last = len(rows_of(deck.path)[0]) - 1
    assert (True, last) in {(one.is_note, one.seq) for one in verify(deck.path).findings}
    assert kept(deck.path, tmp_path / "s.tape") == (last + 1, None)


def test_what_only_a_verifier_sees_counts_in_a_tape_whose_end_is_gone(tmp_path: Path) -> None:
    path = recorded(tmp_path, KEY)
    sealed_with(path, {"event": {"root": "00" * 32}})
    more = bytes(3 * PAGE)  # what is cut is nobody's body
    rewrite(path, lambda rows: rows.execute("INSERT INTO blobs VALUES (x'00', ?, 0, ?)", (len(more), more)))
    cut = shortened(path)
    last = len(rows_of(path)[0]) - 1
    found = kept_of_cut(cut)
    assert found is not None
    assert (found.events, found.reason) == (last, f"the seal at event {last} signs another log than this")
    assert salvage(cut, tmp_path / "s.tape").reason == found.reason


def test_a_record_in_a_tape_whose_end_is_gone_is_named_with_that_tape(tape: Path, tmp_path: Path) -> None:
    rewrite(tape, put(2, b"[]"))
    more = bytes(3 * PAGE)
    rewrite(tape, lambda rows: rows.execute("INSERT INTO blobs VALUES (x'00', ?, 0, ?)", (len(more), more)))
    found = kept_of_cut(cut := shortened(tape))
    assert found is not None
    said = f"event 2 of tape `{cut}` is none that a tape has: TypeError('found list')"
    assert (found.events, found.reason) == (2, said)


def test_a_digest_is_that_of_the_bytes(tape: Path) -> None:
    _, blobs = rows_of(tape)
    assert blobs
    assert all(sha256(data).digest() == digest for digest, _, packed, data in blobs if not packed)
