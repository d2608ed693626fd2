"""A scenario in a report: its profile, and what came of each of its entries."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from faultwire.report.text import clip
from faultwire.report.unfired import NOT_FINISHED, unfired

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.contract.cells import Scenario
    from faultwire.events import History


def scenario_part(
    scenario: Scenario, histories: Sequence[History], redact: Callable[[str], str]
) -> dict[str, Any]:
    """A scenario with its entries. Of each, over the whole traffic of its invocations: how often it fired, in
    how many of them, and, if it never did, why."""
    profile = scenario.profile
    why = unfired((entry.id for entry in profile.entries), (e for h in histories for e in h.exchanges))
    if not histories:
        why = {entry: [NOT_FINISHED] for entry in why}
    times, places = _fired(histories)
    return {
        "name": scenario.name,
        "profile": profile.name,
        "description": profile.description,
        "digest": profile.digest,
        "entries": [
            {
                "id": entry.id,
                "fault": entry.fault.name,
                "site": entry.fault.site,
                "settings": entry.settings,
                "on": entry.on.model_dump(mode="json", exclude_defaults=True),
                "trigger": entry.trigger.model_dump(mode="json", exclude_defaults=True),
                "outcome": {
                    "fired": times[entry.id],
                    "invocations": places[entry.id],
                    "unfired": [clip(redact(reason), 500) for reason in why.get(entry.id, ())],
                },
            }
            for entry in profile.entries
        ],
    }


def _fired(histories: Sequence[History]) -> tuple[Counter[str], Counter[str]]:
    """How often each entry fired, and in how many invocations."""
    times: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for history in histories:
        found = Counter(
            fault.id
            for exchange in history.exchanges
            for fault in exchange.faults
            if fault.outcome == "fired"
        )
        times.update(found)
        places.update(found.keys())
    return times, places
