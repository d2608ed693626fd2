"""`tape.record.shared_sqlite`: the core gets the functions of the one SQLite of this process, or none."""

from __future__ import annotations

import ctypes
import sqlite3
from collections.abc import Iterator

import pytest

from faultwire import _core
from faultwire.tape.record import shared_sqlite


@pytest.fixture(autouse=True)
def asked_again() -> Iterator[None]:
    shared_sqlite.shared.cache_clear()
    yield
    shared_sqlite.shared.cache_clear()


def test_the_library_of_this_interpreter_is_found() -> None:
    assert shared_sqlite.shared()


def test_no_entry_point_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(_core, "share_sqlite", lambda address: not calls.append(address))
    assert shared_sqlite.shared()
    assert len(calls) == 1
    sqlite3.connect(":memory:").close()
    assert len(calls) == 1


class Silent:
    """A library that registers, and is not the one that `sqlite3` uses: nobody is ever called."""

    @staticmethod
    def sqlite3_auto_extension(_: object) -> int:
        return 0

    @staticmethod
    def sqlite3_cancel_auto_extension(_: object) -> int:
        return 0


def test_another_copy_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Silent())
    assert not shared_sqlite.shared()


def test_a_library_without_names_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert not shared_sqlite.shared()


def test_one_that_cannot_be_loaded_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise OSError("no such file")

    monkeypatch.setattr(ctypes, "CDLL", refused)
    assert not shared_sqlite.shared()
    monkeypatch.undo()
    shared_sqlite.shared.cache_clear()
    assert shared_sqlite.shared()


def test_one_that_is_too_old_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "share_sqlite", lambda _: False)
    assert not shared_sqlite.shared()
