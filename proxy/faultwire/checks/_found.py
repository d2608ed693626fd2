"""What a scan for personal data or secrets found, in words that do not repeat it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.checks._transcripts import texts
from faultwire.patterns import scan, secret_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Recorded
    from faultwire.patterns import Hit

MARK = "redacted:v1:"
"""How the tape marks a secret that it took out of what was sent."""
_MARK = MARK.encode()


def counted(ids: Iterable[str]) -> str:
    """For example `2 email, 1 iban`."""
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(ids).items()))


def secrets(text: str) -> list[str]:
    """The ids of the secrets in a text, those among them that the tape took out."""
    found = ["redacted secret"] * text.count(MARK)
    return found + [hit.id for hit in scan(text, kinds=("secrets",)) if not _is_mark(hit, text)]


def secrets_sent(exchange: Recorded) -> list[str]:
    """The same of a request's body."""
    body = exchange.request.body or b""
    # Plain bodies, as nearly all are, need not be made texts to see that there is nothing in them.
    if body.isascii() and _MARK not in body and not secret_spans(body):
        return []
    return secrets(texts(exchange))


def _is_mark(hit: Hit, text: str) -> bool:
    return MARK in text[max(0, hit.start - len(MARK)) : hit.end]


class ByPath(dict[str, list[str]]):
    """What is found in paths, of which a history has few, and those again and again."""

    def __init__(self, find: Callable[[str], list[str]]) -> None:
        self._find = find

    def __missing__(self, path: str) -> list[str]:
        return self.setdefault(path, self._find(path))
