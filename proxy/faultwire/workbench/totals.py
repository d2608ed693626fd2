"""What the exchanges of a tape come to: counts, tokens and cost, kept up to date as they come."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Totals:
    """Sums over all exchanges. Fed by one thread."""

    def __init__(self) -> None:
        self.exchanges = self.read = self.fired = self.tokens_in = self.tokens_out = self.unknown = 0
        self.cost = Decimal(0)
        self._fired: dict[int, int] = {}
        """Of each exchange under way the faults that have fired."""

    def take(self, row: Mapping[str, Any], *, new: bool) -> None:
        """A row as the events say it, on its first coming and whenever it changes."""
        at, fired = row["at"], len(row["fired"])
        self.exchanges += new
        self.fired += fired - self._fired.pop(at, 0)
        if row["ending"] == "open":
            self._fired[at] = fired

    def content(self, row: Mapping[str, Any]) -> None:
        """A row whose bodies were read. An answer that is fetched again is paid for once."""
        self.read += 1
        if row.get("counted_elsewhere"):
            return
        self.tokens_in += row.get("tokens_in") or 0
        self.tokens_out += row.get("tokens_out") or 0
        self.cost += Decimal(row.get("cost_usd") or 0)
        self.unknown += bool(row.get("cost_unknown"))

    def dump(self) -> dict[str, Any]:
        """As the page shows them. `unread` counts exchanges whose bodies were not read yet."""
        return {
            "exchanges": self.exchanges,
            "unread": self.exchanges - self.read,
            "fired": self.fired,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": format(self.cost, "f"),
            "cost_unknown": self.unknown,
        }
