"""What a run has come to so far: drawn anew on a terminal, else a line now and then.

Only counts are shown, no text of the agent or the network.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from faultwire import clock
from faultwire.checks._transcripts import charged, models
from faultwire.text import folded, safe, width_of
from faultwire.wire.transcript.prices import dated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO

    from rich.console import RenderableType

    from faultwire.contract.cells import Cell, Invocation
    from faultwire.events import History

EVERY_S = 10.0
"""Seconds between two plain lines."""
PER_SECOND = 4
"""How often a terminal is drawn anew."""
LEAST_SHOWN = Decimal("0.0001")
"""Dollars below which a cost would be shown as nothing."""
WARM = 2
"""After how many invocations the remaining time is estimated."""


class Progress:
    """Counts of a run. All methods may be called from any thread."""

    def __init__(
        self, total: int, say: Callable[[str], None] | None, now: Callable[[], float] = clock.monotonic
    ) -> None:
        self._lock = threading.Lock()
        self._say, self._now = say, now
        self._begin = self._reported_at = now()
        self._reported_done = 0
        self.total, self.done, self.fired, self.tokens = total, 0, 0, 0
        self.void = 0
        self.cost = Decimal(0)
        self.unpriced = self.uncounted = 0
        self.price_days: set[str] = set()
        self.verdicts: Counter[str] = Counter()

    def played(self, invocation: Invocation, history: History) -> None:
        """An invocation is over."""
        fired, spent = len(history.fired), _spent(history)
        with self._lock:
            self.done += 1
            self.fired += fired
            self.void += bool(history.voids)
            self.tokens += spent.tokens
            self.cost += spent.cost
            self.unpriced += spent.unpriced
            self.uncounted += spent.uncounted
            self.price_days |= spent.days
            line = self._due()
        if line is not None and self._say is not None:
            self._say(line)

    def judged(self, cells: Iterable[Cell]) -> None:
        """Cells have their verdicts."""
        found = Counter(cell.verdict.verdict for cell in cells)
        with self._lock:
            self.verdicts.update(found)

    def more(self, invocations: int) -> None:
        """There is more to do than was known."""
        with self._lock:
            self.total += invocations

    def words(self) -> tuple[str, ...]:
        """What is known, part by part; the first is how far it is."""
        with self._lock:
            return self._words()

    def _words(self) -> tuple[str, ...]:
        verdict_counts = (f"{self.verdicts[verdict]} {verdict}" for verdict in ("pass", "fail", "unknown"))
        parts = [f"{self.done:,} of {self.total:,} invocation{'s' * (self.total != 1)}"]
        if self.verdicts.total():
            parts.append(f"cells so far {', '.join(verdict_counts)}")
        parts.append(f"{self.fired:,} fault{'s' * (self.fired != 1)} fired")
        if self.void:
            parts.append(f"{self.void} inconclusive")
        if self.tokens:
            parts.append(_tokens(self.tokens, whole=not self.uncounted))
        if self.price_days:
            unknown = f" + {self.unpriced:,} unknown" if self.unpriced else ""
            parts.append(f"{_dollars(self.cost)}{unknown} ({dated(self.price_days)})")
        elif self.unpriced:
            parts.append("cost unknown")
        left = self.left_s()
        if left is not None:
            parts.append(f"about {_spell(left)} left")
        return tuple(parts)

    def left_s(self) -> float | None:
        """Seconds that the rest will take at the speed so far; None while that is not known."""
        if self.done < min(WARM, self.total) or self.done >= self.total:
            return None
        return (self._now() - self._begin) / self.done * (self.total - self.done)

    def _due(self) -> str | None:
        """A line to say, where it is time for one: the last, each tenth, and not twice in a while."""
        tenth = self.done * 10 // max(1, self.total) > self._reported_done * 10 // max(1, self.total)
        late = self._now() - self._reported_at >= EVERY_S
        if self.done < self.total and not late and not (tenth and self.total >= 20):
            return None
        self._reported_at, self._reported_done = self._now(), self.done
        return "  " + " · ".join(self._words())


@contextmanager
def progress(
    total: int,
    stream: IO[str],
    *,
    live: bool,
    now: Callable[[], float] = clock.monotonic,
) -> Iterator[Progress]:
    """Show a run of so many invocations on `stream` while the block lasts.

    `live` draws on a terminal and takes the drawing away at the end; else lines are written, and the last
    one stays.
    """
    if not live:
        yield Progress(total, lambda line: _write(stream, line), now)
        return
    from rich.console import Console
    from rich.live import Live

    shown = Progress(total, None, now)
    console = Console(file=stream, highlight=False, markup=False, emoji=False, force_terminal=True)
    with Live(
        get_renderable=lambda: _drawn(shown, _plain(stream)),
        console=console,
        refresh_per_second=PER_SECOND,
        transient=True,
    ):
        yield shown


def _drawn(shown: Progress, plain: bool) -> RenderableType:
    """Two lines: a bar with how far it is, and what was found."""
    from rich.text import Text

    first, *rest = shown.words()
    if plain:
        return Text("  " + " - ".join((first, *rest)), overflow="crop", no_wrap=True)
    filled = 28 * shown.done // max(1, shown.total)
    text = Text("  ", overflow="ellipsis", no_wrap=True)
    text.append("━" * filled, style="magenta").append("━" * (28 - filled), style="dim")
    text.append(f"  {first}\n  ")
    return text.append(" · ".join(rest), style="dim")


def _write(stream: IO[str], line: str) -> None:
    if _plain(stream):
        line = line.replace("·", "-")
    stream.write(folded(safe(line), width_of(stream)) + "\n")
    stream.flush()


def _plain(stream: IO[str]) -> bool:
    """Does the stream know less than Unicode?"""
    return not (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


class _Spent(NamedTuple):
    """Tokens that providers counted and their cost at prices of those days; `unpriced` answers have a cost
    that is not known, `uncounted` ones no count of tokens."""

    tokens: int
    cost: Decimal
    unpriced: int
    uncounted: int
    days: set[str]


def _spent(history: History) -> _Spent:
    tokens, cost, unpriced, uncounted = 0, Decimal(0), 0, 0
    days: set[str] = set()
    for exchange, transcript in models(history):
        usage = charged(history, exchange)
        tokens += usage.input_tokens + usage.output_tokens if usage is not None else 0
        if exchange.upstream is None or exchange.upstream.status >= 300:
            continue
        uncounted += usage is None
        if transcript.cost is None:
            unpriced += 1
        else:
            cost += transcript.cost
        if transcript.prices_as_of is not None:
            days.add(transcript.prices_as_of)
    return _Spent(tokens, cost, unpriced, uncounted, days)


def _tokens(count: int, *, whole: bool) -> str:
    if whole:
        return f"{_short(count)} token{'s' * (count != 1)}"
    return f"at least {_short(count)} token{'s' * (count != 1)}"


def _dollars(cost: Decimal) -> str:
    if 0 < cost < LEAST_SHOWN:
        return f"under ${LEAST_SHOWN}"
    return f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"


def _short(count: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


def _spell(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s" if minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"
