"""For all tests: signals as in a program that a user starts.

A runner that was started in the background, or with `nohup`, hands down ignored signals, and what is
ignored at its start no shell can trap: tests about signals would then wait for ever.

What was collected stays until the end: every full garbage collection would walk over twelve thousand tests
again, 0.8 s each, and some libraries ask for one in every call.

`@pytest.mark.by_day("anthropic")` names the cases of a test that run by day, by a part of their ids; the
others are left to the night.
"""

from __future__ import annotations

import gc
import signal

import pytest

for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


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
