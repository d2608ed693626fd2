"""Keeps what variables hold out of messages."""

from __future__ import annotations

from faultwire.errors import printable

SHORT = 4
"""A value with fewer characters is not worth hiding, and would hide half of every message."""


class Hidden:
    """Hides what variables hold in messages: their name stands for it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def hide(self, value: str, name: str) -> None:
        """Never show this value."""
        if len(value) >= SHORT:
            self._names[printable(value)] = f"${{{name}}}"

    def mask(self, message: str) -> str:
        """The message with names in place of values, of one that was cut short as well."""
        for value in sorted(self._names, key=len, reverse=True):
            message = message.replace(value, self._names[value])
            message = self._cut(message, value)
        return message

    def _cut(self, message: str, value: str) -> str:
        before, mark, after = message.partition("…")
        if not mark:
            return message
        for size in range(min(len(value), len(before)), SHORT - 1, -1):
            if before.endswith(value[:size]):
                return f"{before[:-size]}{self._names[value]}…{after}"
        return message
