"""Secrets that the pattern engine knows: keys of some 350 services, by shape or by the name before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.redact.edit import edits_of

if TYPE_CHECKING:
    from faultwire.tape.redact.edit import Edit


def known_edits(text: str) -> list[Edit]:
    """Where they are in a text of any kind, without those that are placeholders already."""
    return edits_of(_core.known_edits(text, "all"))


def shaped_edits(text: str) -> list[Edit]:
    """The same for those that need no name before them."""
    return edits_of(_core.known_edits(text, "shaped"))
