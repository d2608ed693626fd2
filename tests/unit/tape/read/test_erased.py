"""A body that is not there was erased, or is missing: the error says which."""

from __future__ import annotations

from pathlib import Path

from faultwire.errors import TapeIncomplete, TapeTampered
from faultwire.tape.read.erased import without_body

NAME = "sha256:" + "a" * 64
TAPE = Path("run.tape")


def test_what_an_event_says_was_erased_is_incomplete_and_not_tampered() -> None:
    events = [{"type": "exchange"}, {"type": "erasure", "blobs": [NAME]}]
    found = without_body(events, NAME, TAPE)  # type: ignore[arg-type]
    assert isinstance(found, TapeIncomplete)
    assert found.code == "tape.body_erased"
    assert "faultwire tape verify run.tape" in (found.hint or "")


def test_what_no_event_says_was_erased_is_missing() -> None:
    other = [{"type": "erasure", "blobs": ["sha256:" + "b" * 64]}]
    for events in ([], other):
        found = without_body(events, NAME, TAPE)  # type: ignore[arg-type]
        assert isinstance(found, TapeTampered)
        assert found.code == "tape.blob_missing"
