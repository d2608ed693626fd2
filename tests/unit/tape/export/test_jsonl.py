"""Two verifiers that share no line must agree: ours on the tape, `docs/verify_tape.py` on its export."""

from __future__ import annotations

import importlib.util
import io
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import orjson
import pytest
from tests.unit.tape.conftest import Deck

from faultwire import _core
from faultwire.errors import TapeTampered
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import jsonl
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes
from faultwire.tape.record.writer import TapeWriter

ROOT = Path(__file__).parents[4]
KEY = SignerKey("p", b"s" * 32)
STRANGER = SignerKey("p", b"f" * 32)


@pytest.fixture(scope="module")
def second() -> ModuleType:
    """The other verifier, as a reader would run it: a file on its own."""
    spec = importlib.util.spec_from_file_location("verify_tape", ROOT / "docs" / "verify_tape.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    def build(signer: SignerKey | None = KEY, end: bool = True, drop: bool = False) -> Path:
        path = tmp_path / "tapes" / "t.tape"
        writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32, signer=signer)
        writer.open_session("s", profile="calm", profile_digest="d", seed=7)
        deck = Deck(path, writer)
        deck.exchange()
        last = deck.exchange(b'{"other":2}' * 400)
        if drop:
            writer.drop(last.exchange, "the queue was full")
        if end:
            writer.close_session("s")
        writer.close()
        path.chmod(0o600)
        return path

    return build


def lines(path: Path) -> list[bytes]:
    out = io.BytesIO()
    jsonl.write(path, out)
    return out.getvalue().splitlines(keepends=True)


def tamper(path: Path, sql: str, *, again: bool = False) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(sql)
    if again:
        prev = GENESIS
        rows = connection.execute("SELECT seq, record FROM events ORDER BY seq").fetchall()
        for at, (seq, record) in enumerate(rows):
            new = record_bytes({**orjson.loads(record), "seq": at, "prev": prev})
            update = "UPDATE events SET seq=?, record=?, hash=? WHERE seq=?"
            connection.execute(update, (at, new, leaf(new), seq))
            prev = leaf(new).hex()
    connection.close()


ONLY_OURS = {"file_unsealed", "file_mismatch", "hash_mismatch", "row_mismatch", "blob_unreferenced"}
"""What only a database has."""


def both(second: ModuleType, path: Path, key: SignerKey = KEY) -> tuple[set[str], set[str]]:
    """What each verifier finds, of what both of them get."""
    seal_path(path).unlink(missing_ok=True)
    ours = {f.code for f in verify(path, (key.verifier,), demanded=True).findings}
    theirs = second.verify(lines(path)[1:], [second.parse_key(str(key.verifier))]).findings
    return ours - ONLY_OURS, {f["code"] for f in theirs}


def test_an_export_is_every_record_byte_for_byte_and_every_body_once(make: Callable[..., Path]) -> None:
    path = make()
    found = lines(path)
    assert found[0] == jsonl.HEAD
    with closing(sqlite3.connect(path)) as c, c:
        records = [row[0] for row in c.execute("SELECT record FROM events ORDER BY seq")]
        blobs = {row[0].hex() for row in c.execute("SELECT digest FROM blobs")}
    parsed = [(line, orjson.loads(line)) for line in found[1:]]
    assert [line[:-1] for line, value in parsed if "type" in value] == records
    named = [value["blob"] for _, value in parsed if "blob" in value]
    assert (set(named), len(named)) == (blobs, len(blobs))


def test_both_find_nothing_on_a_sound_tape(make: Callable[..., Path], second: ModuleType) -> None:
    path = make()
    assert both(second, path) == (set(), set())
    check = second.verify(lines(path)[1:])
    assert check.tree.root().hex() == verify(path).root


