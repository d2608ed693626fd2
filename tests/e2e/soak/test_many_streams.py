"""Streams that are all open at once, and drip: every event of each comes, and is on the tape.

10,000 of them are a command's own run: `python -m tests.attacks.many_streams`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from tests.attacks import many_streams
from tests.bench import pki, subjects

from faultwire.mitm.engine.client import Engine
from faultwire.tape.read.reader import TapeReader

CUT = """
name: cut
description: Each stream is cut.
faults:
  - cut_stream: {after_events: 3}
    on: {kind: llm}
"""
COUNTS = [pytest.param(30, 300), pytest.param(1000, 10_000, marks=pytest.mark.nightly)]


@pytest.mark.parametrize(("streams", "ms"), COUNTS)
def test_no_stream_loses_an_event(streams: int, ms: int, tmp_path: Path) -> None:
    settings = subjects.settings(tmp_path / "run", pki.make(tmp_path / "pki"))
    with Engine.start(settings) as engine:
        found = asyncio.run(many_streams.run(engine, streams, many_streams.SLOW.format(ms=ms)))
        assert engine.close_session("slow").voids == ()
    assert found == Counter(whole=streams)
    assert settings.tape is not None
    with TapeReader.open(settings.tape) as tape:
        assert Counter(one.ending for one in tape.exchanges("slow")) == Counter(complete=streams)


def test_an_event_that_is_lost_is_seen(tmp_path: Path) -> None:
    settings = subjects.settings(tmp_path / "run", pki.make(tmp_path / "pki"))
    with Engine.start(settings) as engine:
        found = asyncio.run(many_streams.run(engine, 3, CUT))
    assert found == Counter({"3 events of 6": 3})
