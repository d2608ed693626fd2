"""Results are there once, whatever is sent, and after whatever end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from faultwire.campaign.results import JOURNAL, CellResult, Readers, Results
from faultwire.errors import TapeTampered, UsageError
from faultwire.events import AgentResult
from faultwire.tape.files.collect import collect

TAPE = b"any bytes"
DIGEST = sha256(TAPE).hexdigest()
ANSWER = {"answer": "sk-live-secret", "exit_code": 0, "duration_s": 1.0, "stderr": "", "timed_out": False,
          "misplaced": ""}  # fmt: skip


def about(answer: str = "sk-live-secret") -> dict[str, Any]:
    agent = {**ANSWER, "answer": answer}
    return {"session": "s", "agent": agent, "voids": [], "notes": ["n"], "remarks": [], "cost_usd": 0.5}


OPEN: list[Results] = []


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def opened(folder: Path) -> Results:
    OPEN.append(Results(folder, "c1"))
    return OPEN[-1]


def test_what_was_committed_is_there_after_a_kill_and_the_first_result_stays(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.commit({"a": about("one")}, first.keep_tape(DIGEST, TAPE, "seal"))
    first.commit({"a": about("two"), "b": about("three")}, first.keep_tape(DIGEST, TAPE, "seal"))
    first.close()
    again = opened(tmp_path)
    assert {name: one.about["agent"]["answer"] for name, one in again.cells.items()} == {
        "a": "one",
        "b": "three",
    }
    assert again.cells["a"].tape.read_bytes() == TAPE
    assert (again.cells["a"].session, again.cells["a"].cost_usd) == ("s", 0.5)


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_line_that_was_cut_is_no_result(tmp_path: Path, cut: int) -> None:
    first = opened(tmp_path)
    tape = first.keep_tape(DIGEST, TAPE, "seal")
    first.commit({"a": about()}, tape)
    first.commit({"b": about()}, tape)
    first.close()
    journal = first.path / JOURNAL
    journal.write_bytes(journal.read_bytes()[:-cut])
    again = opened(tmp_path)
    assert set(again.cells) == {"a"}
    again.commit({"b": about()}, tape)
    again.close()
    assert set(opened(tmp_path).cells) == {"a", "b"}


def test_no_answer_is_readable_on_the_disk_and_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    results = opened(tmp_path)
    results.commit({"a": about()}, results.keep_tape(DIGEST, TAPE, "seal"))
    results.close()
    for path in results.path.rglob("*"):
        if path.is_file():
            assert b"sk-live-secret" not in path.read_bytes()
    assert (results.path / JOURNAL).stat().st_mode & 0o777 == 0o600
    assert results.path.stat().st_mode & 0o777 == 0o700


def test_a_tape_that_is_not_what_was_sealed_is_refused(tmp_path: Path) -> None:
    results = opened(tmp_path)
    with pytest.raises(TapeTampered):
        results.keep_tape(DIGEST, TAPE + b"x", "seal")
    assert list(results.tapes.iterdir()) == []


def test_a_campaign_has_one_coordinator(tmp_path: Path) -> None:
    held = opened(tmp_path)
    with pytest.raises(UsageError) as raised:
        opened(tmp_path)
    assert raised.value.code == "campaign.held"
    held.close()
    opened(tmp_path).remove()
    assert not held.path.exists()


def test_a_history_has_what_the_worker_said_beside_its_traffic(tmp_path: Path) -> None:
    tape = tmp_path / "empty.tape"
    collect({}, tape, "faultwire/test", None)
    readers = Readers()
    found = readers.history(CellResult(about("Paris"), tape))
    readers.close()
    assert (found.session, found.exchanges, found.notes) == ("s", (), ("n",))
    assert found.agent == AgentResult("Paris", 0, 1.0)
    assert json.loads(json.dumps(about())) == about()