@pytest.mark.parametrize(
    ("sql", "again", "code"),
    [
        (
            "UPDATE events SET record=CAST(replace(record,'200','201') AS BLOB) WHERE seq=3",
            False,
            "chain_broken",
        ),
        (
            "UPDATE events SET record=CAST(replace(record,'200','201') AS BLOB) WHERE seq=3",
            True,
            "seal_invalid",
        ),
        ("DELETE FROM events WHERE seq=4", True, "seal_invalid"),
        ("DELETE FROM events WHERE seq=4", False, "chain_broken"),
        ("DELETE FROM events WHERE seq>=6", False, "seal_required"),
        ("UPDATE events SET record=CAST(record || ' ' AS BLOB) WHERE seq=3", False, "record_malformed"),
        ("DELETE FROM blobs WHERE rowid=2", False, "blob_missing"),
        (
            'UPDATE events SET record=CAST(replace(record,\'"note":"p/t\',\'"note":"p/u\') AS BLOB)',
            True,
            "seal_invalid",
        ),
    ],
    ids=["changed", "rechained", "left-out", "gap", "cut", "not-canonical", "body-gone", "forged-seal"],
)
def test_both_see_each_kind_of_tampering(
    make: Callable[..., Path], second: ModuleType, sql: str, again: bool, code: str
) -> None:
    path = make()
    tamper(path, sql, again=again)
    ours, theirs = both(second, path)
    assert code in ours
    assert ours - {"sequence_gap"} == theirs - {"sequence_gap"}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"signer": None}, {"seal_required"}),
        ({"signer": STRANGER}, {"seal_untrusted"}),
        ({"end": False}, {"session_open"}),
        ({"drop": True}, {"drop_present", "event_after_end"}),
    ],
    ids=["unsealed", "foreign-key", "open", "drops"],
)
def test_both_judge_alike(make: Callable[..., Path], second: ModuleType, how: dict, expected: set) -> None:
    ours, theirs = both(second, make(**how))
    assert ours == theirs
    assert ours <= expected


def test_the_second_verifier_runs_alone(
    make: Callable[..., Path], tmp_path: Path, second: ModuleType, monkeypatch, capsys
) -> None:
    path = make()
    export = tmp_path / "t.jsonl"
    export.write_bytes(b"".join(lines(path)))
    for key, code in ((KEY, 0), (STRANGER, 1)):
        monkeypatch.setattr(sys, "argv", ["verify_tape.py", str(export), "--key", str(key.verifier)])
        assert second.main() == code
    assert "seal_untrusted" in capsys.readouterr().out
    export.write_bytes(b"nonsense\n")
    assert second.main() == 3


def test_the_second_verifiers_curve_is_the_right_one(second: ModuleType) -> None:
    public = KEY.verifier.public
    for text in (b"", b"a", b"b" * 1000):
        signed = KEY._private().sign(text)
        assert second.signature_holds(public, text, signed)
        assert not second.signature_holds(public, text + b"x", signed)
        forged = signed[:32] + (int.from_bytes(signed[32:], "little") + second.ORDER).to_bytes(32, "little")
        assert not second.signature_holds(public, text, forged)


def test_both_write_canonical_json_alike(second: ModuleType) -> None:
    for value in (
        {"b": 1, "a": [True, None, 'é\u2028"\\\n\x07']},
        {"\ufb33": 1, "\U0001f600": 2},
        [2**53 - 1],
    ):
        text = orjson.dumps(value)
        assert second.canonical(value).encode() == _core.jcs(text)
    for bad in (b"1.5", b"1e3", b"9007199254740992", b'{"a":1,"a":2}', b"NaN", b"-0", b'"\\ud800"'):
        assert second.load(bad) == (None, False)


def test_a_row_that_is_no_line_is_not_exported(make: Callable[..., Path]) -> None:
    path = make()
    tamper(path, "UPDATE events SET record=CAST(record || char(10) AS BLOB) WHERE seq=3")
    with pytest.raises(TapeTampered, match="not one line"):
        lines(path)
