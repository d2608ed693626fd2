"""Which certificates hold.

Modules: `faultwire.certificate.verify`, `faultwire.certificate.shape`.
"""

from __future__ import annotations

import base64
import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.certificate.conftest import SIGNER
from tests.unit.certificate.witnessed import OURS, Near, entry, log, standalone as standalone_module, witness

from faultwire.certificate import dsse, sections, shape
from faultwire.certificate.cosignature import WitnessKey
from faultwire.certificate.issue import issue
from faultwire.certificate.keys import ProjectSigner, ProjectVerifier
from faultwire.certificate.log import LogError
from faultwire.certificate.submission import WitnessedLog
from faultwire.certificate.verify import compare, compare_log, judge
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.standalone import OF_CERTIFICATES, script

KEYS = [ProjectVerifier(SIGNER.verifier)]
TRUSTED = (SIGNER.verifier,)
STRANGER = SignerKey("stranger", b"t" * 32)


@pytest.fixture
def envelope(run_folder: Path) -> dsse.Envelope:
    return issue(run_folder, ProjectSigner(SIGNER), TRUSTED)


def signed(statement: dict[str, Any], key: SignerKey = SIGNER) -> bytes:
    payload = json.dumps(statement).encode()
    signer = ProjectSigner(key)
    signature = signer.sign(dsse.Envelope(payload, ()).signed_bytes)
    return dsse.Envelope(payload, (dsse.Signature(signer.verifier.keyid, signature),)).dump()


def codes(data: bytes) -> list[str]:
    return [finding.code for finding in judge(data, KEYS).findings]


def test_a_sound_one_holds_and_says_who_signed(envelope: dsse.Envelope) -> None:
    made = judge(envelope.dump(), KEYS)
    assert made.ok
    assert made.signed_by == KEYS[0].keyid
    assert made.statement is not None
    assert made.statement.predicate.verdict == "fail"


