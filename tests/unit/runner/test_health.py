"""What a probe is answered: alive, and ready or why not."""

from __future__ import annotations

import pytest

from faultwire.runner.health import Condition, Health, answer

RUNNING = Condition(started=True)


@pytest.mark.parametrize(
    ("path", "condition", "expected"),
    [
        ("/healthz", Condition(), (200, "ok")),
        ("/readyz", Condition(), (503, "starting")),
        ("/healthz", RUNNING, (200, "ok")),
        ("/readyz", RUNNING, (200, "ok")),
        ("/healthz", Condition(True, ending=True), (200, "ok")),
        ("/readyz", Condition(True, ending=True), (503, "ending")),
        ("/healthz", Condition(True, silent="timed out"), (503, "the engine does not answer: timed out")),
        ("/readyz", Condition(True, silent="timed out"), (503, "the engine does not answer: timed out")),
        ("/healthz", Condition(True, refusing="disk full"), (200, "ok")),
        ("/readyz", Condition(True, refusing="disk full"), (503, "refuses traffic: disk full")),
    ],
)
def test_a_probe_is_answered_by_what_is_known(
    path: str, condition: Condition, expected: tuple[int, str]
) -> None:
    assert answer(path, condition) == expected


@pytest.mark.parametrize("path", ["/", "/healthz/", "/readyz2", "http://x/readyz", ""])
def test_another_path_is_none(path: str) -> None:
    assert answer(path, RUNNING)[0] == 404


def test_before_the_engine_is_there_nothing_is_asked() -> None:
    assert Health().condition() == Condition()
