"""Which processes have a mark, read from a table of processes that a test has written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faultwire import process_tree

MARK = "aa11"
OURS = f"A=b\0{process_tree.MARK}={MARK}\0C=d\0"


class Table:
    """A `/proc` of a test's own."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def add(self, pid: int, parent: int, environment: str = "", state: str = "S", name: str = "a") -> None:
        folder = self._place / str(pid)
        folder.mkdir()
        (folder / "environ").write_text(environment)
        (folder / "stat").write_text(f"{pid} ({name}) {state} {parent} 1 1")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(process_tree, "PROC", str(tmp_path))
    (tmp_path / "self").mkdir()
    return Table(tmp_path)


def test_the_marked_and_all_below_them(table: Table) -> None:
    table.add(10, 1, OURS)
    table.add(11, 10)
    table.add(12, 11, name="a) S 99 (b")
    table.add(13, 1, OURS)
    table.add(14, 1)
    table.add(15, 14)
    assert process_tree.members(MARK) == {10, 11, 12, 13}


@pytest.mark.parametrize("name", ["", "a", "aa1", "aa111"])
def test_another_mark_finds_nothing(table: Table, name: str) -> None:
    table.add(10, 1, OURS)
    table.add(11, 1, f"{process_tree.MARK}=\0")
    assert process_tree.members(name) == set()


def test_the_name_of_the_variable_is_not_looked_for_in_others(table: Table) -> None:
    table.add(10, 1, f"X{process_tree.MARK}={MARK}\0Y={process_tree.MARK}={MARK}\0")
    assert process_tree.members(MARK) == set()


def test_we_are_never_among_them(table: Table) -> None:
    table.add(os.getpid(), 1, OURS)
    table.add(10, os.getpid())
    assert process_tree.members(MARK) == {10}


def test_one_that_has_ended_has_no_parent(table: Table) -> None:
    table.add(10, 1, OURS)
    table.add(11, 10, state="Z")
    assert process_tree.members(MARK) == {10}


def test_where_there_is_no_proc_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "PROC", "/nowhere")
    assert process_tree.end(MARK) == 0


def test_a_mark_is_taken_off() -> None:
    assert process_tree.unmarked(process_tree.marked({"A": "b"}, "m")) == {"A": "b"}
