"""Judges a certificate: who signed it, what it states, and whether a run's files are those that it names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from faultwire.certificate import dsse, shape
from faultwire.certificate.evidence import found
from faultwire.errors import TapeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.certificate.keys import Verifier
    from faultwire.tape.evidence.signed_note import VerifierKey

Code = Literal["signature_invalid", "signature_untrusted", "statement_malformed", "evidence_mismatch"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for which a certificate does not hold."""

    code: Code
    message: str


@dataclass(slots=True)
class Judgement:
    """What was found. Without findings the certificate holds; only then is there a `statement`."""

    findings: list[Finding] = field(default_factory=list)
    signed_by: str | None = None
    statement: shape.Statement | None = None
    compared: bool = False
    """Were a run's files compared with it?"""

    @property
    def ok(self) -> bool:
        """Does it hold?"""
        return not self.findings


def judge(data: bytes, keys: Sequence[Verifier]) -> Judgement:
    """Check a certificate against the keys that are trusted. Raises EnvelopeError where it is none.

    Every signature must hold under the trusted key that it names, so that nothing in the envelope can be
    changed unseen.
    """
    envelope, made = dsse.parse(data), Judgement()
    known = {key.keyid: key for key in keys}
    for signature in envelope.signatures:
        key = known.get(signature.keyid)
        if key is None:
            message = f"no trusted key is called `{signature.keyid[:200]}`"
            made.findings.append(Finding("signature_untrusted", message))
        elif not key.verifies(envelope.signed_bytes, signature.sig):
            message = f"the signature does not hold under `{key.keyid}`: something was changed after it"
            made.findings.append(Finding("signature_invalid", message))
        else:
            made.signed_by = key.keyid
    if made.findings:
        return made
    try:
        made.statement = shape.Statement.model_validate_json(envelope.payload)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        made.findings.append(Finding("statement_malformed", f"{place}: {first['msg']}"))
    return made


def compare(made: Judgement, folder: Path, trusted: Sequence[VerifierKey]) -> None:
    """Hold a certificate that holds against the files of a run, and add what differs to its findings."""
    if made.statement is None:
        return
    made.compared = True
    stated = made.statement.predicate.evidence
    try:
        there = found(folder, trusted).evidence
    except (TapeError, UsageError) as error:
        made.findings.append(Finding("evidence_mismatch", error.message))
        return
    if there.ledger != stated.ledger:
        made.findings.append(Finding("evidence_mismatch", "the fault decisions are others"))
    for kind, here, named in (("report", there.reports, stated.reports), ("tape", there.tapes, stated.tapes)):
        wanted = {one.name: one.sha256 for one in named}
        present = {one.name: one.sha256 for one in here}
        made.findings += [
            Finding(
                "evidence_mismatch", f"{kind} `{name}` {_difference(wanted.get(name), present.get(name))}"
            )
            for name in sorted(wanted.keys() | present.keys())
            if wanted.get(name) != present.get(name)
        ]


def _difference(wanted: str | None, present: str | None) -> str:
    if present is None:
        return "is not in the folder"
    if wanted is None:
        return "is not named by the certificate"
    return f"has SHA-256 {present[:16]}…, the certificate names {wanted[:16]}…"
