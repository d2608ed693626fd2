"""Scanning texts and streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from faultwire import _core
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Kind = Literal["pii", "secrets", "injection", "user", "dates", "urls"]
Severity = Literal["low", "medium", "high", "critical"]
KINDS: Final = ("pii", "secrets", "injection", "user", "dates", "urls")


@dataclass(frozen=True, slots=True)
class Hit:
    """One finding. The value itself is not kept: `masked` shows at most two characters at each end."""

    kind: Kind
    id: str
    category: str
    severity: Severity
    start: int
    """First character in the original text (first byte of the stream for `StreamScanner`)."""
    end: int
    score: float
    masked: str


class Entry(NamedTuple):
    """A built-in pattern, as `catalog` lists it."""

    kind: str
    id: str
    category: str
    severity: str
    locale: str
    source: str


def scan(
    text: str,
    *,
    kinds: Iterable[str] = (),
    locales: Iterable[str] | None = None,
    user: _core.UserPatterns | None = None,
    recall: bool = False,
) -> list[Hit]:
    """Everything found in `text`, best of overlapping hits, in order.

    `kinds`: any of `KINDS`; none means all but `dates` and `urls`, which are no findings by themselves.
    `locales`: country codes (`DE`, `pt-BR`); None means every country, with stricter rules for forms that
    many numbers have. `recall`: also takes numbers without a context word if a check rule or their form
    speaks for them. For what leaves the house; without it, for what is overwritten.
    """
    try:
        rows = _core.scan_text(text, _kinds(kinds), _locales(locales), user, recall)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return _hits(rows)


def secret_spans(data: bytes) -> list[tuple[int, int, str]]:
    """Start, end and id of every secret in `data`, in bytes: what the recorder's redactor asks."""
    return _core.secret_spans(data)


def catalog() -> list[Entry]:
    """Every built-in pattern."""
    return [Entry(*row) for row in _core.pattern_catalog()]


class StreamScanner:
    """Scans bytes that arrive in pieces; the hits do not depend on where the pieces are cut.

    Offsets are bytes from the start of the stream. A hit is given once it is final, at the latest by
    `finish`; at most 144 KiB are held back.
    """

    def __init__(
        self,
        *,
        kinds: Iterable[str] = (),
        locales: Iterable[str] | None = None,
        user: _core.UserPatterns | None = None,
        recall: bool = False,
    ) -> None:
        try:
            self._stream = _core.PatternStream(_kinds(kinds), _locales(locales), user, recall)
        except ValueError as error:
            raise UsageError(str(error)) from error

    def feed(self, chunk: bytes) -> list[Hit]:
        """Takes the next piece; gives the hits that are final now."""
        return _hits(self._stream.feed(chunk))

    def finish(self) -> list[Hit]:
        """Ends the stream; gives the rest."""
        return _hits(self._stream.finish())


def _kinds(kinds: Iterable[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _locales(locales: Iterable[str] | None) -> list[str] | None:
    if locales is None:
        return None
    return [locales] if isinstance(locales, str) else list(locales)


def _hits(rows: Sequence[tuple[str, str, str, str, int, int, float, str]]) -> list[Hit]:
    return [
        Hit(cast("Kind", kind), name, category, cast("Severity", severity), start, end, score, masked)
        for kind, name, category, severity, start, end, score, masked in rows
    ]
