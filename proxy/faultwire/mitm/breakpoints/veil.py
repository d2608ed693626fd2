"""What of an exchange may be seen while it is held: what its tape would say, secrets replaced.

An edit is made in what is seen. Where a placeholder is left in it, the secret comes back before it goes out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from faultwire.events import header
from faultwire.tape.record.body import Body
from faultwire.tape.redact.redactor import Redactor, fresh_key
from faultwire.tape.redact.rules import read_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.events import Headers
    from faultwire.tape.redact.redactor import Counts

KEPT = 4096
"""Secrets that are remembered, to be put back."""


class _Remembering(Redactor):
    """Knows what its placeholders stand for, in memory only."""

    def __init__(self, section: Mapping[str, object]) -> None:
        super().__init__(fresh_key(), read_rules(dict(section)) if section else None)
        self.originals: dict[str, str] = {}

    def placeholder(self, what: str, value: str, counts: Counts) -> str:
        found = super().placeholder(what, value, counts)
        if found != value:
            while len(self.originals) >= KEPT:
                del self.originals[next(iter(self.originals))]
            self.originals[found] = value
        return found


class Veil:
    """Replaces secrets, and puts them back. `section` is what the user wants redacted besides."""

    def __init__(self, section: Mapping[str, object]) -> None:
        self._redactor = _Remembering(section)

    def headers(self, headers: Headers) -> list[list[str]]:
        """Header fields."""
        return [[name, value] for name, value in self._redactor.head(headers, {}).headers]

    def path(self, path: str, host: str) -> str:
        """A request's path."""
        return self._redactor.path(path, {}, host)

    def text(self, text: str) -> str:
        """A text by itself."""
        return self._redactor.error(text, {})

    def body(self, data: bytes, headers: Headers) -> str | None:
        """A body, None where it cannot be shown as text: it is packed, or no UTF-8."""
        if header(headers, "content-encoding") not in (None, "identity"):
            return None
        body = Body(self._redactor, self._redactor.head(headers, {}), {})
        body.add(((0, data),))
        try:
            return b"".join(piece for piece, _ in body.pieces(final=True)).decode()
        except UnicodeDecodeError:
            return None

    def restored(self, text: str, *, in_json: bool = False) -> str:
        """The text with each secret in the place of its placeholder."""
        for mark, secret in self._redactor.originals.items():
            if mark in text:
                text = text.replace(mark, json.dumps(secret)[1:-1] if in_json else secret)
        return text
