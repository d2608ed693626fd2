"""`faultwire tape erase` and `tape export --for`, by the command line on a tape of real traffic."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.e2e.tape.test_playbooks import CHAT, run

ROOT = Path(__file__).parents[3]
VERIFIER = f"{sys.executable} {ROOT / 'docs' / 'verify_tape.py'}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "chat.sh").write_text(CHAT + CHAT.replace("jane.doe", "john.roe"))
    code, out = run(tmp_path, "faultwire exec -q --mock --record night.tape -- bash chat.sh")
    assert code == 0, out
    return tmp_path


def verdicts(folder: Path) -> list[tuple[int, str]]:
    """Exit codes and outputs of the three verifiers."""
    (folder / "t.jsonl").unlink(missing_ok=True)
    assert run(folder, "faultwire tape export night.tape -o t.jsonl")[0] == 0
    _, keys = run(folder, "faultwire keys show --format json")
    key = json.loads(keys)["own"] if keys.startswith("{") else ""
    words = f"--key '{key}'" if key else "--no-signature"
    commands = ("faultwire tape verify night.tape", "faultwire tape verify t.jsonl")
    return [run(folder, command) for command in (*commands, f"{VERIFIER} t.jsonl {words}")]


def test_three_verifiers_call_an_erased_tape_erased_and_a_robbed_one_tampered(project: Path) -> None:
    assert all(code == 0 and "body_erased" not in out for code, out in verdicts(project))  # control
    code, out = run(project, "faultwire tape erase night.tape --exchange 1 --reason asked --by ops --yes")
    assert code == 0, out
    for code, out in verdicts(project):
        assert (code, "body_erased" in out, "AUTHORITATIVE" in out) == (0, True, False), out
    (project / "night.tape").chmod(0o600)
    with closing(sqlite3.connect(project / "night.tape")) as rows, rows:
        assert rows.execute("DELETE FROM blobs").rowcount > 0
    for code, out in verdicts(project):
        assert (code, "blob_missing" in out) == (1, True), out


def test_the_answers_change_with_the_tape(project: Path) -> None:
    def answers(name: str) -> dict[str, str]:
        code, out = run(
            project, f"faultwire tape export night.tape --to bundle --for gdpr --for hipaa -o {name}"
        )
        assert code in (0, 1), out
        made = json.loads((project / name).read_text())
        listed = [one for framework in made["frameworks"] for one in framework["questions"]]
        return {one["question"]: one["answer"] for one in listed}

    relied = "Can the record be relied on when it is examined?"
    kept = "Is personal data kept no longer than needed?"
    before = answers("before.json")
    assert (before[relied], before[kept]) == ("shown", "no evidence on this tape")
    assert run(project, "faultwire tape erase night.tape --reason asked --by ops --yes")[0] == 0
    after = answers("after.json")
    assert (after[relied], after[kept]) == ("shown in part", "shown in part")
    (project / "night.tape").chmod(0o600)
    with closing(sqlite3.connect(project / "night.tape")) as rows, rows:
        rows.execute("DELETE FROM events WHERE seq = 5")
    assert set(answers("changed.json").values()) == {"no evidence on this tape"}
