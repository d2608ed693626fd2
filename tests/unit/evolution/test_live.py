"""The behaviour of a run is what it did on the wire, and not what it said."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.checks.conftest import call, talk, used

from faultwire.events import AgentResult, History
from faultwire.evolution.live import behaviour


def shown(*exchanges, code=0):
    return behaviour(History("s", exchanges, agent=AgentResult("x", code, 1.0, "", False)))


def test_other_calls_tools_statuses_and_exits_are_other_behaviours():
    calm = shown(talk(1), used(2))
    others = [
        shown(talk(1)),
        shown(talk(1), used(2, status=500)),
        shown(talk(1, calls=[call("search")]), used(2)),
        shown(talk(1), used(2), code=1),
    ]
    assert len({calm, *others}) == 5


def test_words_and_repetitions_are_none():
    assert shown(talk(1, answer="a")) == shown(talk(1, answer="b"))
    assert shown(talk(1), talk(2), talk(3)) == shown(talk(1), talk(2))
    assert shown(replace(talk(1), duration_ms=9)) == shown(talk(1))
