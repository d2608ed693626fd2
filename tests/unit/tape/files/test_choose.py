"""Exchanges chosen from two tapes as one session: `faultwire.tape.files.choose`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.tape.files.test_append import Make, answers, make, numbered

from faultwire.errors import TapeTampered, UsageError
from faultwire.tape.evidence.verify import verify
from faultwire.tape.files.choose import Source, choose
from faultwire.tape.read.reader import TapeReader

__all__ = ["make"]
FAILED = (("a", "a1"), ("b", "BAD"), ("c", "c1"))
CALM = (("a", "a1"), ("b", "b1"), ("d", "d1"))


def test_each_exchange_answers_as_the_run_it_was_chosen_from(make: Make, tmp_path: Path) -> None:
    failed, calm = make("failed", s=FAILED, other=(("o", "o1"),)), make("calm", t=CALM)
    target = tmp_path / "chosen.tape"
    choose(Source(failed, "s", frozenset({1, 3})), Source(calm, "t", frozenset({2, 3})), target)
    assert answers(target, "a", "b", "c", "d", "o") == ["a1", "b1", "c1", "d1", None]
    assert numbered(target, "s") == [(1, "a1"), (3, "c1"), (4, "b1"), (5, "d1")]
    assert [one.code for one in verify(target).findings] == ["seal_missing"]
    with TapeReader.open(target) as reader:
        assert [(info.name, info.exchanges) for info in reader.sessions()] == [("s", 4)]


def test_all_of_one_and_none_of_the_other(make: Make, tmp_path: Path) -> None:
    failed, calm = make("failed", s=FAILED), make("calm", s=CALM)
    choose(Source(failed, "s", frozenset({1, 2, 3})), Source(calm, "s", frozenset()), tmp_path / "one.tape")
    assert answers(tmp_path / "one.tape", "a", "b", "c", "d") == ["a1", "BAD", "c1", None]
    choose(Source(failed, "s", frozenset()), Source(calm, "s", frozenset({1, 2, 3})), tmp_path / "two.tape")
    assert answers(tmp_path / "two.tape", "a", "b", "c", "d") == ["a1", "b1", None, "d1"]


def test_a_tape_that_was_tampered_with_is_no_source(make: Make, tmp_path: Path) -> None:
    failed, calm = make("failed", s=FAILED), make("calm", s=CALM)
    calm.chmod(0o600)
    with closing(sqlite3.connect(calm)) as connection:
        connection.execute("DELETE FROM events WHERE seq = 4")
        connection.commit()
    with pytest.raises(TapeTampered):
        choose(Source(failed, "s", frozenset({1})), Source(calm, "s", frozenset({2})), tmp_path / "x.tape")
    assert not (tmp_path / "x.tape").exists()
    whole = make("whole", s=CALM)
    with pytest.raises(UsageError, match="exists"):
        choose(Source(failed, "s", frozenset({1})), Source(whole, "s", frozenset({2})), failed)
