"""How many connections one source may have."""

from __future__ import annotations

import logging

import pytest

from faultwire.mitm.sessions.sources import SOURCES_KEPT, Sources


def test_a_source_that_has_too_many_is_refused_and_others_are_not(caplog: pytest.LogCaptureFixture) -> None:
    sources = Sources(2)
    ours, theirs = ("127.0.0.1", 1000), ("127.0.0.1", 1001)
    assert [sources.enter(ours) for _ in range(4)] == [True, True, False, False]
    assert sources.enter(theirs)
    sources.leave(ours)
    assert sources.enter(ours)
    assert not sources.enter(ours)
    assert list(sources.notes) == [
        "3 connections of user 1000 at `127.0.0.1` over the limit of 2 at once went unserved (503)"
    ]
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert lines == ["user 1000 at `127.0.0.1` has 2 connections, and may have no more"]


def test_what_is_kept_of_sources_is_bounded_and_given_back() -> None:
    sources = Sources(1)
    for number in range(2 * SOURCES_KEPT):
        source = (f"10.0.{number // 250}.{number % 250}", None)
        assert sources.enter(source)
        assert not sources.enter(source)
        sources.leave(source)
    assert len(list(sources.notes)) == SOURCES_KEPT
    assert "`10.0.0.0`" in next(iter(sources.notes))
    assert not sources._open
