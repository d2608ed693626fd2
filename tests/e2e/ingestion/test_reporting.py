"""The callback that the guide shows, copied from the page, on a LangGraph agent through the proxy."""

from __future__ import annotations

import re
from pathlib import Path

import environments
import pytest
from harness import execute
from tests.e2e.ingestion.test_service import faultwire, serving

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "howto" / "ingest.md"
AGENT = """
import json
import sys
sys.path.insert(0, ".")
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from reporting import Reporter

@tool
def calculator(expression: str) -> str:
    "Evaluates an arithmetic expression."
    left, _, right = expression.partition("*")
    return str(int(left) * int(right))

reporter = Reporter(sys.argv[1], "counting")
agent = create_react_agent(ChatOpenAI(model="gpt-4o-mini"), [calculator])
for question in ("What is 6*7?", "What is 2*3?"):
    agent.invoke({"messages": [("user", question)]}, config={"callbacks": [reporter]})
if "lie" in sys.argv:
    reporter.add("TOOL_CALL", tool_name="check_policy", run_id="x")
print(json.dumps(reporter.send()))
"""


@pytest.mark.nightly
def test_an_agent_that_reports_itself_as_the_guide_shows(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    [callback] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "reporting.py").write_text(callback)
    (tmp_path / "agent.py").write_text(AGENT)
    command = [str(environments.python("langchain-1")), "agent.py"]
    with serving(tmp_path / "service") as service:
        sessions = []
        for how in ("honest", "lie"):
            done = execute(tmp_path, [*command, service.url, how], "--mock", "--allow-host", "127.0.0.1")
            assert done.code == 0, done.stderr
            assert done.met["evidence_class"] == "AUTHORITATIVE_EVIDENCE"
            done.tape.rename(tmp_path / f"{how}.tape")
            names = [one["session_id"] for one in service.ask("/v1/sessions")[1]["sessions"]]
            sessions.append(next(name for name in names if name not in sessions))
        kept = str(tmp_path / "service" / service.ready["tape"])
        assert service.end() == 130
    code, out = faultwire(tmp_path, "tape", "claims", "honest.tape", kept, "--reported", sessions[0])
    assert (code, "0 differences; 12 the same" in out) == (0, True), out
    code, out = faultwire(tmp_path, "tape", "claims", "lie.tape", kept, "--reported", sessions[1])
    assert (code, "claims a tool call (`check_policy`) that the wire does not show" in out) == (1, True), out
