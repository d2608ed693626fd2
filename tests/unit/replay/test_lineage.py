"""Which tape was forked from which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.errors import TapeIncomplete
from faultwire.events import Request
from faultwire.replay.lineage import lineage, tree
from faultwire.tape.record.writer import TapeWriter


def branch(path: Path, settings: dict[str, object]) -> Path:
    writer = TapeWriter.create(path, origin="p/b", settings=settings, key=b"k" * 32)
    writer.open_session("exec", profile="", profile_digest="", seed=1, agent="")
    writer.close_session("exec")
    writer.close()
    return path


def chat(text: str) -> Request:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)


def test_a_branch_finds_its_parent_under_any_name(deck: Any, tmp_path: Path) -> None:
    deck.add(chat("a"), b"r1")
    parent = deck.close()
    said = lineage(parent, "exec", 1, tail="tape", change={"drop": True})
    child = branch(tmp_path / "child.tape", {"made_by": "fork", **said})
    moved = parent.rename(tmp_path / "renamed.tape")
    (root,) = tree([child, moved])
    assert (root.path, root.fork, root.lost) == (moved, None, False)
    (found,) = root.children
    assert found.path == child
    assert found.fork is not None
    assert (found.fork["at"], found.fork["tail"], found.fork["change"]) == ("exec#1", "tape", {"drop": True})
    assert found.parent is not None
    assert (found.parent["tape"], found.parent["events"], found.parent["root"]) == (
        "t.tape",
        root.events,
        root.root,
    )
    assert root.as_json()["branches"][0]["parent_found"] is True


def test_a_branch_without_its_parent_reports_that(deck: Any, tmp_path: Path) -> None:
    deck.add(chat("a"), b"r1")
    said = lineage(deck.close(), "exec", 1, tail="live", change={"drop": True})
    child = branch(tmp_path / "child.tape", {"made_by": "fork", **said})
    (root,) = tree([child, child])
    assert root.lost
    assert root.as_json()["parent_found"] is False


def test_another_tape_of_the_same_length_is_no_parent(deck: Any, tmp_path: Path) -> None:
    deck.add(chat("a"), b"r1")
    said = lineage(deck.close(), "exec", 1, tail="live", change={"drop": True})
    child = branch(tmp_path / "child.tape", {"made_by": "fork", **said})
    other = type(deck)(tmp_path / "o.tape")
    other.add(chat("a"), b"r2")
    assert [root.lost for root in tree([child, other.close()])] == [True, False]


@pytest.mark.parametrize("made_of", [[], [{}], [{"events": "1", "root": "x"}], "x", [3]])
def test_a_tape_that_claims_nonsense_is_a_tape_without_parent(made_of: object, tmp_path: Path) -> None:
    path = branch(tmp_path / "c.tape", {"made_by": "fork", "made_of": made_of, "fork": {"at": "exec#1"}})
    (root,) = tree([path])
    assert (root.parent, root.lost) == (None, False)


def test_the_exchange_must_be_there(deck: Any) -> None:
    deck.add(chat("a"), b"r1")
    with pytest.raises(TapeIncomplete, match="no exchange 2"):
        lineage(deck.close(), "exec", 2, tail="live", change={})
