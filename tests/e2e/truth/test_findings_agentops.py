"""What `tape import` states of a log of AgentOps Replay is true of it, and nothing else is stated."""

from __future__ import annotations

import subprocess
from pathlib import Path

import harness
import pytest
from foreign_logs import CASES, HMAC_KEY, INNER, PATTERNS
from sentence_patterns import findings


@pytest.mark.by_day("sealed with another key")
@pytest.mark.parametrize("name", CASES)
def test_what_is_stated_of_a_log_is_what_was_done_to_it(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    (tmp_path / "log.jsonl").write_bytes(case.data)
    (tmp_path / "hmac.key").write_bytes(HMAC_KEY)
    done = subprocess.run(
        [*harness.faultwire(), "tape", "import", "log.jsonl", "-o", "imported", *case.options],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    messages = findings(done.stdout)
    assert PATTERNS.found(messages) == PATTERNS.keys(case.true), done.stdout
    assert all(PATTERNS.found([one]) for one in messages), "a finding that is not in the inventory"
    assert done.returncode == int(case.bad), done.stdout


def test_each_sentence_has_a_log_of_which_it_is_true() -> None:
    stated = {PATTERNS.key(template) for case in CASES.values() for template in case.true}
    assert stated == set(PATTERNS.templates) - PATTERNS.keys(INNER)