def places(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a document that holds no others."""
    parts = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if parts is None:
        yield where
        return
    for name, part in parts:
        yield from places(part, (*where, name))


def bent(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1
    return value[:-1] + ("0" if value[-1:] != "0" else "1")


def each_bent(document: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    for where in places(document):
        other = copy.deepcopy(document)
        part: Any = other
        for name in where[:-1]:
            part = part[name]
        part[where[-1]] = bent(part[where[-1]])
        yield where, other


def standalone(folder: Path, data: bytes) -> int:
    (folder / "c.json").write_bytes(data)
    command = [sys.executable, str(script(OF_CERTIFICATES)), "c.json", "--key", str(SIGNER.verifier)]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode


def test_every_field_bent_once_is_refused_by_both_verifiers(envelope: dsse.Envelope, tmp_path: Path) -> None:
    whole = json.loads(envelope.dump())
    statement = json.loads(envelope.payload)
    count = 0
    for where, other in each_bent(statement):
        payload = base64.b64encode(json.dumps(other).encode()).decode()
        assert codes(json.dumps(whole | {"payload": payload}).encode()) == ["signature_invalid"], where
        count += 1
    assert count > 70
    for where, other in each_bent(whole):
        data = json.dumps(other).encode()
        with_reason: list[str] | None
        try:
            with_reason = codes(data)
        except dsse.EnvelopeError:
            with_reason = None
        assert with_reason != [], where
        assert standalone(tmp_path, data) in (1, 3), where
    payload = base64.b64encode(json.dumps(statement | {"subject": []}).encode()).decode()
    assert standalone(tmp_path, json.dumps(whole | {"payload": payload}).encode()) == 1
    assert standalone(tmp_path, envelope.dump()) == 0


def test_one_that_a_stranger_signed_again_is_not_read(envelope: dsse.Envelope) -> None:
    made = judge(signed(json.loads(envelope.payload), STRANGER), KEYS)
    assert [finding.code for finding in made.findings] == ["signature_untrusted"]
    assert made.statement is None
    assert made.signed_by is None


def test_a_stranger_s_signature_beside_a_sound_one_is_refused(envelope: dsse.Envelope) -> None:
    other = ProjectSigner(STRANGER)
    second = dsse.Signature(other.verifier.keyid, other.sign(envelope.signed_bytes))
    both = dsse.Envelope(envelope.payload, (*envelope.signatures, second))
    assert codes(both.dump()) == ["signature_untrusted"]
    assert judge(both.dump(), [*KEYS, other.verifier]).ok


def test_members_that_are_missing_or_unknown_are_refused_though_signed(envelope: dsse.Envelope) -> None:
    statement = json.loads(envelope.payload)
    assert codes(signed(statement)) == []
    for name in statement["predicate"]:
        other = copy.deepcopy(statement)
        del other["predicate"][name]
        assert codes(signed(other)) == ["statement_malformed"], name
    for changes in ({"extra": 1}, {"predicateType": shape.PREDICATE[:-1] + "2"}, {"subject": []}):
        assert codes(signed(statement | changes)) == ["statement_malformed"], changes


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "pass"),
        (("phases", 0, "invocations", "passed"), 9),
        (("phases", 0, "invocations", "low"), 1.0),
        (("phases", 0, "coverage", "judged"), 99),
        (("phases", 0, "cells", "failed"), -1),
        (("phases",), []),
        (("evidence", "ledger"), "f" * 64 + "\n"),
    ],
    ids=["verdict", "passed", "interval", "coverage", "count", "phases", "digest"],
)
def test_a_statement_that_contradicts_itself_is_refused_though_signed(
    envelope: dsse.Envelope, path: tuple[Any, ...], value: Any
) -> None:
    statement = json.loads(envelope.payload)
    part = statement["predicate"]
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    assert codes(signed(statement)) == ["statement_malformed"]


def test_a_digest_is_of_one_kind() -> None:
    for both in ({}, {"sha256": "a" * 64, "gitCommit": "a" * 40}):
        with pytest.raises(ValidationError, match="expected one of"):
            shape.Digest.model_validate(both)
    assert shape.Digest(git_commit="a" * 40).model_dump() == {"gitCommit": "a" * 40}


def test_the_files_of_a_run_are_compared(envelope: dsse.Envelope, run_folder: Path) -> None:
    def findings() -> list[str]:
        made = judge(envelope.dump(), KEYS)
        compare(made, run_folder, TRUSTED)
        assert made.compared
        return [finding.message for finding in made.findings]

    assert findings() == []
    report = run_folder / "report.json"
    text = report.read_text()
    report.write_text(text + "\n")
    assert [one.startswith("report `report.json` has SHA-256") for one in findings()] == [True]
    report.rename(run_folder / "contract.json")
    assert [one[:22] for one in findings()] == ["report `contract.json`", "report `report.json` i"]
    (run_folder / "contract.json").unlink()
    assert findings() == [f"found no report at `{report}`"]


def test_what_does_not_hold_is_not_compared(run_folder: Path, envelope: dsse.Envelope) -> None:
    made = judge(signed(json.loads(envelope.payload), STRANGER), KEYS)
    compare(made, run_folder, TRUSTED)
    assert not made.compared


# ---------------------------------------------------------------- logs and witnesses

OTHER_WITNESS = WitnessKey.of(SignerKey("w1", b"\x0f" * 32))
SCRIPT = standalone_module()


@pytest.fixture
def near(tmp_path: Path) -> Iterator[Near]:
    with witness(tmp_path / "witness") as made:
        yield made


@pytest.fixture
def logged(run_folder: Path, tmp_path: Path, near: Near) -> dsse.Envelope:
    """A certificate that is entry 2 of 3, in a log that one witness cosigned."""
    with log(tmp_path / "log") as made:
        for number in range(2):
            made.append(entry(number))
        return issue(run_folder, ProjectSigner(SIGNER), TRUSTED, WitnessedLog(made, [near]))


def both(data: bytes, *witnesses: WitnessKey) -> list[str]:
    """The codes that both verifiers find; they must be the same."""
    ours = [finding.code for finding in judge(data, KEYS, witnesses).findings]
    keys = dict([SCRIPT.key_of(str(SIGNER.verifier))])
    _, bad, _ = SCRIPT.judge(data, keys, [SCRIPT.line_key(str(key), 4) for key in witnesses])
    assert [text.partition(":")[0] for text in bad] == ours
    return ours


def test_a_cosigned_one_holds_with_and_without_the_witness_s_key(logged: dsse.Envelope, near: Near) -> None:
    assert both(logged.dump()) == both(logged.dump(), near.key) == []
    with_key, without = judge(logged.dump(), KEYS, [near.key]), judge(logged.dump(), KEYS)
    assert with_key.logged is not None
    assert (with_key.logged.index, with_key.logged.tree.size) == (2, 3)
    assert [one.key for one in with_key.cosigned] == [str(near.key)]
    assert without.logged == with_key.logged
    assert without.cosigned == []
    rows = dict(sections.log_rows(with_key.logged, with_key.cosigned))
    assert rows["log"] == f"entry 2 of the log {OURS.name}, as it was with 3 entries"
    assert rows["cosigned"].startswith(f"by {near.key} on 20")
    assert dict(sections.log_rows(without.logged, []))["cosigned"].startswith("no witness was asked")
    assert dict(sections.log_rows(None, [])) == {"log": "in none"}


def test_a_witness_that_has_not_cosigned_is_missed(logged: dsse.Envelope, near: Near) -> None:
    assert both(logged.dump(), OTHER_WITNESS) == ["cosignature_missing"]
    assert both(logged.dump(), near.key, OTHER_WITNESS) == ["cosignature_missing"]
    assert logged.proof is not None
    alone = replace(logged, proof=logged.proof.rpartition("— w1 ")[0])
    assert both(alone.dump()) == [], "no witness was asked"
    assert both(alone.dump(), near.key) == ["cosignature_missing"]
    assert judge(alone.dump(), KEYS, [near.key]).statement is None


def test_one_that_is_in_no_log_is_refused_where_a_witness_is_asked(
    envelope: dsse.Envelope, near: Near
) -> None:
    assert both(envelope.dump()) == []
    assert both(envelope.dump(), near.key) == ["cosignature_missing"]


def test_a_proof_cannot_be_taken_away_or_put_beside_another_statement(
    logged: dsse.Envelope, envelope: dsse.Envelope
) -> None:
    assert both(replace(logged, proof=None).dump()) == ["proof_missing"]
    assert both(replace(envelope, proof=logged.proof).dump()) == ["proof_invalid"]
    statement = json.loads(logged.payload)
    again = json.loads(signed(statement | {"predicate": statement["predicate"] | {"verdict": "unknown"}}))
    assert both(json.dumps(again | {"tlogProof": logged.proof}).encode()) == ["proof_invalid"]
    for key in ("no key", str(SIGNER.verifier)):
        other = json.loads(signed(statement | {"predicate": statement["predicate"] | {"log": key}}))
        assert both(json.dumps(other | {"tlogProof": logged.proof}).encode()) == ["proof_invalid"]


def test_every_character_of_a_proof_bent_once_is_refused_by_both_verifiers(
    logged: dsse.Envelope, near: Near
) -> None:
    proof = logged.proof
    assert proof is not None
    for at, char in enumerate(proof):
        bent = proof[:at] + ("A" if char != "A" else "B") + proof[at + 1 :]
        (code,) = both(replace(logged, proof=bent).dump(), near.key)
        assert code in ("proof_invalid", "cosignature_missing"), bent


def test_a_copy_of_the_log_shows_a_rollback_and_a_second_history(
    logged: dsse.Envelope, tmp_path: Path
) -> None:
    def found(folder: Path, data: bytes = logged.dump()) -> list[str]:
        made = judge(data, KEYS)
        compare_log(made, folder)
        return [f"{one.code}: {one.message}" for one in made.findings]

    assert found(tmp_path / "log") == []
    with log(tmp_path / "log") as made:
        made.append(entry(9))
    assert found(tmp_path / "log") == [], "it has grown since"
    for name, count in (("older", 2), ("fork", 4)):
        with log(tmp_path / name) as made:
            for number in range(count):
                made.append(entry(number))
    assert ["it was rolled back" in one for one in found(tmp_path / "older")] == [True]
    assert ["it has two histories" in one for one in found(tmp_path / "fork")] == [True]
    with log(tmp_path / "other", SignerKey("other", b"o" * 32)) as made:
        made.append(entry(0))
    with pytest.raises(LogError, match="is not signed by the log"):
        found(tmp_path / "other")


def test_one_that_is_in_no_log_is_in_no_copy_of_it(envelope: dsse.Envelope, tmp_path: Path) -> None:
    made = judge(envelope.dump(), KEYS)
    compare_log(made, tmp_path)
    assert [one.code for one in made.findings] == ["log_mismatch"]
    refused = judge(signed(json.loads(envelope.payload), STRANGER), KEYS)
    compare_log(refused, tmp_path)
    assert [one.code for one in refused.findings] == ["signature_untrusted"]


def test_the_schema_is_closed() -> None:
    found = shape.schema()
    assert found["additionalProperties"] is False
    assert set(found["properties"]) == {"_type", "subject", "predicateType", "predicate"}
