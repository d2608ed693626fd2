"""Seals on tapes: what they sign, what they see, and what they cannot be talked into.

Covers faultwire.tape.evidence.sealer and faultwire.tape.evidence.check_seals.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from tests.unit.tape.conftest import KEY as REDACTION, Deck

from faultwire.errors import TapeError, TapeIncomplete, TapeTampered
from faultwire.tape.evidence import sealer
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.inclusion_proof import check, prove
from faultwire.tape.evidence.salvage import salvage
from faultwire.tape.evidence.signed_note import SignerKey, parse as parse_note
from faultwire.tape.evidence.verify import VerifyReport, verify
from faultwire.tape.export import jsonl, verify_export
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("p", b"s" * 32)
TRUSTED = (KEY.verifier,)
Sealed = Callable[..., Path]


def codes(report: VerifyReport) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.fixture
def sealed(tmp_path: Path) -> Sealed:
    """A closed tape, sealed on close and after every `every` exchanges."""

    def make(count: int = 3, name: str = "t", signer: SignerKey | None = KEY, end: bool = True) -> Path:
        path = tmp_path / "tapes" / f"{name}.tape"
        writer = TapeWriter.create(path, origin=f"p/{name}", settings={}, key=REDACTION, signer=signer)
        writer.open_session("s", profile="calm", profile_digest="d", seed=7)
        deck = Deck(path, writer)
        for number in range(count):
            deck.exchange(b'{"n":%d}' % number)
        if end:
            writer.flush()
            writer.close_session("s")
        writer.close()
        assert writer.failed is None
        return path

    return make


def rewrite(path: Path, change: Callable[[sqlite3.Connection], None]) -> None:
    path.chmod(0o600)
    connection = sqlite3.connect(path, isolation_level=None)
    change(connection)
    connection.close()


def rechain(c: sqlite3.Connection) -> None:
    prev = GENESIS
    rows = c.execute("SELECT seq, record FROM events ORDER BY seq").fetchall()
    for at, (seq, record) in enumerate(rows):
        new = record_bytes({**orjson.loads(record), "seq": at, "prev": prev})
        c.execute("UPDATE events SET seq=?, record=?, hash=? WHERE seq=?", (at, new, leaf(new), seq))
        prev = leaf(new).hex()


def test_a_tape_sealed_by_a_trusted_key_is_authoritative(sealed: Sealed) -> None:
    path = sealed()
    report = verify(path, TRUSTED, demanded=True)
    assert (report.ok, codes(report)) == (True, [])
    assert (report.key, report.trusted) == (str(KEY.verifier), True)
    assert evidence_class(report) == ("AUTHORITATIVE", [])
    assert path.stat().st_mode & 0o777 == 0o400
    assert sealer.seal_path(path).stat().st_mode & 0o777 == 0o400


def test_a_seal_is_a_checkpoint_over_all_events_before_it(sealed: Sealed) -> None:
    path = sealed()
    with closing(sqlite3.connect(path)) as c, c:
        rows = c.execute("SELECT record FROM events ORDER BY seq").fetchall()
    event = orjson.loads(rows[-1][0])
    note = parse_note(event["note"])
    point = Checkpoint.parse(note.text)
    assert (point.origin, point.size, point.root.hex()) == ("p/t", len(rows) - 1, event["root"])
    whole = Checkpoint.parse(parse_note(sealer.seal_path(path).read_text()).text)
    assert whole.file == sealer.file_digest(path)


def test_seals_come_every_so_many_exchanges_and_name_the_one_before(sealed: Sealed) -> None:
    path = sealed(count=2 * sealer.EVERY + 1)
    with closing(sqlite3.connect(path)) as c, c:
        events = [orjson.loads(row[0]) for row in c.execute("SELECT record FROM events ORDER BY seq")]
    points = [Checkpoint.parse(parse_note(e["note"]).text) for e in events if e["type"] == "seal"]
    assert len(points) >= 2  # exchanges come in batches, and a seal follows the batch
    assert points[0].previous is None
    assert all(point.previous for point in points[1:])
    assert verify(path, TRUSTED).findings == []


def test_a_tape_cut_behind_a_seal_is_never_taken_for_a_whole_one(tmp_path: Path) -> None:
    """Two sessions, a seal due after each exchange: none follows a session that has ended, but the last."""
    path, export = tmp_path / "t.tape", tmp_path / "t.jsonl"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32, signer=KEY, seal_every=1)
    for name in ("one", "two"):
        writer.open_session(name, profile="calm", profile_digest="d", seed=7)
        deck = Deck(path, writer)
        for _ in range(2):
            recording = deck.begin(session=name)
            recording.end("complete", None, ())
            writer.flush()
        writer.close_session(name)
        writer.flush()
    writer.close()
    with export.open("wb") as out:
        jsonl.write(path, out)
    lines = export.read_bytes().splitlines(keepends=True)
    seals = [at for at, line in enumerate(lines) if b'"type":"seal"' in line]
    assert len(seals) == 5
    found = []
    for at in seals:
        export.write_bytes(b"".join(lines[: at + 1]))
        report = verify_export.verify(export, TRUSTED, demanded=True)
        assert report.ok
        found.append(evidence_class(report)[0])
    assert found == [*["PARTIAL"] * 4, "AUTHORITATIVE"]


def test_an_untrusted_key_is_not_believed(sealed: Sealed) -> None:
    path = sealed()
    report = verify(path)
    assert (report.ok, codes(report)) == (False, ["seal_untrusted"])
    assert evidence_class(report)[0] is None
    assert codes(verify(path, (SignerKey("p", b"x" * 32).verifier,))) == ["seal_untrusted"]


def test_a_rewritten_and_rechained_tape_is_seen(sealed: Sealed) -> None:
    path = sealed()

    def change(c: sqlite3.Connection) -> None:
        (record,) = c.execute("SELECT record FROM events WHERE seq=3").fetchone()
        c.execute(
            "UPDATE events SET record=? WHERE seq=3", (record.replace(b'"status":200', b'"status":201'),)
        )
        rechain(c)

    rewrite(path, change)
    assert codes(verify(path, TRUSTED)) == ["seal_invalid"]


def test_a_seal_made_anew_by_a_stranger_is_seen(sealed: Sealed) -> None:
    path = sealed(signer=SignerKey("p", b"f" * 32))
    assert codes(verify(path, TRUSTED)) == ["seal_untrusted"]


def test_a_cut_tape_is_seen_where_a_seal_is_demanded(sealed: Sealed) -> None:
    path = sealed()
    with closing(sqlite3.connect(path)) as connection:
        (last,) = connection.execute("SELECT max(seq) FROM events").fetchone()
    for keep in range(last, 0, -1):
        cut = path.with_name(f"cut{keep}.tape")
        cut.write_bytes(path.read_bytes())
        rewrite(cut, lambda c, keep=keep: c.execute("DELETE FROM events WHERE seq >= ?", (keep,)))
        report = verify(cut, TRUSTED, demanded=True)
        assert not report.ok, keep
        assert "seal_required" in codes(report)


def test_a_tape_that_lost_all_its_seals_is_seen_by_the_one_beside_it(sealed: Sealed) -> None:
    path = sealed()
    rewrite(path, lambda rows: rows.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"))
    report = verify(path, TRUSTED)
    assert ("seal_missing" in codes(report), "seal_invalid" in codes(report)) == (True, True)
    assert not report.ok
    sealer.seal_path(path).unlink()
    report = verify(path, TRUSTED)
    assert report.ok, "the control: without that nobody can know"
    assert evidence_class(report)[0] == "PARTIAL"


def test_a_changed_file_is_seen_although_its_rows_are_the_same(sealed: Sealed) -> None:
    path = sealed()
    rewrite(path, lambda c: c.execute("VACUUM"))
    assert codes(verify(path, TRUSTED)) == ["file_mismatch"]


def test_another_tapes_seal_is_seen(sealed: Sealed) -> None:
    one, two = sealed(), sealed(count=1, name="u")
    target = sealer.seal_path(one)
    target.chmod(0o600)
    target.write_bytes(sealer.seal_path(two).read_bytes())
    assert codes(verify(one, TRUSTED)) == ["seal_invalid"]
    target.write_text("nonsense")
    assert codes(verify(one, TRUSTED)) == ["seal_invalid"]
    target.unlink()
    assert codes(verify(one, TRUSTED)) == ["file_unsealed"]


def test_a_session_left_open_makes_it_partial(sealed: Sealed) -> None:
    report = verify(sealed(end=False), TRUSTED)
    assert report.ok
    assert evidence_class(report)[0] == "PARTIAL"


# ---------------------------------------------------------------- sealing later


def test_a_tape_without_a_seal_gets_one(sealed: Sealed) -> None:
    path = sealed(signer=None)
    assert codes(verify(path, TRUSTED)) == ["seal_missing"]
    point = sealer.seal_tape(path, KEY)
    report = verify(path, TRUSTED, demanded=True)
    assert (report.ok, codes(report)) == (True, [])
    assert point.size == report.events - 1
    with pytest.raises(TapeError, match="is sealed already"):
        sealer.seal_tape(path, KEY)


def test_what_was_tampered_with_is_not_signed(sealed: Sealed) -> None:
    path = sealed(signer=None)
    rewrite(path, lambda c: c.execute("DELETE FROM events WHERE seq = 3"))
    with pytest.raises(TapeTampered, match="is not what was recorded"):
        sealer.seal_tape(path, KEY)
    assert "seal_missing" in codes(verify(path, TRUSTED))


# ---------------------------------------------------------------- proofs


def test_every_event_is_proven_without_the_tape(sealed: Sealed) -> None:
    path = sealed()
    with TapeReader.open(path) as reader:
        count = len(list(reader._events("SELECT seq, session, record, hash FROM events")))
    for seq in range(count - 1):
        found = check(prove(path, seq), TRUSTED)
        assert (found.index, found.event["seq"], found.checkpoint.origin) == (seq, seq, "p/t")
    with pytest.raises(TapeIncomplete, match="no seal over event"):
        prove(path, count - 1)
    with pytest.raises(TapeIncomplete, match="found no event 99"):
        prove(path, 99)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("index 3", "index 2"),
        lambda text: text.replace("index 3", "index 03"),
        lambda text: text.replace("extra ", "other "),
        lambda text: text.replace("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2"),
        lambda text: text.replace("\n\n", "\nAAAA\n\n", 1),
        lambda text: "\n".join(line for at, line in enumerate(text.split("\n")) if at != 3),
        lambda text: (
            text.replace("\np/t\n", "\np/u\n") if "\np/t\n" in text else text.replace("p/t\n", "p/u\n")
        ),
        lambda text: text[:-1],
        lambda text: "",
    ],
)
def test_a_changed_proof_proves_nothing(sealed: Sealed, change) -> None:
    text = prove(sealed(), 3)
    assert check(text, TRUSTED)
    with pytest.raises(TapeTampered, match="the proof does not hold"):
        check(change(text), TRUSTED)


def test_a_proof_under_a_key_that_nobody_trusts(sealed: Sealed) -> None:
    text = prove(sealed(), 3)
    with pytest.raises(TapeTampered, match="no trusted key"):
        check(text, ())


def test_no_changed_byte_of_a_proof_or_a_seal_is_accepted(sealed: Sealed) -> None:
    text = prove(sealed(), 2).encode()
    accepted = []
    for at in range(len(text)):
        for bit in (1, 32):
            changed = bytearray(text)
            changed[at] ^= bit
            try:
                check(changed.decode("utf-8", "replace"), TRUSTED)
            except TapeTampered:
                continue
            accepted.append((at, bit))
    assert accepted == []


# ---------------------------------------------------------------- salvage


def test_the_sound_prefix_is_saved(sealed: Sealed, tmp_path: Path) -> None:
    path = sealed()
    whole = salvage(path, tmp_path / "copy.tape")
    assert (whole.reason, whole.events) == (None, verify(path, TRUSTED).events)
    assert codes(verify(tmp_path / "copy.tape", TRUSTED)) == ["file_unsealed"]

    rewrite(path, lambda c: c.execute("UPDATE events SET record = CAST(record || ' ' AS BLOB) WHERE seq = 7"))
    cut = salvage(path, tmp_path / "cut.tape")
    assert cut.events == 7
    assert cut.reason == "event 7 is not what was recorded"
    report = verify(tmp_path / "cut.tape", TRUSTED)
    assert report.ok
    assert set(codes(report)) <= {"session_open", "exchange_open", "seal_missing"}


def test_a_lost_body_ends_the_prefix(sealed: Sealed, tmp_path: Path) -> None:
    path = sealed()
    rewrite(path, lambda c: c.execute("DELETE FROM blobs WHERE rowid = 2"))
    done = salvage(path, tmp_path / "cut.tape")
    assert done.reason == f"the body of event {done.events} is missing or changed"
    assert verify(tmp_path / "cut.tape").ok


def test_nothing_sound_at_all(sealed: Sealed, tmp_path: Path) -> None:
    path = sealed()
    rewrite(path, lambda c: c.execute("DELETE FROM events WHERE seq = 0"))
    with pytest.raises(TapeTampered, match="nothing can be saved: event 0 is missing"):
        salvage(path, tmp_path / "cut.tape")
    assert not (tmp_path / "cut.tape").exists()


def test_of_a_tape_whose_end_is_gone_the_beginning_is_saved(sealed: Sealed, tmp_path: Path) -> None:
    whole = sealed(60).read_bytes()
    cut, kept = tmp_path / "cut.tape", list[int]()
    for size in range(8192, len(whole), 8192 * 2 + 1000):
        cut.write_bytes(whole[:size])
        with contextlib.suppress(TapeError):
            assert not verify(cut).ok
        target = tmp_path / f"{size}.tape"
        with contextlib.suppress(TapeTampered):  # not even its first event is there
            kept.append(salvage(cut, target).events)
        if target.exists():
            assert verify(target).ok
    assert kept == sorted(kept)
    assert len(kept) > 3
    assert kept[-1] > 200
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_length_that_a_tape_only_claims(deck: Deck, tmp_path: Path) -> None:
    deck.exchange()
    deck.writer.close()
    whole = deck.path.read_bytes()
    cut = tmp_path / "cut.tape"
    cut.write_bytes(whole[:28] + b"\xff\xff\xff\xff" + whole[32:])
    with contextlib.suppress(TapeError):
        salvage(cut, tmp_path / "saved.tape")
        assert verify(tmp_path / "saved.tape").ok
    assert {"cut.tape", "tapes"} <= set(os.listdir(tmp_path)) <= {"cut.tape", "tapes", "saved.tape"}
    cut.write_bytes(whole[:16] + b"\0\1\xff\xff\xff\xff" + bytes(6) + b"\xff\xff\xff\xff" + bytes(80))
    with pytest.raises(TapeError):
        salvage(cut, tmp_path / "none.tape")
