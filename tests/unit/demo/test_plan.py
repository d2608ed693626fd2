import ast

import pytest

from faultwire.contract.matrix import distinct
from faultwire.demo.plan import AGENT, REQUIREMENTS, SCRIPT, load_plan
from faultwire.mock.script import load


def test_it_runs_calm_and_under_two_profiles():
    plan = load_plan()
    assert [s.name for s in plan.scenarios] == ["calm", "stream_chaos", "rate_limits"]
    assert not plan.scenarios[0].profile.entries
    assert all(s.profile.entries for s in plan.scenarios[1:])


def test_the_contract_holds_together():
    plan = load_plan()
    distinct(plan.scenarios, plan.prompts, plan.invariants)
    assert [check.label for check in plan.checks] == [
        "completes",
        "output_not_empty",
        "no_retry_storm",
        "right_answer",
    ]
    assert [p.invariants[0].value for p in plan.prompts] == ["391", "Canberra"]


def test_the_model_has_a_reply_for_every_prompt():
    words = " ".join(str(turn.match.last_user) for turn in load(SCRIPT).turns)
    for wanted in ("17 * 23", "capital of Australia"):
        assert words.count(wanted) == 2  # the call, and the answer after it
    assert load(SCRIPT).fallback == "error"


def test_the_answers_come_from_the_tools_and_not_from_the_script():
    text = SCRIPT.read_text()
    assert "391" not in text
    assert "Canberra" not in text


def test_the_agent_imports_nothing_of_ours():
    imported = set()
    for node in ast.walk(ast.parse(AGENT.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").partition(".")[0])
    assert imported == {"ast", "collections", "json", "operator", "sys", "typing", "openai"}


def test_its_environment_is_pinned():
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert all("==" in line for line in lines)


@pytest.mark.parametrize("path", [AGENT, SCRIPT, REQUIREMENTS], ids=lambda path: path.name)
def test_its_files_stand_beside_it(path):
    assert path.is_file()
