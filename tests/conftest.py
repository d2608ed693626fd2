"""For all tests: signals as in a program that a user starts.

A runner that was started in the background, or with `nohup`, hands down ignored signals, and what is
ignored at its start no shell can trap: tests about signals would then wait for ever.

What was collected stays until the end: every full garbage collection would walk over twelve thousand tests
again, 0.8 s each, and some libraries ask for one in every call.

`@pytest.mark.by_day("anthropic")` names the cases of a test that run by day, by a part of their ids; the
others are left to the night.

`.ci/wheel.py` can have faultwire started by servers that have imported it. A start, an end, a process tree, a
memory or a user that a test is about is real: `@pytest.mark.cold`, or a line of `COLD`.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

os.environ.pop("COLUMNS", None)  # xdist sets it for its workers; what is tested here writes into pipes
os.unsetenv("COLUMNS")  # pytest loads readline, which sets it behind the back of `os.environ`

COLD = {
    "attacks/": "deaths, process trees, memory, other users, hostile folders",
    "demo/test_demo.py": "what an interrupted demo leaves",
    "engine/test_failures.py": "memory, deaths",
    "engine/test_http2_floods.py": "memory",
    "engine/test_life.py": "the engine's start and end",
    "engine/test_no_memory.py": "memory",
    "engine/test_starting.py": "the engine's start",
    "engine/test_uploads.py": "memory",
    "exec/test_determinism.py": "two runs that must not share a seed",
    "mock/test_mock.py": "the mock's start and end",
    "netns/": "namespaces and marks of processes",
    "play/test_on.py": "workers that are killed",
    "play/test_on_dask.py": "workers and schedulers that are killed",
    "play/test_on_kube.py": "pods that are killed",
    "run_agents/test_process_tables.py": "/proc",
    "run_agents/test_shared.py": "servers that end",
    "soak/": "memory, deaths",
    "store/": "servers and uploads that are killed",
    "tape/test_full_disk.py": "limits of a process",
    "tape/test_kill.py": "deaths",
    "tape/test_long_session.py": "memory",
}
"""Of `tests/e2e`: what is about processes themselves."""
E2E = Path(__file__).parent / "e2e"

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
    for item in items:
        if item.path.is_relative_to(E2E) and item.path.relative_to(E2E).as_posix().startswith(tuple(COLD)):
            item.add_marker(pytest.mark.cold)
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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = os.environ.get("COLD_START")
    if item.get_closest_marker("cold"):
        os.environ["COLD_START"] = "1"
    try:
        return (yield)
    finally:
        if before is None:
            os.environ.pop("COLD_START", None)
        else:
            os.environ["COLD_START"] = before
