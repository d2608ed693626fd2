"""The agents known in a session: those whose cards it has read, and the addresses that these state."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT = 256
"""Addresses that are remembered."""


@dataclass(slots=True)
class Peers:
    """Addresses of agents. A card is a stranger's word, so an address is no pattern, and only what nobody
    else knows is named by it."""

    names: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Whose an address is."""

    def __bool__(self) -> bool:
        return bool(self.names)

    def add(self, name: str, urls: Iterable[str]) -> None:
        """Remember an agent and where it is reached; the last one that claims an address has it."""
        for url in urls:
            base = _base(url)
            if base is None or not name:
                continue
            self.names[base] = name
            self.names.move_to_end(base)
            while len(self.names) > KEPT:
                self.names.popitem(last=False)

    def name(self, url: str) -> str | None:
        """The agent that a URL belongs to: the one with the longest address that it lies under."""
        asked = _base(url)
        if asked is None:
            return None
        under = [base for base in self.names if asked == base or asked.startswith(f"{base}/")]
        return self.names[max(under, key=len)] if under else None


def _base(url: str) -> str | None:
    """Scheme, host, port and path, without what differs in writing; None where it is no such URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    if port is None or not parts.hostname:
        return None
    return f"{parts.scheme}://{parts.hostname.rstrip('.')}:{port}{parts.path.rstrip('/')}"
