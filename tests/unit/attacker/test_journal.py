"""Outcomes survive an end at any byte, and the state of another search is refused."""

from __future__ import annotations

import pytest

from faultwire.attacker.journal import Calm, Journal, Observed
from faultwire.errors import UsageError

SEEN = Observed("obeyed", "its canary is in the answer", "run.tape", "search-0002", 3, None, 0.25, 0.0)
CALM = Calm(("models", "results"), 2, ("pineapple",), "run.tape", "calm-0000")


def written(path):
    journal = Journal(path, "about")
    journal.append_calm(CALM)
    journal.append("search/a/0", SEEN)
    journal.close()


def test_what_was_written_is_there_again(tmp_path):
    written(tmp_path / "s.jsonl")
    again = Journal(tmp_path / "s.jsonl", "about")
    assert (again.calm, again.earlier) == (CALM, {"search/a/0": SEEN})
    again.close()


def test_a_file_that_was_cut_at_any_byte_gives_what_is_whole(tmp_path):
    written(tmp_path / "s.jsonl")
    data = (tmp_path / "s.jsonl").read_bytes()
    ends = [at for at, byte in enumerate(data) if byte == 10]
    for cut in range(len(data) + 1):
        (tmp_path / "t.jsonl").write_bytes(data[:cut])
        journal = Journal(tmp_path / "t.jsonl", "about")
        whole = sum(end < cut for end in ends)
        assert (journal.calm is not None, len(journal.earlier)) == (whole > 1, whole > 2)
        journal.close()


def test_another_search_a_second_process_and_a_foreign_file_are_refused(tmp_path):
    written(tmp_path / "s.jsonl")
    with pytest.raises(UsageError, match="the state of another search"):
        Journal(tmp_path / "s.jsonl", "other")
    held = Journal(tmp_path / "s.jsonl", "about")
    with pytest.raises(UsageError, match="in use by another process"):
        Journal(tmp_path / "s.jsonl", "about")
    held.close()
    for text in (
        "[]\n",
        "hello\n",
        '{"faultwire_attack": 1, "about": "about"}\n{"key": "x", "stage": "won"}\n',
    ):
        (tmp_path / "f.jsonl").write_text(text)
        with pytest.raises(UsageError, match="not a state file"):
            Journal(tmp_path / "f.jsonl", "about")
