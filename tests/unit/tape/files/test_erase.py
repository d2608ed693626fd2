"""`faultwire.tape.files.erase`: bodies go, the chain holds, and all three verifiers say the same of it."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from tests.unit.tape.conftest import JSON, Deck

from faultwire.cli import main
from faultwire.errors import TapeError, TapeIncomplete, TapeTampered
from faultwire.tape.evidence.checkpoint import note_digest
from faultwire.tape.evidence.sealer import Sealer, seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import evidence_class, verify
from faultwire.tape.export import jsonl, verify_export
from faultwire.tape.files import erase as erasing
from faultwire.tape.files.copy import clone
from faultwire.tape.format import events as tape_events, hash_chain
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("shop", b"s" * 32)
OTHER = SignerKey("shop", b"o" * 32)
SECRET = b'{"name":"Ada Lovelace of Marylebone"}'


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "tapes" / "t.tape"
    writer = TapeWriter.create(path, origin="shop/t", settings={}, key=b"k" * 32, signer=KEY)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    deck = Deck(path, writer)
    deck.begin(SECRET, JSON).end("complete", None, ())
    deck.exchange()
    writer.close_session("s")
    writer.close()
    return path


def first(event: tape_events.Event) -> bool:
    return event.get("exchange") == 1


def erased(path: Path, wanted: Callable[[tape_events.Event], bool] = first) -> list[str]:
    names = list(erasing.bodies(path, wanted))
    erasing.erase(path, names, "asked by the person", "ops@shop", KEY)
    return names


def judged(path: Path, second: ModuleType, key: SignerKey = KEY) -> list[set[str]]:
    """The codes that the tape's verifier, the one for exports and the one on its own give."""
    trusted = (key.verifier,)
    ours = {one.code for one in verify(path, trusted, demanded=True).findings} - {"file_unsealed"}
    out = io.BytesIO()
    jsonl.write(path, out)
    export = path.with_suffix(".jsonl")
    export.write_bytes(out.getvalue())
    core = {one.code for one in verify_export.verify(export, trusted, demanded=True).findings}
    lines = out.getvalue().splitlines(keepends=True)[1:]
    theirs = second.verify(lines, [second.parse_key(str(key.verifier))])
    return [set(ours), set(core), {one["code"] for one in theirs.findings}]


def change(path: Path, *statements: str) -> None:
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0


def test_an_erased_tape_verifies_in_part_and_says_why(tape: Path, second: ModuleType) -> None:
    before = verify(tape, (KEY.verifier,))
    assert evidence_class(before)[0] == "AUTHORITATIVE"  # control
    names = erased(tape)
    assert len(names) == 1
    report = verify(tape, (KEY.verifier,), demanded=True)
    assert (report.ok, [one.code for one in report.findings]) == (True, ["body_erased"])
    grade, (reason,) = evidence_class(report)
    assert grade == "PARTIAL"
    assert "1 body was erased on" in reason
    assert "by ops@shop: asked by the person" in reason
    assert (report.events, report.blobs) == (before.events + 2, before.blobs - 1)
    assert judged(tape, second) == [{"body_erased"}] * 3


def test_no_byte_of_the_body_is_left_in_the_file(tape: Path) -> None:
    assert b"Lovelace" in tape.read_bytes()  # control
    old = os.open(tape, os.O_RDONLY)
    erased(tape)
    assert b"Lovelace" not in tape.read_bytes()
    assert b"Lovelace" not in os.pread(old, 1 << 20, 0), "nor in the file that it was"
    os.close(old)
    assert sorted(one.name for one in tape.parent.iterdir()) == ["t.tape", "t.tape.seal"]


def test_a_body_that_is_missing_without_an_erasure_is_tampered_with(tape: Path, second: ModuleType) -> None:
    change(tape, f"DELETE FROM blobs WHERE size = {len(SECRET)}")
    assert judged(tape, second) == [
        {"blob_missing", "file_mismatch"},
        {"blob_missing"},
        {"blob_missing"},
    ]


def test_a_second_body_that_is_missing_is_not_excused(tape: Path, second: ModuleType) -> None:
    erased(tape)
    change(tape, "DELETE FROM blobs WHERE size = 8")
    seal_path(tape).unlink()
    assert judged(tape, second) == [{"body_erased", "blob_missing"}] * 3


def test_an_erasure_that_names_what_is_still_there_is_invalid(tape: Path, second: ModuleType) -> None:
    (name,) = erased(tape)
    tape.chmod(0o600)
    with closing(sqlite3.connect(tape)) as connection, connection:
        row = (bytes.fromhex(name), len(SECRET), 0, SECRET)
        connection.execute("INSERT INTO blobs VALUES (?, ?, ?, ?)", row)
    seal_path(tape).unlink()
    assert judged(tape, second) == [{"erasure_invalid"}] * 3


