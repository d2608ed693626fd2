"""What is held on one engine now, and who decides about it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError, WireError
from faultwire.mitm.breakpoints.held import Held, client_waits
from faultwire.mitm.breakpoints.veil import Veil

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.events import Exchange
    from faultwire.mitm.breakpoints.held import Exchanging
    from faultwire.mitm.settings import DecisionSettings

ALIVE_S = 5.0
"""Seconds between two comments to a client that waits in a stream."""
DONE = {"answer": "answered by hand", "cut": "cut by hand", "retry": "told to be repeated"}


class Desk:
    """The holds of one engine. `find` gives an exchange under way by session and number, `note` writes a line
    to the tape, `redact` is what the user wants redacted besides secrets."""

    def __init__(
        self,
        find: Callable[[str, int], Exchanging | None],
        note: Callable[[str, str], None],
        now: Callable[[], float],
        redact: Mapping[str, object],
        alive_s: float = ALIVE_S,
    ) -> None:
        self.veil, self.now, self.alive_s = Veil(redact), now, alive_s
        self._find, self._note = find, note
        self._numbers = itertools.count(1)
        self._all: dict[str, Held] = {}

    def hold(
        self,
        breakpoint_: str,
        exchange: Exchange,
        at: str,
        shown: dict[str, Any],
        edits: tuple[str, ...],
        may: tuple[str, ...],
        apply: Callable[[DecisionSettings], str],
        alive: bool,
    ) -> Held:
        """An exchange waits from now on."""
        ident, now = f"h{next(self._numbers)}", self.now()
        waits = client_waits(exchange.request.headers)
        under_way = self._find(exchange.session, exchange.number)
        held = self._all[ident] = Held(
            ident, breakpoint_, exchange, at, shown, edits, may, apply, alive, now, now, waits, under_way
        )
        return held

    def listed(self) -> list[dict[str, Any]]:
        """What is held, the oldest first."""
        for held in list(self._all.values()):
            if held.gone:
                del self._all[held.ident]
        now = self.now()
        return [held.as_json(now) for held in self._all.values()]

    def look(self, ident: str) -> dict[str, Any]:
        """One hold with what is to be seen of it. Raises UsageError."""
        held = self._known(ident)
        return {**held.as_json(self.now()), "shown": held.shown}

    def decide(self, asked: DecisionSettings, by: str) -> dict[str, Any]:
        """Go on as asked. Raises UsageError, and then it stays held."""
        held = self._known(asked.held)
        if asked.do not in held.may:
            raise UsageError(
                f"found `{asked.do}` for what is held at the {held.at.replace('_', ' ')}, expected "
                f"{' or '.join(f'`{one}`' for one in held.may)}",
                code="control.decision",
            )
        try:
            words = held.apply(asked)
        except WireError as error:
            raise UsageError(f"the edit cannot be made: {error.message}", code="control.edit") from error
        edited = f"resumed with {words} edited" if words else "resumed as it was"
        self._end(held, asked.do, DONE.get(asked.do, edited), f" by {by}")
        return {"id": held.ident, "done": held.done}

    def let_go(self, held: Held, do: str, why: str) -> None:
        """Resume or cut it without anybody's decision."""
        done = "resumed as it was" if do == "resume" else "cut"
        self._end(held, do, f"{done}: {why}", "")

    def release(self, breakpoint_: str, do: str, why: str) -> None:
        """The same for all that one breakpoint holds."""
        for held in [one for one in self._all.values() if one.breakpoint == breakpoint_]:
            self.let_go(held, do, why)

    def _end(self, held: Held, do: str, done: str, by: str) -> None:
        self._all.pop(held.ident, None)
        held.do, held.done = do, done
        exchange = held.exchange
        place = f"exchange {exchange.number} of `{exchange.session}`"
        self._note(
            "control.decided", f"{held.breakpoint}: {place} was held at the {held.at}, then {done}{by}"
        )
        if held.under_way is not None and held.under_way.pause is not None:
            held.under_way.pause.end()

    def _known(self, ident: str) -> Held:
        held = self._all.get(ident)
        if held is None or held.gone:
            raise UsageError(
                f"found nothing held as `{ident}`", code="control.not_held",
                hint="it was decided on, or its client has left; `faultwire control held` lists what is",
            )  # fmt: skip
        return held
