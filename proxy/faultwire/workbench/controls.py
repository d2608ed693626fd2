"""What the page controls on a running engine: breakpoints, what they hold, and faults armed by hand.

All that the page has set lives on one connection to the engine's control socket. When no page is open any
more, the connection is closed, and the engine does with what is held as it was told at the start.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.engine.control_client import ControlClient
from faultwire.report.text import line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POLL_S = 0.2
"""Seconds between two looks at the engine while a page is open; a call that is held is shown within them."""
LEASE_S = 10.0
GONE_S = 4.0
"""Seconds without a page (a reload takes less) after which it counts as left."""
_WORDS = ("session", "model", "tool", "provider", "kind", "protocol")


class Controls:
    """The engine at a control socket. `listener` is called after every change."""

    def __init__(self, control: Path, on_gone: str = "resume") -> None:
        self._path, self._on_gone = control, on_gone
        self._client = ControlClient.at(control)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="controls", daemon=True)
        self._pages, self._acting, self._last_page = 0, 0, clock.monotonic()
        self._own = False
        self.listener: Callable[[], None] = lambda: None
        self.now: dict[str, Any] = {"engine": "unknown", "held": [], "interventions": [], "lost": 0}
        """What the engine said last. `lost` counts what was held when it ended."""
        self.revision = 0

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Let the engine go, and with it all that was set here."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._client.close()

    def page(self, step: int, *, acts: bool = True) -> None:
        """A page was opened (1) or left (-1). One that only reads keeps nothing that was set."""
        with self._lock:
            self._pages += step
            if acts:
                self._acting += step
                self._last_page = clock.monotonic()

    # ------------------------------------------------------------ what the page asks for

    def ask(self, **message: Any) -> dict[str, Any]:
        """An answer of the engine. Raises its error, UsageError where it is gone."""
        with self._lock:
            try:
                reply = self._client.ask(message)
            except OSError:
                raise UsageError(
                    "the engine has ended, and nothing can be held or armed any more",
                    code="control.ended",
                    hint="what was held has got a closed connection",
                ) from None
        if "error" in reply:
            found = reply["error"]
            kind = UsageError if found["exit_code"] == UsageError.exit_code else FaultwireError
            raise kind(found["message"], code=found["code"], hint=found["hint"])
        return reply

    def hold(self, **message: Any) -> dict[str, Any]:
        """Set or arm something that lives as long as a page is open."""
        self._own = True
        return self.ask(lease_s=LEASE_S, **message)

    def set_break(self, **message: Any) -> dict[str, Any]:
        """Set a breakpoint."""
        return self.hold(op="break", on_gone=self._on_gone, **message)

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        while not self._stop.wait(POLL_S):
            if not (self._pages or self._own) or self.now["engine"] == "ended":
                continue
            if self._own and not self._acting and clock.monotonic() - self._last_page > GONE_S:
                self._leave()
                continue
            self._look()

    def _leave(self) -> None:
        """No page is left: the engine hears of it by the end of the connection."""
        with self._lock:
            self._client.close()
            self._client = ControlClient.at(self._path)
            self._own = False

    def _look(self) -> None:
        try:
            found = self.ask(op="held")
        except UsageError:
            now = {**self.now, "engine": "ended", "held": [], "lost": len(self.now["held"])}
        except FaultwireError:
            return  # an engine that failed to answer once is asked again
        else:
            now = {
                "engine": "running",
                "lost": 0,
                "held": [_inert(one) for one in found["held"]],
                "interventions": [_inert(one) for one in found["interventions"]],
            }
        changed = _lasting(now) != _lasting(self.now)
        self.now = now
        if changed:
            self.revision += 1
            self.listener()


def _inert(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, **{name: line(one[name]) for name in _WORDS if isinstance(one.get(name), str)}}


def _lasting(now: dict[str, Any]) -> Any:
    """What does not change by itself as time passes; that a client was kept waiting is a change."""
    held = [(one["id"], round((one["client_left_s"] or 0) + one["held_s"], 0)) for one in now["held"]]
    armed = [(one["id"], one["state"], one["fired"], one["touched"]) for one in now["interventions"]]
    return now["engine"], held, armed
