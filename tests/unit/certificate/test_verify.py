"""Which certificates hold, and where their faces say what they do not.

Modules: `faultwire.certificate.verify`, `faultwire.certificate.shape`, `faultwire.certificate.faces`,
`faultwire.certificate.sections`.
"""

from __future__ import annotations

import base64
import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.certificate.conftest import SIGNER

from faultwire.certificate import dsse, faces, sections, shape
from faultwire.certificate.issue import issue
from faultwire.certificate.keys import ProjectSigner, ProjectVerifier
from faultwire.certificate.verify import compare, judge
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


# ---------------------------------------------------------------- faces


def held(envelope: dsse.Envelope, **changes: Any) -> shape.Statement:
    statement = json.loads(envelope.payload)
    statement["predicate"] |= changes
    made = judge(signed(statement), KEYS).statement
    assert made is not None
    return made


def test_the_text_has_the_verdict_the_intervals_and_what_was_not_tested(envelope: dsse.Envelope) -> None:
    text = faces.text(held(envelope), "shop+00")
    assert "verdict: failed" in text
    assert "95% interval" in text
    assert "changed prompts: no such phase was run" in text
    assert "signed by: shop+00" in text
    assert "nobody who is trusted here" in faces.text(held(envelope), None)


def test_where_nothing_was_left_out_nothing_is_named(envelope: dsse.Envelope) -> None:
    assert "not tested\n  nothing is named" in faces.text(held(envelope, notTested=[]), "shop+00")


def test_a_rate_of_nothing_has_no_interval() -> None:
    rate = shape.Rate(passed=0, total=0, low=0.0, high=1.0, confidence=0.95, method="Jeffreys")
    assert sections.interval(rate) == "nothing judged"


def test_a_page_shows_hostile_names_as_text_and_warns_of_strangers(envelope: dsse.Envelope) -> None:
    hostile = "<script>alert(1)</script>\u202e\x1b[31m"
    page = faces.html(held(envelope, notTested=[hostile]), "shop+00")
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert "Do not rely on it." not in page
    assert "Do not rely on it." in faces.html(held(envelope), None)
    assert "\x1b" not in faces.text(held(envelope, notTested=[hostile]), "shop+00")


def test_a_pdf_is_the_same_for_the_same_certificate(envelope: dsse.Envelope) -> None:
    made = held(envelope)
    first = faces.pdf(made, "shop+00")
    assert first.startswith(b"%PDF-")
    assert faces.pdf(made, "shop+00") == first


def test_the_schema_is_closed() -> None:
    found = shape.schema()
    assert found["additionalProperties"] is False
    assert set(found["properties"]) == {"_type", "subject", "predicateType", "predicate"}
