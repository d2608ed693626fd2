from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome

FIRST, SECOND = Outcome(True, 4, 0.25, 1.5, "exited with 1"), Outcome(None, 0, 0.0, 0.5, "no traffic")


def test_outcomes_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "state.jsonl"
    one = Journal.open(path, "about")
    one.append("k1", FIRST)
    one.append("k2", SECOND)
    one.close()
    again = Journal.open(path, "about")
    assert [(kept.key, kept.outcome) for kept in again.earlier] == [("k1", FIRST), ("k2", SECOND)]
    again.append("k3", FIRST)
    again.close()
    assert len(Journal.open(path, "about").earlier) == 3
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "state.jsonl"
    one = Journal.open(path, "about")
    one.append("k1", FIRST)
    one.append("k2", SECOND)
    one.close()
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal.open(path, "about")
    assert [kept.key for kept in again.earlier] == ["k1"]
    again.append("k2", FIRST)
    again.close()
    assert [kept.key for kept in Journal.open(path, "about").earlier] == ["k1", "k2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"faultwire_shrink":1,"about":"other"}\n', "another search"),
        ("hello\n", "not a state file"),
        ('{"faultwire_shrink":9,"about":"about"}\n', "not a state file"),
        ('{"faultwire_shrink":1,"about":"about"}\n{"case":"k","failed":"yes"}\n', "not a state file"),
        ("[1]\n", "not a state file"),
    ],
)
def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "state.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        Journal.open(path, "about")
    assert path.read_text() == text


def test_one_search_at_a_time(tmp_path: Path) -> None:
    held = Journal.open(tmp_path / "state.jsonl", "about")
    with pytest.raises(UsageError, match="another process"):
        Journal.open(tmp_path / "state.jsonl", "about")
    held.close()
