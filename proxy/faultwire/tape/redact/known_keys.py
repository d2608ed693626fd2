"""Secrets that the pattern engine knows: keys of some 350 services, by shape or by the name before them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.redact.edit import MARK, Edit

if TYPE_CHECKING:
    from collections.abc import Iterable

_KINDS = ["secrets"]

_BY_SHAPE = 0.9
"""What the engine is so sure of, it knows by its own shape; the rest by a name before it."""

_LEFT_ALONE = re.compile(r"[^\"\\\x00-\x1f\x7f]*[\"\\\x00-\x1f\x7f]|[-+.0-9eE]*\Z")
"""A value that breaks out of its JSON string if it is replaced in part, or is a number and needs quotes."""

_NEAR = 12
"""A placeholder so close before a hit, or in it, is what was hit."""

_NAME = 128
"""What tells a secret (its name, a word of its service) stands at most so far before it."""


def known_edits(text: str) -> list[Edit]:
    """Where they are in a text of any kind, without those that are placeholders already."""
    spans = _spans(text)
    return _edits(text, spans) if spans else []


def shaped_edits(text: str) -> list[Edit]:
    """The same for those that need no name before them."""
    rows = _core.scan_text(text, _KINDS, None, None)
    return _edits(
        text, [(start, end, name) for _, name, _, _, start, end, sure, _ in rows if sure > _BY_SHAPE]
    )


def _spans(text: str) -> list[tuple[int, int, str]]:
    try:
        return _core.secret_spans(text.encode("latin-1"))
    except UnicodeEncodeError:
        rows = _core.scan_text(text, _KINDS, None, None)
        return [(start, end, name) for _, name, _, _, start, end, _, _ in rows]


def _edits(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Edit]:
    found: list[Edit] = []
    for start, end, name in spans:
        value = text[start:end]
        if not _LEFT_ALONE.match(value) and text.find(MARK, max(0, start - _NEAR), end) < 0:
            found.append(Edit(start, end, f"secret.{name}", value, lead=max(0, start - _NAME)))
    return found
