"""Issues a certificate of a run."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from pydantic import ValidationError

from faultwire import clock
from faultwire._core import __version__
from faultwire.certificate import dsse, shape
from faultwire.certificate.evidence import found
from faultwire.certificate.statement import statement
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.certificate.keys import Signer
    from faultwire.certificate.submission import WitnessedLog
    from faultwire.tape.evidence.signed_note import VerifierKey


def issue(
    folder: Path, signer: Signer, trusted: Sequence[VerifierKey], into: WitnessedLog | None = None
) -> dsse.Envelope:
    """The certificate of the run in a folder, whatever its verdict; with the proof of a log that witnesses
    cosigned. Raises UsageError, TapeError, and FaultwireError where a witness does not cosign."""
    run = found(folder, trusted)
    log = None if into is None else str(into.log.key)
    try:
        made = statement(run.about, run.reports, run.evidence, tool(), clock.iso(clock.wall_ms()), log)
    except (ValidationError, KeyError, TypeError) as error:
        what = error.errors()[0]["loc"] if isinstance(error, ValidationError) else error
        raise UsageError(
            f"`{folder}` is not as a run of this version leaves it: {what}", code="certificate.run"
        ) from error
    payload = made.model_dump_json(by_alias=True).encode()
    unsigned = dsse.Envelope(payload, ())
    signature = dsse.Signature(signer.verifier.keyid, signer.sign(unsigned.signed_bytes))
    proof = None if into is None else into.prove(unsigned.signed_bytes)
    return dsse.Envelope(payload, (signature,), proof=proof)


def tool() -> shape.Tool:
    """This program and what it stands on."""
    return shape.Tool(
        name="faultwire",
        version=__version__,
        python=".".join(map(str, sys.version_info[:3])),
        mitmproxy=version("mitmproxy"),
        platform=platform.platform(),
    )
