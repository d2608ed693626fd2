"""How far searches in other terminals are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.report.hostile import EVERY, STEERING

from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome
from faultwire.workbench import searches as tested
from faultwire.workbench.searches import Searches


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The state file of a search that goes on."""
    (tmp_path / "shrink").mkdir()
    with closing(Journal.open(tmp_path / "shrink" / "0a1b.jsonl", "about")) as made:
        yield made


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "LOOK_S", 0.0)


def add(journal: Journal, failed: bool | None, reason: str = "it said so") -> None:
    journal.append("k", Outcome(failed, 1, 0.0, 0.5, reason))


def one(searches: Searches) -> dict[str, Any]:
    (found,) = searches.look()
    return found


def test_a_search_that_goes_on_is_counted_line_by_line(journal: Journal, tmp_path: Path) -> None:
    searches = Searches(tmp_path)
    assert one(searches) == {
        "kind": "shrink", "id": "0a1b", "running": True, "runs": 0, "failed": 0, "unjudged": 0, "last": "",
        "result": False,
    }  # fmt: skip
    add(journal, failed=True)
    assert (one(searches)["runs"], one(searches)["failed"], one(searches)["last"]) == (
        1,
        1,
        "failed: it said so",
    )
    add(journal, failed=None, reason="")
    add(journal, failed=False)
    found = one(searches)
    assert (found["runs"], found["failed"], found["unjudged"], found["last"]) == (
        3,
        1,
        1,
        "passed: it said so",
    )


def test_it_is_said_to_have_ended_once_nobody_holds_its_file(tmp_path: Path) -> None:
    (tmp_path / "shrink").mkdir()
    path = tmp_path / "shrink" / "0a1b.jsonl"
    searches = Searches(tmp_path)
    with closing(Journal.open(path, "about")) as journal:
        add(journal, failed=True)
        assert one(searches)["running"]
    assert (one(searches)["running"], one(searches)["result"], one(searches)["runs"]) == (False, False, 1)
    (tmp_path / "shrink" / "0a1b-repro").mkdir()
    (tmp_path / "shrink" / "0a1b-repro" / "repro.json").write_text("{}")
    assert one(searches)["result"]


def test_one_that_ended_before_somebody_looked_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "shrink").mkdir()
    with closing(Journal.open(tmp_path / "shrink" / "0a1b.jsonl", "about")) as journal:
        add(journal, failed=True)
    assert Searches(tmp_path).look() == []
    assert Searches(None).look() == []
    assert Searches(tmp_path / "elsewhere").look() == []


def test_looking_never_turns_the_command_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    (tmp_path / "shrink").mkdir()
    path = tmp_path / "shrink" / "0a1b.jsonl"
    path.write_text("")
    tried: list[object] = []
    monkeypatch.setattr(fcntl, "flock", lambda *given: tried.append(given))
    Searches(tmp_path).look()
    assert tried == []


def test_where_no_list_of_locks_can_be_read_the_time_decides(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "LOCKS", tmp_path / "none")
    assert one(Searches(tmp_path))["running"]
    monkeypatch.setattr(tested, "RECENT_S", -1.0)
    assert Searches(tmp_path).look() == []


def test_a_link_is_not_followed(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "explore").mkdir()
    (tmp_path / "explore" / "x.jsonl").symlink_to(journal.path)
    assert [found["kind"] for found in Searches(tmp_path).look()] == ["shrink"]


def test_what_is_no_line_says_nothing_and_half_a_line_waits(journal: Journal, tmp_path: Path) -> None:
    searches = Searches(tmp_path)
    with journal.path.open("ab") as file:
        file.write(b'[1]\n\xff\n{"key": 1}\n' + b"[" * 100_000 + b"\n" + b'{"failed": tr')
    assert one(searches)["runs"] == 0
    with journal.path.open("ab") as file:
        file.write(b"ue}\n")
    assert (one(searches)["runs"], one(searches)["last"]) == (1, "failed")


def test_reasons_are_inert_and_hold_no_secret(journal: Journal, tmp_path: Path) -> None:
    searches = Searches(tmp_path)
    secret = "sk-proj-" + "a1B2c3D4" * 6
    for text in (*EVERY, f"the key {secret} was refused"):
        with journal.path.open("a") as file:
            file.write(json.dumps({"failed": True, "reason": text}) + "\n")
        last = one(searches)["last"]
        assert not set(last) & STEERING
        assert secret not in last


def test_runs_of_an_evolution_are_the_sessions_that_ended(tmp_path: Path) -> None:
    from tests.unit.workbench.conftest import deck_at

    from faultwire.runner.folder import RunFolder

    folder = RunFolder.create("evolve", base=tmp_path)
    folder.note(status="running")
    deck = deck_at(folder.path / "run.tape")
    deck.writer.flush()
    searches = Searches(tmp_path)
    assert (one(searches)["kind"], one(searches)["runs"], one(searches)["failed"]) == ("evolve", 0, None)
    deck.close()
    assert one(searches)["runs"] == 1
    folder.end("finished")
    assert not one(searches)["running"]


def test_a_look_is_shared_by_all_who_ask(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "LOOK_S", 3600.0)
    searches = Searches(tmp_path)
    searches.look()
    add(journal, failed=True)
    assert one(searches)["runs"] == 0
    monkeypatch.setattr(tested, "LOOK_S", 0.0)
    assert one(searches)["runs"] == 1
