"""`tests/vectors/tapes.json`: tapes as lines, sound and tampered with, which our verifier, the second one
(`docs/verify_tape.py`) and the core judge alike."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from faultwire import _core
from faultwire.tape.evidence.signed_note import NoteError, VerifierKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import verify_export
from faultwire.tape.export.jsonl import HEAD
from faultwire.tape.format.file import APPLICATION_ID
from faultwire.tape.format.hash_chain import is_canonical

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "proxy" / "faultwire" / "tape" / "format" / "schema.sql"
VECTORS: dict[str, Any] = json.loads((ROOT / "tests" / "vectors" / "tapes.json").read_text())
ONLY_OURS = {"file_unsealed", "hash_mismatch", "row_mismatch", "blob_unreferenced"}
"""What only a database has."""


def records(vector: dict[str, Any]) -> list[bytes]:
    return [line.encode() for line in vector["lines"] if not line.startswith('{"blob":')]


def as_tape(vector: dict[str, Any], path: Path) -> Path:
    """The file that a writer would have made of these lines."""
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.executescript(
            f"{SCHEMA.read_text()}; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version=1"
        )
        for record in records(vector):
            event = json.loads(record)
            row = (event["seq"], event.get("session", ""), record, _core.leaf_hash(record))
            rows.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        for line in vector["lines"]:
            if line.startswith('{"blob":'):
                data = base64.b64decode(json.loads(line)["data"])
                rows.execute(
                    "INSERT INTO blobs VALUES (?, ?, 0, ?)", (sha256(data).digest(), len(data), data)
                )
    return path


@pytest.mark.parametrize("vector", VECTORS["tapes"], ids=lambda one: one["name"])
def test_all_judge_alike(vector: dict[str, Any], second: ModuleType, tmp_path: Path) -> None:
    lines = [f"{line}\n".encode() for line in vector["lines"]]
    theirs = second.verify(lines, [second.parse_key(VECTORS["key"])])
    assert sorted({found["code"] for found in theirs.findings}) == vector["codes"]
    assert theirs.tree.root().hex() == vector["root"]
    told = vector["lines"] if "changed places" not in vector["name"] else None
    if told is not None:  # a table has its rows in their order, whatever order they came in
        key = VerifierKey.parse(VECTORS["key"])
        ours = verify(as_tape(vector, tmp_path / "t.tape"), (key,), demanded=True)
        found = {finding.code for finding in ours.findings} - ONLY_OURS
        assert found - {"sequence_gap"} == set(vector["codes"]) - {"sequence_gap"}
        assert ours.root == vector["root"]


@pytest.mark.parametrize("vector", VECTORS["tapes"], ids=lambda one: one["name"])
def test_the_core_judges_alike(vector: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("\n".join([HEAD.decode().rstrip(), *vector["lines"], ""]))
    found = verify_export.verify(tmp_path / "t.jsonl", (VerifierKey.parse(VECTORS["key"]),), demanded=True)
    assert sorted({one.code for one in found.findings}) == vector["codes"]
    assert found.root == vector["root"]


@pytest.mark.parametrize("vector", VECTORS["tapes"], ids=lambda one: one["name"])
def test_the_core_has_the_same_root_and_the_same_text(vector: dict[str, Any]) -> None:
    leaves = [_core.leaf_hash(record) for record in records(vector)]
    assert _core.merkle_root(leaves).hex() == vector["root"]
    changed = [record for record in records(vector) if not is_canonical(record)]
    names = {"record not canonical", "an event deeper than anybody reads"}
    assert bool(changed) == (vector["name"] in names)


def test_every_kind_of_tampering_is_there() -> None:
    names = {vector["name"] for vector in VECTORS["tapes"]}
    assert len(names) >= 15
    codes = {code for vector in VECTORS["tapes"] for code in vector["codes"]}
    assert codes >= {
        *("chain_broken", "seal_invalid", "seal_required", "seal_untrusted", "record_malformed"),
        *("blob_missing", "sequence_gap", "session_open", "drop_present", "bypass_present"),
        "import_finding",
    }


def test_a_tape_that_is_cut_after_any_row_is_noticed_by_all(second: ModuleType, tmp_path: Path) -> None:
    whole = next(vector for vector in VECTORS["tapes"] if vector["name"] == "valid")
    key, other = VerifierKey.parse(VECTORS["key"]), second.parse_key(VECTORS["key"])
    for size in range(1, len(whole["lines"])):
        cut = {"lines": whole["lines"][:size]}
        ours = verify(as_tape(cut, tmp_path / f"{size}.tape"), (key,), demanded=True)
        assert not ours.ok, size
        theirs = second.verify([f"{line}\n".encode() for line in cut["lines"]], [other])
        assert {found["code"] for found in theirs.findings} & {"seal_required", "blob_unreferenced"}, size
        (tmp_path / "t.jsonl").write_bytes(HEAD + b"".join(f"{line}\n".encode() for line in cut["lines"]))
        core = verify_export.verify(tmp_path / "t.jsonl", (key,), demanded=True)
        assert {one.code for one in core.findings} == {found["code"] for found in theirs.findings}, size


def key_of(public: bytes) -> VerifierKey:
    return VerifierKey("p", public)


ED25519: dict[str, Any] = json.loads((ROOT / "tests" / "vectors" / "ed25519.json").read_text())


@pytest.mark.parametrize("case", ED25519["cases"], ids=lambda case: case["name"])
def test_signatures_are_read_as_strictly_as_wycheproof_wants(
    case: dict[str, Any], second: ModuleType
) -> None:
    public, text, signature = (bytes.fromhex(case[name]) for name in ("public", "text", "signature"))
    assert VerifierKey.parse(str(key_of(public))).verifies(text, signature) is case["holds"]
    assert second.signature_holds(public, text, signature) is case["holds"]


@pytest.mark.parametrize("public", ED25519["weak"])
def test_a_key_under_which_everybody_can_sign_is_refused(public: str, second: ModuleType) -> None:
    key = key_of(bytes.fromhex(public))
    assert second.parse_key(str(key)) is None
    assert not _core.is_verifier_key(str(key))
    with pytest.raises(NoteError, match="everybody can sign under this key"):
        VerifierKey.parse(str(key))


@pytest.mark.parametrize("public", ED25519["weak_written_otherwise"])
def test_the_same_points_written_otherwise_are_keys_to_nobody(public: str, second: ModuleType) -> None:
    key = key_of(bytes.fromhex(public))
    assert second.parse_key(str(key)) is None
    assert not _core.is_verifier_key(str(key))
    with pytest.raises(NoteError):
        VerifierKey.parse(str(key))


def test_a_seal_that_everybody_can_make_is_refused_by_all(second: ModuleType, tmp_path: Path) -> None:
    """Under the neutral point one signature holds for every text: that seal names a key, and is no seal."""
    sound = next(vector for vector in VECTORS["tapes"] if vector["name"] == "valid")
    public = bytes.fromhex(ED25519["weak"][0])
    key = key_of(public)
    at, line = next((n, line) for n, line in enumerate(sound["lines"]) if '"type":"seal"' in line)
    event = json.loads(line)
    text = event["note"].partition("\n\n")[0] + "\n"
    signature = public + bytes(32)
    assert second.signature_holds(public, text.encode(), signature)  # control: as signatures go, it is one
    event["note"] = f"{text}\n— p {base64.b64encode(key.id + signature).decode()}\n"
    event["key"] = str(key)
    forged = _core.jcs(json.dumps(event).encode()).decode()
    vector = {"lines": [*sound["lines"][:at], forged, *sound["lines"][at + 1 :]]}
    trusted = VerifierKey.parse(VECTORS["key"])
    theirs = second.verify([f"{one}\n".encode() for one in vector["lines"]], [second.parse_key(str(trusted))])
    (tmp_path / "t.jsonl").write_text("\n".join([HEAD.decode().rstrip(), *vector["lines"], ""]))
    core = verify_export.verify(tmp_path / "t.jsonl", (trusted,), demanded=True)
    ours = verify(as_tape(vector, tmp_path / "t.tape"), (trusted,), demanded=True)
    assert {found["code"] for found in theirs.findings} >= {"seal_invalid"}
    assert {found.code for found in core.findings} == {found["code"] for found in theirs.findings}
    assert {found.code for found in ours.findings} - ONLY_OURS == {found["code"] for found in theirs.findings}


def test_control_under_the_neutral_point_one_signature_holds_for_every_text(second: ModuleType) -> None:
    public = bytes.fromhex(ED25519["weak"][0])
    for text in (b"one", b"other"):
        assert second.signature_holds(public, text, public + bytes(32))
