from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.checks._registry import read
from faultwire.errors import UsageError
from faultwire.events import AgentResult, History
from faultwire.trials.oracle import Checks, Command, ExitCode

TAPE = Path("run.tape")
ENDED = AgentResult("Paris", 0, 1.0)


def history(agent: AgentResult | None) -> History:
    return History("exec", (), agent=agent)


@pytest.mark.parametrize(
    ("agent", "failed"),
    [
        (ENDED, False),
        (replace(ENDED, exit_code=2), True),
        (replace(ENDED, exit_code=-9), True),
        (replace(ENDED, exit_code=None, timed_out=True), True),
        (replace(ENDED, exit_code=None), None),
        (None, None),
    ],
)
def test_exit_code(agent: AgentResult | None, failed: bool | None) -> None:
    assert ExitCode().judge(history(agent), TAPE)[0] is failed


@pytest.mark.parametrize(
    ("checks", "failed", "why"),
    [
        ([{"type": "contains", "value": "Paris"}], False, "every check passes"),
        ([{"type": "contains", "value": "Rome"}], True, "contains: "),
        (
            [{"type": "tool_called", "tool": "search"}, {"type": "contains", "value": "Rome"}],
            True,
            "contains: ",
        ),
        ([{"type": "max_cost", "max_usd": 1}, {"type": "contains", "value": "Paris"}], None, "max_cost: "),
    ],
)
def test_checks(checks: list[dict[str, object]], failed: bool | None, why: str) -> None:
    found, words = Checks(tuple(read(one) for one in checks)).judge(history(ENDED), TAPE)
    assert found is failed
    assert words.startswith(why)


SCRIPT = """import os, sys
text = sys.stdin.read()
assert os.environ["FAULTWIRE_TAPE"].endswith("/run.tape")
sys.exit({"Paris": 0, "Rome": 1}.get(text, 125))
"""


@pytest.mark.parametrize(("answer", "failed"), [("Paris", False), ("Rome", True), ("Oslo", None)])
def test_a_command_judges_by_its_exit_code(tmp_path: Path, answer: str, failed: bool | None) -> None:
    script = tmp_path / "a script.py"
    script.write_text(SCRIPT)
    oracle = Command.parse(f"{sys.executable} '{script}'")
    assert oracle.judge(history(replace(ENDED, answer=answer)), TAPE)[0] is failed
    assert str(script) not in oracle.description


@pytest.mark.parametrize("text", ["", "a 'b"])
def test_a_command_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--oracle"):
        Command.parse(text)