def append(path: Path, event: tape_events.Event, sealer: SignerKey | None) -> None:
    """What somebody may do who has the file."""
    report = verify(path)
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as connection, connection:
        (digest,) = connection.execute("SELECT hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        event |= {"seq": report.events, "prev": digest.hex()}
        record = hash_chain.record_bytes(event)
        row = (report.events, "", record, hash_chain.leaf(record))
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
    seal_path(path).unlink(missing_ok=True)
    if sealer is not None:
        root = bytes.fromhex(verify(path).root)
        (note,) = _last_note(path)
        append(path, Sealer(sealer, "shop/t", note).event(report.events + 1, root), None)


def _last_note(path: Path) -> list[str]:
    with closing(connect_reader(path)) as connection:
        events = [json.loads(record) for _, _, record, _ in event_rows(connection)]
    return [note_digest(one["note"]) for one in events if one["type"] == "seal"][-1:]


@pytest.mark.parametrize("sealer", [None, OTHER], ids=["nobody signs", "a stranger signs"])
def test_who_cannot_seal_cannot_excuse_a_missing_body(
    tape: Path, second: ModuleType, sealer: SignerKey | None
) -> None:
    (name,) = erasing.bodies(tape, first)
    change(tape, f"DELETE FROM blobs WHERE size = {len(SECRET)}")
    append(tape, tape_events.erasure([name], "asked", "me", 1), sealer)
    assert not verify(tape, (KEY.verifier,)).ok
    expected = {"blob_missing", "seal_required"} if sealer is None else {"body_erased", "seal_untrusted"}
    assert judged(tape, second) == [expected] * 3


def test_an_erasure_of_what_no_event_names_is_invalid(tape: Path, second: ModuleType) -> None:
    append(tape, tape_events.erasure(["f" * 64], "asked", "me", 1), KEY)
    assert judged(tape, second) == [{"erasure_invalid"}] * 3


@pytest.mark.parametrize(
    "bad",
    [{"blobs": []}, {"blobs": ["F" * 64]}, {"at_ms": -1}, {"at_ms": 1 << 52}, {"by": None}, {"reason": 1}],
)
def test_an_erasure_lacks_nothing(tape: Path, second: ModuleType, bad: dict[str, object]) -> None:
    append(tape, tape_events.erasure(["f" * 64], "asked", "me", 1) | bad, KEY)
    assert judged(tape, second) == [{"record_malformed"}] * 3


def test_a_reader_of_an_erased_body_gets_a_named_error(tape: Path, tmp_path: Path) -> None:
    erased(tape)
    with TapeReader.open(tape) as reader:
        requests = [one.request for one in reader.exchanges("s")]
        with pytest.raises(TapeIncomplete, match="was erased from tape"):
            _ = requests[0].body
        assert requests[1].body == b"{}"
    with pytest.raises(TapeIncomplete, match="was erased"):
        clone(tape, tmp_path / "c.tape", "shop/c", KEY)
    change(tape, "DELETE FROM blobs WHERE size = 2")
    with TapeReader.open(tape) as reader, pytest.raises(TapeTampered, match="lacks blob"):
        _ = [one.request for one in reader.exchanges("s")][1].body


def test_a_tape_that_does_not_verify_or_has_no_seal_is_refused(tape: Path) -> None:
    whole = tape.read_bytes()
    change(tape, "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
    seal_path(tape).unlink()
    with pytest.raises(TapeIncomplete, match="not sealed to its end"):
        erased(tape)
    change(tape, "DELETE FROM events WHERE seq = 3")
    with pytest.raises(TapeTampered, match="does not verify"):
        erased(tape)
    tape.write_bytes(whole)
    os.link(tape, tape.with_name("second.tape"))
    with pytest.raises(TapeError, match="another name"):
        erased(tape)
    tape.with_name("second.tape").unlink()
    erased(tape)  # control


def test_the_command_prints_first_and_erases_on_demand(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tape.parent)
    words = ["tape", "erase", "t.tape", "--exchange", "1", "--reason", "asked", "--by", "ops"]
    whole = tape.read_bytes()
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, tape.read_bytes()) == (0, whole), done.output
    assert "nothing was erased yet" in done.output
    assert "s exchange 1" in done.output
    done = CliRunner().invoke(main, [*words, "--yes"])
    assert (done.exit_code, tape.read_bytes() == whole) == (0, False), done.output
    assert "nothing was erased yet" not in done.output
    assert "erased 1 body" in done.output
    again = CliRunner().invoke(main, [*words, "--yes"])
    assert again.exit_code != 0
    assert "has no such body" in again.output


def test_a_folder_by_age(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tape.parent)
    words = ["tape", "erase", ".", "--reason", "retention", "--by", "ops", "--yes", "--older-than"]
    young = CliRunner().invoke(main, [*words, "1h"])
    assert (young.exit_code, "erased 0 bodies" in young.output) == (0, True)
    monkeypatch.setattr("faultwire.clock.wall_ms", lambda: 4_000_000_000_000)
    (tape.parent / "torn.tape").write_bytes(b"no tape")
    done = CliRunner().invoke(main, [*words, "1h"])
    assert done.exit_code == 1, done.output  # the one that cannot be erased
    assert "torn.tape: not erased" in done.output
    assert verify(tape).blobs == 0
    bare = CliRunner().invoke(main, words[:-1])
    assert "expected `--older-than AGE`" in bare.output
