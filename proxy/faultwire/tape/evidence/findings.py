"""What a verifier may find on a tape, and what a tape is worth as evidence after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

Code = Literal[
    "schema_mismatch",
    "sequence_gap",
    "hash_mismatch",
    "chain_broken",
    "record_malformed",
    "row_mismatch",
    "blob_missing",
    "blob_mismatch",
    "blob_unreferenced",
    "body_erased",
    "erasure_invalid",
    "event_after_end",
    "damaged",
    "session_open",
    "exchange_open",
    "drop_present",
    "bypass_present",
    "seal_missing",
    "tail_unsealed",
    "file_unsealed",
    "seal_required",
    "seal_invalid",
    "seal_untrusted",
    "file_mismatch",
    "import_finding",
]
"""Stable words of findings."""

MAX_FINDINGS = 100_000
"""Of what has more, nobody reads the rest: further notes on events are not listed, and with one more finding
that is no note, no more is read."""

EvidenceClass = Literal["AUTHORITATIVE", "PARTIAL", "NON_AUTHORITATIVE"]

NOTES: frozenset[Code] = frozenset(
    {
        "session_open",
        "exchange_open",
        "drop_present",
        "bypass_present",
        "body_erased",
        "seal_missing",
        "tail_unsealed",
        "file_unsealed",
    }
)
"""Findings that say a tape is incomplete; all others say that it is not what was recorded."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or missing; `seq` is the event it concerns, where there is one."""

    code: Code
    message: str
    seq: int | None = None

    @property
    def is_note(self) -> bool:
        """Does the tape still verify with this?"""
        return self.code in NOTES


@dataclass(slots=True)
class VerifyReport:
    """What was found on a tape. `root` is the RFC 6962 tree head over its events, in hex."""

    path: Path
    events: int = 0
    blobs: int = 0
    sessions: int = 0
    exchanges: int = 0
    root: str = ""
    origin: str = ""
    key: str | None = None
    """The verifier key of the last seal."""
    trusted: bool = False
    """Is that key trusted?"""
    imported: str | None = None
    """What it was imported from, where the proxy did not record it."""
    reported: bool = False
    """Was it sent by the agents themselves, to `faultwire ingest`?"""
    made_by: str | None = None
    """`merge`, `split` or `share`, where it was made from other tapes."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Is nothing on the tape other than it was recorded?"""
        return all(finding.is_note for finding in self.findings)

    @property
    def first_bad(self) -> int | None:
        """The first event that is not as it was recorded."""
        return min((f.seq for f in self.findings if f.seq is not None and not f.is_note), default=None)

    def dump(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "path": str(self.path),
            "ok": self.ok,
            "events": self.events,
            "blobs": self.blobs,
            "sessions": self.sessions,
            "exchanges": self.exchanges,
            "root": self.root,
            "origin": self.origin,
            "key": self.key,
            "trusted": self.trusted,
            "class": evidence_class(self)[0],
            "reasons": evidence_class(self)[1],
            "first_bad": self.first_bad,
            "findings": [
                {"code": f.code, "seq": f.seq, "message": f.message, "note": f.is_note} for f in self.findings
            ],
        }


def evidence_class(report: VerifyReport) -> tuple[EvidenceClass | None, list[str]]:
    """How far a tape is evidence, and why no further. A tape that does not verify has no class."""
    if not report.ok:
        return None, ["it does not verify"]
    if report.reported:
        return "NON_AUTHORITATIVE", ["its events are what agents reported of themselves"]
    if report.imported:
        return "NON_AUTHORITATIVE", [f"it was imported from {report.imported}, not recorded by the proxy"]
    reasons = [finding.message for finding in report.findings]
    if report.made_by:
        reasons.append(f"it was made from other tapes with `{report.made_by}`")
    return ("PARTIAL" if reasons else "AUTHORITATIVE"), reasons
