"""Judges a certificate: who signed it, what it states, and whether a run's files are those that it names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from faultwire import clock
from faultwire.certificate import dsse, shape
from faultwire.certificate.evidence import found
from faultwire.certificate.log import contents, root_of
from faultwire.certificate.log_proof import logged
from faultwire.errors import TapeError, UsageError
from faultwire.tape.evidence.signed_note import NoteError, VerifierKey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.certificate.cosignature import WitnessKey
    from faultwire.certificate.keys import Verifier
    from faultwire.certificate.log_proof import Logged

Code = Literal[
    "signature_invalid",
    "signature_untrusted",
    "statement_malformed",
    "proof_missing",
    "proof_invalid",
    "cosignature_missing",
    "log_mismatch",
    "evidence_mismatch",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for which a certificate does not hold."""

    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A witness, by its key, and when it cosigned (RFC 3339)."""

    key: str
    at: str


@dataclass(slots=True)
class Judgement:
    """What was found. Without findings the certificate holds; only then is there a `statement`."""

    findings: list[Finding] = field(default_factory=list)
    signed_by: str | None = None
    statement: shape.Statement | None = None
    logged: Logged | None = None
    """Where it is in the log that it names, if it names one."""
    cosigned: list[Cosigned] = field(default_factory=list)
    """Of the witnesses that were asked for, those that cosigned this log."""
    compared: bool = False
    """Were a run's files compared with it?"""

    @property
    def ok(self) -> bool:
        """Does it hold?"""
        return not self.findings


def judge(data: bytes, keys: Sequence[Verifier], witnesses: Sequence[WitnessKey] = ()) -> Judgement:
    """Check a certificate against the keys that are trusted. Raises EnvelopeError where it is none.

    Every signature must hold under the trusted key that it names, so that nothing in the envelope can be
    changed unseen. Where the statement names a log, the proof must hold; of `witnesses`, each must have
    cosigned that log.
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
    _check_log(made, made.statement.predicate.log, envelope, witnesses)
    if made.findings:
        made.statement = None
    return made


def _check_log(
    made: Judgement, log: str | None, envelope: dsse.Envelope, witnesses: Sequence[WitnessKey]
) -> None:
    """Is the statement in the log that it names, and did each of these witnesses cosign that?"""
    if log is None:
        if envelope.proof is not None:
            made.findings.append(Finding("proof_invalid", "it has a proof of a log, and names none"))
        made.findings += [
            Finding("cosignature_missing", f"it is in no log that `{key}` could have cosigned")
            for key in witnesses
        ]
        return
    if envelope.proof is None:
        message = "the proof that it is in the log that it names was taken away"
        made.findings.append(Finding("proof_missing", message))
        return
    try:
        made.logged = logged(envelope.proof, envelope.signed_bytes, log)
    except NoteError as error:
        made.findings.append(Finding("proof_invalid", f"the proof of the log does not hold: {error}"))
        return
    for key in witnesses:
        seconds = key.cosigned_on(made.logged.note)
        if seconds is None:
            message = f"`{key}` has not cosigned its checkpoint"
            made.findings.append(Finding("cosignature_missing", message))
        else:
            made.cosigned.append(Cosigned(str(key), clock.iso(seconds * 1000)))


def compare_log(made: Judgement, folder: Path) -> None:
    """Hold a certificate that holds against a copy of its log: does it have the same entries up to this one's
    checkpoint? Raises LogError where the folder holds no log that the named key has signed."""
    if made.statement is None:
        return
    if made.logged is None or made.statement.predicate.log is None:
        made.findings.append(Finding("log_mismatch", "the certificate is in no log"))
        return
    leaves = contents(folder, VerifierKey.parse(made.statement.predicate.log)).leaves
    tree = made.logged.tree
    if len(leaves) < tree.size:
        message = f"the log in `{folder}` has {len(leaves)} entries, the certificate's had {tree.size}"
        made.findings.append(Finding("log_mismatch", f"{message}: it was rolled back"))
    elif root_of(leaves[: tree.size]) != tree.root:
        message = f"the first {tree.size} entries of the log in `{folder}` are others: it has two histories"
        made.findings.append(Finding("log_mismatch", message))


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
