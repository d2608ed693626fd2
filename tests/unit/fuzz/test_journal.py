"""Runs survive an end at any byte, and a state that does not fit is refused."""

from __future__ import annotations

import pytest
from tests.unit.fuzz.simulated import CRASH, SOURCE

from faultwire.errors import UsageError
from faultwire.fuzz.journal import Calm, Journal, Kept
from faultwire.fuzz.search import Seen

CALM = Calm((SOURCE,), ("GET a/b",), frozenset({"^", "$"}), 2)
RUN = Kept("abc", Seen(("agent", "not"), frozenset({"x"}), None, "", (SOURCE,)), session="search-0003")
CRASHED = Kept(
    "def", Seen(("agent",), crash=CRASH._replace(frames=("a.py:1 f",))), "printed", "said", "t", "s"
)


def written(path):
    journal = Journal(path, "about")
    journal.append_calm(CALM)
    journal.append(3, RUN)
    journal.append(4, CRASHED)
    journal.close()


def test_what_was_written_is_there_again(tmp_path):
    written(tmp_path / "s.jsonl")
    again = Journal(tmp_path / "s.jsonl", "about")
    assert (again.calm, again.earlier, again.resumed) == (CALM, {3: RUN, 4: CRASHED}, 2)
    again.close()


def test_a_file_that_was_cut_at_any_byte_gives_what_is_whole(tmp_path):
    written(tmp_path / "s.jsonl")
    data = (tmp_path / "s.jsonl").read_bytes()
    ends = [at for at, byte in enumerate(data) if byte == 10]
    for cut in range(0, len(data) + 1, 3):
        (tmp_path / "t.jsonl").write_bytes(data[:cut])
        journal = Journal(tmp_path / "t.jsonl", "about")
        whole = sum(end < cut for end in ends)
        assert (journal.calm is not None, len(journal.earlier)) == (whole > 1, max(0, whole - 2))
        journal.close()


def test_a_run_of_another_case_another_search_and_a_foreign_file_are_refused(tmp_path):
    written(tmp_path / "s.jsonl")
    journal = Journal(tmp_path / "s.jsonl", "about")
    assert journal.taken(3, "abc") == RUN
    assert journal.taken(9, "abc") is None
    with pytest.raises(UsageError, match="found another case as run 3"):
        journal.taken(3, "other")
    with pytest.raises(UsageError, match="in use by another process"):
        Journal(tmp_path / "s.jsonl", "about")
    journal.close()
    with pytest.raises(UsageError, match="the state of another search"):
        Journal(tmp_path / "s.jsonl", "other")
    text = (tmp_path / "s.jsonl").read_text()
    for hostile in (text.replace('"agent"', '"moon"'), text.replace('"exit"', '"boom"'), "{}\n"):
        (tmp_path / "h.jsonl").write_text(hostile)
        with pytest.raises(UsageError, match="not a state file of `fuzz`"):
            Journal(tmp_path / "h.jsonl", "about")
