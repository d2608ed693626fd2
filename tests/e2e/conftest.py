"""Which cases run by day: `@pytest.mark.by_day("anthropic")` leaves the others of a test to the night."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = any("::" in argument for argument in config.args)
    by_day: dict[tuple[str, tuple[str, ...]], int] = {}
    for item in items:
        marker = item.get_closest_marker("by_day")
        if marker is None:
            continue
        test = (item.nodeid.partition("[")[0], marker.args)
        kept = any(case in item.name.partition("[")[2] for case in marker.args)
        by_day[test] = by_day.get(test, 0) + kept
        if not kept:
            item.add_marker(pytest.mark.nightly)
    for (name, cases), count in by_day.items():
        if not count and not chosen:
            raise pytest.UsageError(f"{name}: found no case of {', '.join(cases)} to run by day")
