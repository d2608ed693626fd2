"""`faultwire proxy --engines`: how many, what does not go with several, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.runner.started_run import Run

_ALONE = {
    "replay": "--replay",
    "ui": "--ui",
    "redirected": "--redirected",
    "packets": "--capture tun or wireguard",
    "control_sessions": "--control-sessions",
    "control_share": "--control-share",
    "control_calls": "--control-calls",
}
"""Options of which one engine must know everything, by their parameters' names."""


def count_of(engines: int | str, given: Mapping[str, Any]) -> int:
    """How many engines to start. Raises UsageError beside options that know one."""
    from faultwire.cli._engine_options import AUTO, MOST
    from faultwire.runner.several_engines import engine_count, usable_cores

    if engines == 1:
        return 1
    for name, option in _ALONE.items():
        if given.get(name):
            raise UsageError(
                f"found --engines with {option}, expected one of them",
                code="usage.engines",
                hint=f"leave --engines out: {option} needs one engine",
            )
    return engine_count(AUTO if engines == AUTO else engines, MOST, usable_cores())


class LostEngines:
    """Says of each engine of several once that it has ended by itself."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reported: set[int] = set()

    def look(self) -> list[str]:
        """What is new. Raises FaultwireError where no engine is left."""
        engines = self._run.engines
        lost = engines.lost()
        if not engines.alive:
            if lost is not None:
                raise lost
            self._run.engine.stats()  # the only one: says how it ended
        gone = [number for number in engines.ended if number not in self._reported]
        self._reported.update(gone)
        count = len(engines.engines)
        return [
            f"WARNING: engine {number} of {count} ended with code `{engines.engines[number - 1].exit_code}`: "
            "its sessions get a 503, the other engines go on, and the run is inconclusive (exit 3)"
            for number in gone
        ]
