"""Why a payload does not stand where it should."""

from __future__ import annotations


class CannotCarry(Exception):
    """The text that carries a span has no way to write the payload that is to stand there."""
