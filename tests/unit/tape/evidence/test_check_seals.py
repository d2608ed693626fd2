"""What is wrong with a seal is reported: faultwire.tape.evidence.check_seals.

Every tape here is written by the writer. What a test changes is then chained anew.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tape.evidence.resealed import (
    KEY,
    NAMESAKE,
    STRANGER,
    TRUSTED,
    Change,
    append,
    copied,
    findings,
    label,
    leaves,
    recorded,
    rewrite,
    seal_file,
    sealed_with,
    seals,
    unseal,
)

from faultwire.tape.evidence import check_seals, sealer
from faultwire.tape.evidence.checkpoint import Checkpoint, note_digest
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.hash_chain import root


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("template"), KEY)


@pytest.fixture
def tape(template: Path, tmp_path: Path) -> Path:
    """One session with two exchanges, a seal after each and on close."""
    return copied(template, tmp_path)


# ---------------------------------------------------------------- the seal in the tape


def test_a_seal_put_anew_as_it_was_is_sound(tape: Path) -> None:
    sealed_with(tape, {})
    seal_file(tape, KEY)
    assert findings(tape) == []


ANOTHER = "signs another log than this"
PARTS = "has other parts than a seal"
UNSIGNED = "is not signed by the key that it names"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"note": {"previous": None}}, ANOTHER),
        ({"note": {"previous": "0" * 64}}, ANOTHER),
        ({"note": {"origin": "p/u"}}, ANOTHER),
        ({"note": {"size": 5}}, ANOTHER),
        ({"note": {"root": bytes(32)}}, ANOTHER),
        ({"note": {"file": ("0" * 64, 1)}}, ANOTHER),
        ({"event": {"size": 5}}, ANOTHER),
        ({"event": {"root": "00"}}, ANOTHER),
        ({"event": {"by": "somebody"}}, PARTS),
        ({"cosigned": STRANGER.sign("x\n").split("\n\n")[1]}, PARTS),
        ({"event": {"note": "none\n"}}, "is malformed: a note has an empty line between its text and its"),
        (
            {"event": {"note": KEY.sign("a\n")}},
            "is malformed: a checkpoint begins with origin, size and root",
        ),
        ({"event": {"key": str(STRANGER.verifier)}}, UNSIGNED),
        ({"event": {"key": f"{KEY.verifier} "}}, UNSIGNED),
        ({"event": {"key": "nonsense"}}, UNSIGNED),  # by the trusted key, which is looked for first
    ],
    ids=label,
)
def test_a_seal_that_is_not_what_it_says(tape: Path, change: Change, message: str) -> None:
    sealed_with(tape, change)
    ((code, seq, said),) = findings(tape)
    assert (code, seq) == ("seal_invalid", 13)
    assert said.startswith(f"the seal at event 13 {message}")
    assert verify(tape, TRUSTED).key is None


def test_a_seal_that_names_no_key(tape: Path) -> None:
    sealed_with(tape, {"event": {"key": "nonsense"}}, STRANGER)
    said = "the seal at event 13 names no key: a key is `NAME+ID+BASE64`"
    assert findings(tape) == [("seal_invalid", 13, said)]


def test_a_seal_by_a_stranger_that_names_a_trusted_key(tape: Path) -> None:
    sealed_with(tape, {"event": {"key": str(KEY.verifier)}}, NAMESAKE)
    said = "the seal at event 13 is not signed by the key that it names"
    assert findings(tape) == [("seal_invalid", 13, said)]
    stranger = f"the seal at event {{}} is signed by `{KEY.verifier}`, expected a trusted key, "
    stranger += "and none is trusted here"
    assert findings(tape, ()) == [
        *(("seal_untrusted", seq, stranger.format(seq)) for seq in (6, 11)),
        ("seal_invalid", 13, said),
    ]


def test_a_seal_after_one_that_is_not_what_it_says_must_name_it_all_the_same(tape: Path) -> None:
    sealed_with(tape, {"event": {"size": 5}})
    for previous, expected in ((note_digest(seals(tape)[-1]["note"]), [13]), ("0" * 64, [13, 14])):

        def change(rows: sqlite3.Connection, previous: str = previous) -> None:
            rows.execute("DELETE FROM events WHERE seq > 13")
            hashes = leaves(rows)
            note = KEY.sign(Checkpoint("p/t", len(hashes), root(hashes), previous).text())
            append(
                rows,
                {
                    **{"type": "seal", "size": len(hashes), "root": root(hashes).hex(), "note": note},
                    "key": str(KEY.verifier),
                },
            )

        rewrite(tape, change)
        seal_file(tape, KEY)
        assert [(code, seq) for code, seq, _ in findings(tape)] == [("seal_invalid", seq) for seq in expected]


@pytest.mark.parametrize(("demanded", "code"), [(True, "seal_required"), (False, "tail_unsealed")])
def test_events_behind_the_last_seal(tape: Path, demanded: bool, code: str) -> None:
    rewrite(tape, lambda rows: append(rows, {"type": "note", "text": "more"}))
    seal_file(tape, KEY)
    said = "the events after event 13 are under no seal"
    assert findings(tape, demanded=demanded) == [(code, None, said)]


@pytest.mark.parametrize(("demanded", "code"), [(True, "seal_required"), (False, "seal_missing")])
def test_a_tape_without_a_seal(tape: Path, demanded: bool, code: str) -> None:
    unseal(tape)
    assert findings(tape, demanded=demanded) == [(code, None, "the tape has no seal")]


def test_a_report_has_the_last_seals_key_and_whether_it_is_trusted(tape: Path) -> None:
    for trusted, believed in ((TRUSTED, True), ((STRANGER.verifier,), False)):
        report = verify(tape, trusted)
        assert (report.key, report.trusted) == (str(KEY.verifier), believed)
    unseal(tape)
    report = verify(tape, TRUSTED)
    assert (report.key, report.trusted) == (None, False)


def test_of_many_trusted_keys_three_are_named(tape: Path) -> None:
    assert check_seals.MOST_NAMED == 3
    others = [SignerKey(f"other{n}", bytes([n]) * 32).verifier for n in range(4)]
    named = " or ".join(f"`{key}`" for key in others[:3])
    for count, expected in ((3, named), (4, f"{named} or another of 4 trusted keys")):
        said = f"the seal at event 13 is signed by `{KEY.verifier}`, expected {expected}"
        assert findings(tape, tuple(others[:count]))[-1] == ("seal_untrusted", 13, said)


# ---------------------------------------------------------------- the seal beside the tape


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"file": None}, "`t.tape.seal` seals no file"),
        ({"origin": "p/u"}, "`t.tape.seal` belongs to another tape"),
        ({"size": 5}, "`t.tape.seal` belongs to another tape"),
        ({"root": bytes(32)}, "`t.tape.seal` belongs to another tape"),
    ],
    ids=label,
)
def test_a_seal_beside_the_tape_that_is_not_for_it(tape: Path, changed: dict[str, Any], message: str) -> None:
    seal_file(tape, KEY, **changed)
    assert findings(tape) == [("seal_invalid", None, message)]


def test_a_cosigned_seal_beside_the_tape_is_sound_and_two_strangers_are_both_named(tape: Path) -> None:
    seal_file(tape, STRANGER, KEY)
    assert findings(tape) == []
    seal_file(tape, STRANGER, NAMESAKE)
    both = ", ".join(f"`{key.name}+{key.verifier.id.hex()}`" for key in (STRANGER, NAMESAKE))
    said = f"`t.tape.seal` is signed by {both}, expected a signature of `{KEY.verifier}` like the tape"
    assert findings(tape) == [("seal_invalid", None, said)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"none", "is malformed: a note has an empty line between its text and its signatures"),
        (b"\xff", "is malformed: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b"x" * (64 * 1024 + 1), "cannot be read: it is longer than 65536 bytes"),
    ],
    ids=label,
)
def test_a_seal_beside_the_tape_that_is_none(tape: Path, content: bytes, message: str) -> None:
    place = sealer.seal_path(tape)
    place.chmod(0o600)
    place.write_bytes(content)
    assert findings(tape) == [("seal_invalid", None, f"`t.tape.seal` {message}")]


def test_a_seal_beside_the_tape_that_leads_elsewhere_is_not_followed(tape: Path, tmp_path: Path) -> None:
    place = sealer.seal_path(tape)
    place.rename(tmp_path / "elsewhere")
    assert findings(tape) == [("file_unsealed", None, "there is no `t.tape.seal` beside the tape")]
    for target in ("elsewhere", "nowhere"):
        os.symlink(target, place)
        said = "`t.tape.seal` cannot be read: it is a symbolic link"
        assert findings(tape) == [("seal_invalid", None, said)]
        place.unlink()


def test_a_seal_beside_a_tape_without_one(tape: Path) -> None:
    beside = sealer.seal_path(tape).read_bytes()
    unseal(tape)
    sealer.seal_path(tape).write_bytes(beside)
    said = "`t.tape.seal` seals 13 events, expected a seal on the tape as well"
    assert findings(tape, demanded=False) == [
        ("seal_missing", None, "the tape has no seal"),
        ("seal_invalid", None, said),
    ]


def test_a_file_that_is_not_the_one_that_was_sealed(tape: Path) -> None:
    assert findings(tape) == [], "the control"
    rewrite(tape, lambda rows: rows.execute("CREATE INDEX more ON events (session)"))
    rewrite(tape, lambda rows: rows.execute("DROP INDEX more"))
    said = "the file is not the one that `t.tape.seal` seals"
    assert findings(tape) == [("file_mismatch", None, said)]
