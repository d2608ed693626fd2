"""What a certificate rests on: a run's reports and tapes, by digest, once they agree with one another."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire import _core
from faultwire.certificate import shape
from faultwire.errors import TapeTampered, UsageError
from faultwire.report.load import FILE, load
from faultwire.runner.past_runs import phases_in
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.sealer import file_digest
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.small_file import small_file
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.tape.evidence.signed_note import VerifierKey

LARGEST = 64 * 1024
"""Bytes of a `run.json` that are read."""


class Found(NamedTuple):
    """What a run's folder holds."""

    about: dict[str, Any]
    reports: list[dict[str, Any]]
    evidence: shape.Evidence


def found(folder: Path, trusted: Sequence[VerifierKey]) -> Found:
    """Read a run's folder, and judge its tapes. Raises UsageError for one that is no run with reports, and
    TapeTampered where a tape does not verify, or does not give the ledger that the reports name."""
    about = _about(folder)
    files = [folder / f"{name}.json" for name in phases_in(folder)] or [folder / FILE]
    reports = [load(file) for file in files]
    paths = tapes_of(folder, reports[0])
    tapes = tuple(_tape(path, trusted) for path in paths)
    ledger = ledger_of(paths)
    named = {report["run"]["ledger"] for report in reports}
    if named != {ledger}:
        raise TapeTampered(
            f"the tapes of `{folder.name}` give the ledger {ledger[:16]}…, its reports name others",
            code="certificate.evidence",
        )
    return Found(
        about,
        reports,
        shape.Evidence(
            ledger=ledger,
            reports=tuple(shape.File(name=file.name, sha256=_digest(file)) for file in files),
            tapes=tapes,
        ),
    )


def tapes_of(folder: Path, report: dict[str, Any]) -> list[Path]:
    """The tapes of a run, where they are now: beside its reports, wherever the folder was moved to."""
    names = [Path(text) for text in report["run"]["tapes"]]
    places = [folder / name.name if (folder / name.name).exists() else name for name in names]
    if not places:
        raise UsageError("found a run without a tape, expected recorded traffic", code="certificate.run")
    return places


def ledger_of(paths: Sequence[Path]) -> str:
    """The digest of every fault decision on these tapes, as a run over them writes it."""
    each = []
    for path in paths:
        with TapeReader.open(path) as tape:
            each.append(tape.ledger_hash())
    return each[0] if len(each) == 1 else _core.sha256_hex("\n".join(each).encode())


def _tape(path: Path, trusted: Sequence[VerifierKey]) -> shape.Tape:
    report = verify(path, trusted)
    if not report.ok:
        first = next(finding for finding in report.findings if not finding.is_note)
        raise TapeTampered(
            f"tape `{path.name}` does not verify: {first.message}",
            code="certificate.evidence",
            hint=f"`faultwire tape verify {path}` lists what was found",
        )
    grade, _ = evidence_class(report)
    return shape.Tape(
        name=path.name,
        sha256=file_digest(path)[0],
        root=report.root,
        events=report.events,
        exchanges=report.exchanges,
        sealed_by=report.key,
        grade=grade,
    )


def _about(folder: Path) -> dict[str, Any]:
    file = folder / "run.json"
    try:
        read = json.loads(small_file(file, LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read `{file}`", code="certificate.run") from error
    if not isinstance(read, dict):
        raise UsageError(f"found no object in `{file}`", code="certificate.run")
    return read


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return sha256(opened.read()).hexdigest()
