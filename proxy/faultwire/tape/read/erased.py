"""Why a body that an event names is not on the tape: it was erased, or it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import TapeError, TapeIncomplete, TapeTampered

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from faultwire.tape.format.events import Event


def without_body(events: Iterable[Event], name: str, path: Path) -> TapeError:
    """The error for a body that is not there; whether an erasure is a right one, a verifier says."""
    if any(event["type"] == "erasure" and name in event["blobs"] for event in events):
        return TapeIncomplete(
            f"the body `{name}` was erased from tape `{path}`",
            code="tape.body_erased",
            hint=f"faultwire tape verify {path} says when, by whom and why",
        )
    return TapeTampered(f"tape `{path}` lacks blob `{name}`", code="tape.blob_missing")
