"""Is an exported tape (JSON lines) what was recorded? The core judges it line by line.

It shares no rule's text with the verifier of tapes nor with `docs/verify_tape.py`; all three name what they
find alike.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson

from faultwire._core import TapeVerifier
from faultwire.errors import TapeError, TapeNotFound
from faultwire.tape.evidence.findings import MAX_FINDINGS, Code, Finding, VerifyReport
from faultwire.tape.export.jsonl import HEAD
from faultwire.tape.format.blobs import MAX_BLOB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import VerifierKey

SUFFIX = ".jsonl"

_MAX_EVENT = 64 * 1024 * 1024
_MAX_LINE = MAX_BLOB * 4 // 3 + 4096
"""The longest body as base64, and what stands around it."""


def verify(path: Path, trusted: Sequence[VerifierKey] = (), *, demanded: bool = False) -> VerifyReport:
    """Check the lines at `path`, and their seals against the trusted keys.

    `demanded` says that there must be a seal. Raises TapeNotFound, or TapeError where it is no exported tape.
    """
    verifier = TapeVerifier([str(key) for key in trusted], demanded)
    with _opened(path) as file:
        if file.readline(len(HEAD)) != HEAD:
            raise TapeError(
                f"`{path}` does not begin with `{HEAD.decode().strip()}`, expected an exported tape",
                code="tape.unreadable",
                hint=f"`faultwire tape export NAME -o {path.name}` writes one",
            )
        for line in _lines(path, file):
            if verifier.line(line) > MAX_FINDINGS:
                break
    found = verifier.close()
    settings: dict[str, Any] = orjson.loads(found.settings or "{}")
    return VerifyReport(
        path,
        events=found.events,
        blobs=found.blobs,
        sessions=found.sessions,
        exchanges=found.exchanges,
        root=found.root,
        origin=found.origin or "",
        key=found.key,
        trusted=found.trusted,
        imported=settings.get("imported"),
        made_by=settings.get("made_by"),
        findings=[Finding(cast("Code", code), message, seq) for code, message, seq in found.findings],
    )


def _opened(path: Path) -> BinaryIO:
    """A regular file: a pipe would be waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise TapeNotFound(f"no exported tape at `{path}`") from error
    except OSError as error:
        raise TapeError(f"cannot read `{path}`: {error.strerror}", code="tape.unreadable") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise TapeError(f"`{path}` is not a file", code="tape.unreadable")
    return open(fd, "rb")


def _lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Only a body's line may be long."""
    while line := file.readline(_MAX_EVENT):
        if len(line) == _MAX_EVENT and not line.endswith(b"\n") and line.startswith(b'{"blob":'):
            line += file.readline(_MAX_LINE - _MAX_EVENT)
        if len(line) in (_MAX_EVENT, _MAX_LINE) and not line.endswith(b"\n"):
            raise TapeError(
                f"`{path}` has a line of {len(line)} bytes or more, expected a tape's event or body",
                code="tape.unreadable",
            )
        yield line
