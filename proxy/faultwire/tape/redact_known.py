"""Secrets that the pattern engine knows: keys of some 350 services, by shape or by the name before them."""

from __future__ import annotations

import re

from faultwire import _core
from faultwire.tape.redact_edit import MARK, Edit

_KINDS = ["secrets"]

_LEFT_ALONE = re.compile(r"[^\"\\\x00-\x1f\x7f]*[\"\\\x00-\x1f\x7f]|[-+.0-9eE]*\Z")
"""A value that breaks out of its JSON string if it is replaced in part, or is a number and needs quotes."""

_NEAR = 12
"""A placeholder so close before a hit, or in it, is what was hit."""

_NAME = 128
"""What tells a secret (its name, a word of its service) stands at most so far before it."""


def known_edits(text: str) -> list[Edit]:
    """Where they are in a text of any kind, without those that are placeholders already."""
    found: list[Edit] = []
    for _, name, _, _, start, end, _, _ in _core.scan_text(text, _KINDS, None, None):
        value = text[start:end]
        if not _LEFT_ALONE.match(value) and text.find(MARK, max(0, start - _NEAR), end) < 0:
            found.append(Edit(start, end, f"secret.{name}", value, lead=max(0, start - _NAME)))
    return found
