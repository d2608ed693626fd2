"""Checks the seals of a tape. Every finding is reported; nothing stops at the first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.tape.evidence import signed_note
from faultwire.tape.evidence.checkpoint import Checkpoint, note_digest
from faultwire.tape.evidence.sealer import file_digest, seal_path
from faultwire.tape.format import hash_chain
from faultwire.tape.format.small_file import small_file
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import VerifierKey
    from faultwire.tape.format.events import Event


_MEMBERS = {"type", "seq", "prev", "size", "root", "note", "key"}
"""What a seal says. No later event's hash covers the last one, so it has one form only: these, and a note
with one signature, by the key that it names."""

MOST_NAMED = 3
"""Of more trusted keys than this, a finding names no more."""


@dataclass(slots=True)
class SealChecker:
    """Follows the seals through a log and remembers the last one."""

    find: Callable[..., None]
    """Gets a code, a message, and the event that they are about, where there is one."""
    trusted: Sequence[VerifierKey]
    demanded: bool
    """A key was named: a tape that it did not seal does not verify."""
    origin: str = ""
    _seen: bool = False
    """Is there any seal?"""
    _previous: str | None = None
    _last: tuple[Checkpoint, VerifierKey] | None = None
    """What the last seal signs and with which key, if it is what it says."""

    def event(self, seq: int, event: Event, root: bytes) -> None:
        """A seal event over a tree of `seq` events with this root."""
        self._seen = True
        self._last = None
        previous, self._previous = self._previous, note_digest(event["note"])
        try:
            found = signed_note.parse(event["note"])
            checkpoint = Checkpoint.parse(found.text)
        except signed_note.NoteError as error:
            return self.find("seal_invalid", f"the seal at event {seq} is malformed: {error}", seq)
        if set(event) != _MEMBERS or len(found.signatures) != 1:
            return self.find("seal_invalid", f"the seal at event {seq} has other parts than a seal", seq)
        stated = (checkpoint.origin, checkpoint.size, checkpoint.root, checkpoint.previous, checkpoint.file)
        same = stated == (self.origin, seq, root, previous, None)
        if not same or not hash_chain.is_number(event["size"], seq) or event["root"] != root.hex():
            return self.find("seal_invalid", f"the seal at event {seq} signs another log than this", seq)
        key = self._signer(found, event["key"], seq)
        if key is not None:
            self._last = checkpoint, key
        return None

    @property
    def last(self) -> int | None:
        """The event of the last seal, if that is what it says: a seal signs all events before it."""
        return self._last[0].size if self._last else None

    @property
    def key(self) -> VerifierKey | None:
        """The key that made the last seal."""
        return self._last[1] if self._last else None

    @property
    def is_trusted(self) -> bool:
        """Was the last seal made by a key that is trusted?"""
        return self.key in self.trusted

    def _signer(self, found: signed_note.Note, hint: str, seq: int) -> VerifierKey | None:
        """The trusted key that signed, or at least the one that the seal names; says what it is not."""
        trusted = next((key for key in self.trusted if found.signed_by(key)), None)
        try:
            named = trusted or signed_note.VerifierKey.parse(hint)
        except signed_note.NoteError as error:
            self.find("seal_invalid", f"the seal at event {seq} names no key: {error}", seq)
            return None
        if hint != str(named) or not found.signed_by(named):
            message = f"the seal at event {seq} is not signed by the key that it names"
            self.find("seal_invalid", message, seq)
            return None
        if trusted:
            return trusted
        message = f"the seal at event {seq} is signed by `{named}`, expected {self._expected()}"
        self.find("seal_untrusted", message, seq)
        return named

    def _expected(self) -> str:
        """The keys that a seal may be signed by, a few of them."""
        if not self.trusted:
            return "a trusted key, and none is trusted here"
        named = " or ".join(f"`{key}`" for key in self.trusted[:MOST_NAMED])
        count = len(self.trusted)
        return f"{named} or another of {count} trusted keys" if count > MOST_NAMED else named

    def close(self, path: Path, events: int) -> None:
        """The findings that are known once all events are read."""
        if not self._seen:
            code = "seal_required" if self.demanded else "seal_missing"
            self.find(code, "the tape has no seal")
            if not os.path.lexists(seal_path(path)):
                return
        elif self.last is not None and self.last != events - 1:
            code = "seal_required" if self.demanded else "tail_unsealed"
            self.find(code, f"the events after event {self.last} are under no seal")
        self._file(path)

    def _file(self, path: Path) -> None:
        place = seal_path(path)
        if not os.path.lexists(place):
            return self.find("file_unsealed", f"there is no `{place.name}` beside the tape")
        try:
            found = signed_note.parse(small_file(place, signed_note.MAX_SIZE).decode())
            checkpoint = Checkpoint.parse(found.text)
        except OSError as error:
            return self.find("seal_invalid", f"`{place.name}` cannot be read: {error.strerror}")
        except (signed_note.NoteError, UnicodeDecodeError) as error:
            return self.find("seal_invalid", f"`{place.name}` is malformed: {error}")
        if not self._seen:
            sealed = counted(checkpoint.size, "event")
            message = f"`{place.name}` seals {sealed}, expected a seal on the tape as well"
            return self.find("seal_invalid", message)
        if self._last is None:
            return None  # the tape's own seal is in question already
        inner, key = self._last
        if checkpoint.file is None:
            return self.find("seal_invalid", f"`{place.name}` seals no file")
        if (checkpoint.origin, checkpoint.size, checkpoint.root) != (inner.origin, inner.size, inner.root):
            return self.find("seal_invalid", f"`{place.name}` belongs to another tape")
        if not found.signed_by(key):
            signers = ", ".join(f"`{name}`" for name in found.signers)
            message = f"`{place.name}` is signed by {signers}, expected a signature of `{key}` like the tape"
            return self.find("seal_invalid", message)
        if file_digest(path) != checkpoint.file:
            self.find("file_mismatch", f"the file is not the one that `{place.name}` seals")
        return None
