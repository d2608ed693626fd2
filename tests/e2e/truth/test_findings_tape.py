"""What `tape verify` states of a tape is true: the traffic of an agent on LangGraph, changed in each way that
a sentence names, and nothing else is stated of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import environments
import harness
import labelled
import pytest
from sentence_patterns import Patterns, findings
from tampered_tapes import CASES, Case
from tape_copies import copied

from faultwire.tape.evidence.sealer import seal_path

PATTERNS = Patterns(
    ("tape/evidence/verify.py", "tape/evidence/check_seals.py", "tape/evidence/erasures.py"),
    special={"session `{}` {}": r"session `[^`]*` went past the proxy: .+"},
    parts=(
        "body was",
        "bodies were",
        "a trusted key, and none is trusted here",
        "{} or another of {} trusted keys",
    ),
)
AGENT = Path(__file__).with_name("logging_agent.py")


class Recorded(NamedTuple):
    tape: Path
    other_seal: str


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The tape of an agent that asked a model twice and ran a tool, and the seal of another of its tapes."""
    work = tmp_path_factory.mktemp("recorded")
    (work / "script.yaml").write_text(labelled.SCRIPT)
    command = [str(environments.python("langchain-1")), str(AGENT), "langgraph", "plain"]
    run = harness.execute(work, [*command, "What does tea cost?"], "--script", "script.yaml")
    assert run.code == 0, run.stderr
    assert len(run.exchanges) == 2
    other = work / "other.tape"
    subprocess.run(
        [*harness.faultwire(), "tape", "merge", "agent.tape", "-o", str(other)],
        cwd=work, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return Recorded(run.tape, seal_path(other).read_text())


def verified(recorded: Recorded, case: Case, folder: Path) -> tuple[int, str]:
    """The exit code and the output of `tape verify` over a changed copy."""
    copy = copied(recorded.tape, folder, recorded.other_seal)
    case.change(copy)
    places = {"project": recorded.tape.parent, "elsewhere": folder}
    done = subprocess.run(
        [*harness.faultwire(), "tape", "verify", *case.options, str(copy.path)],
        cwd=places[case.verified_in], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.by_day("as it was recorded", "a hash is another")
@pytest.mark.parametrize("name", CASES)
def test_what_is_stated_of_a_tape_is_what_was_done_to_it(
    name: str, recorded: Recorded, tmp_path: Path
) -> None:
    case = CASES[name]
    code, text = verified(recorded, case, tmp_path)
    messages = findings(text)
    assert PATTERNS.found(messages) == PATTERNS.keys(case.true), text
    assert all(PATTERNS.found([one]) for one in messages), "a finding that is not in the inventory"
    bad = any(line.startswith("  bad ") for line in text.splitlines())
    assert code == int(bad), text


def test_each_sentence_has_a_tape_of_which_it_is_true() -> None:
    stated = {PATTERNS.key(template) for case in CASES.values() for template in case.true}
    assert stated == set(PATTERNS.templates)
