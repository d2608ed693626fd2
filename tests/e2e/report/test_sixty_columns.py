"""What commands print stands on a terminal of 60 columns: every line is broken at blanks, no word is broken,
and nothing is left out that a wide terminal shows."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from typing import Any

import pytest
from tests.e2e.play.conftest import TALKER, Project, project as project

NARROW, WIDE = 60, 400
COMMANDS = (
    *(f"exec --mock --fault {fault} -- {{python}} talker.py 'Say hello.'" for fault in (
        "'status: {code: 503}'", "'{cut_stream: {after_events: 3}, on: {tool: nothing}}'",
        "'latency: {ms: 1}'",
    )),
    "exec --mock --check-determinism -- {python} talker.py 'Say hello.'",
    "exec --fault 'nothing: {}' -- true",
    "exec -- no-such-program-here",
    "run --quiet", "run", "contract run", "contract validate", "ci", "score contract",
    "report last", "report last --baseline last", "runs",
    "tape list", "tape list --long", "tape show last", "tape show last --session contract/down/hello/r1",
    "tape verify last", "tape diff last last", "scan last", "tape cost last",
    "faults", "faults show status", "checks", "checks show no_retry_storm", "profiles",
    "profiles validate", "prices", "keys show", "ca show", "doctor",
    "explore --state {columns}.jsonl --mock --fault 'status: {code: 500}' -- {python} talker.py 'Say hello.'",
    "load --mock --levels 1,2 --cells 2 -- {python} talker.py 'Say hello.'",
    "--help", "tape --help",
)  # fmt: skip
"""But for what is copied or read by a program (exports, profiles, examples in a `--help`, JSON): it keeps its
lines."""
ONCE = ("faults", "checks", "profiles", "prices", "doctor", "--help", "tape --help")
"""Tables that are as good as their widest: of them only the lines are looked at."""
HEADS = {"invariant", "scenario", "type", "phase"}
"""Over the first column of a table, which needs none where a row stands on lines of its own."""
VALUE = re.compile(r"[0-9a-f]{8,}|\d+([.,]\d+)*")
EDGES = " \t·…:;,.()[]`'\"─━╸╺▁▂▃▄▅▆▇█"


def overlong(text: str, width: int = NARROW) -> list[str]:
    """Lines that are longer, and could have been broken at a blank."""
    return [line for line in text.splitlines() if len(line) > width and len(line.split()) > 1]


def words(text: str) -> set[str]:
    """Its words, whatever the figures in them, without what stands around them."""
    found = {VALUE.sub("#", word).strip(EDGES) for word in text.split()}
    return {word for word in found if any(map(str.isalpha, word))}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a contract, of which some fails, some passes and some is unknown."""
    made = Project(tmp_path_factory.mktemp("columns"))
    shutil.copy(TALKER, made.folder / "talker.py")
    down: list[dict[str, Any]] = [{"status": {"code": 503}, "on": {"kind": "llm"}}]
    matrix = [
        {"name": "calm"},
        {"name": "down", "faults": down},
        {"name": "short-outage", "profile": "tool_outage"},
        {"name": "elsewhere", "faults": [{"tool_error": {}, "on": {"tool": "nothing"}}]},
    ]  # fmt: skip
    made.write(
        invariants=None,
        contract={
            "name": "columns",
            "invariants": [
                {"type": "completes", "severity": "critical"},
                {"type": "no_retry_storm"},
                {"type": "output_not_empty"},
            ],
            "chaos_matrix": matrix,
        },
    )
    assert made.run("contract", "run", "--quiet").returncode in (0, 1)
    return made


def printed(project: Project, command: str, columns: int) -> str:
    known = {"{python}": sys.executable, "{columns}": str(columns)}
    for name, value in known.items():
        command = command.replace(name, value)
    done = project.run(*shlex.split(command), env={"COLUMNS": str(columns), "NO_COLOR": "1"})
    assert "Traceback" not in done.stderr, done.stderr
    assert "No such" not in done.stderr.partition("\n")[0] or "no-such" in command, done.stderr
    return done.stdout + done.stderr


@pytest.mark.by_day("exec-", "contract-run", "tape-show-last", "report-last")
@pytest.mark.parametrize(
    "command", [pytest.param(one, id=re.sub(r"\W+", "-", one).strip("-")[:60]) for one in COMMANDS]
)
def test_nothing_is_wider_than_the_terminal_broken_or_left_out(played: Project, command: str) -> None:
    narrow = printed(played, command, NARROW)
    assert narrow.strip()
    assert overlong(narrow) == []
    if command in ONCE:
        return
    wide = printed(played, command, WIDE)
    assert words(narrow) - words(wide) == set(), "these words are broken"
    assert words(wide) - words(narrow) - HEADS == set(), "these words are left out"


def test_a_planted_line_that_is_too_long_is_found(played: Project) -> None:
    fits = printed(played, "tape show last", NARROW)
    planted = fits + "  #1 llm  status: " + "answered " * 10 + "\n"
    assert overlong(fits) == []
    assert len(overlong(planted)) == 1
    assert overlong("ledger:\n  " + "ab" * 32) == [], "a word alone cannot be broken"
    assert overlong(printed(played, "tape show last", WIDE)), "a wide terminal has such lines"


def test_a_broken_word_and_one_that_is_left_out_are_found() -> None:
    assert words("short-outag\ne") - words("short-outage") == {"short-outag", "e"}
    assert words("never fired: 2 of 3") - words("never 9 of 8") == {"fired"}
    assert words("2 of 3 faults") == words("41 of 1,000 faults")
