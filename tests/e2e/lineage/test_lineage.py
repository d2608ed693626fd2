"""`faultwire tape show --lineage` on tapes of real agents: what the model asked for and what came of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.agents import environments
from tests.e2e.agents.harness import execute, faultwire

AGENTS = Path(__file__).parents[1] / "agents"
REFUND = """import json
from openai import OpenAI

client, model = OpenAI(), "gpt-4o-mini"
results = {
    "lookup_order": {"id": "ORD-88123", "amount": 1299.5, "note": "left at the back door of the blue house"},
    "refund": {"receipt": "RCP-55511"},
}
functions = [{"name": name, "parameters": {"type": "object"}} for name in results]
tools = [{"type": "function", "function": function} for function in functions]
messages = [
    {"role": "system", "content": "You are a careful helper for refunds. Never refund twice."},
    {"role": "user", "content": "Refund the last order of Ada Lovelace please"},
]
while True:
    answer = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
    messages.append(answer.model_dump(exclude_none=True))
    if not answer.tool_calls:
        break
    for call in answer.tool_calls:
        said = json.dumps(results[call.function.name])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Something else entirely"}])
print(json.dumps({"answer": answer.content}))
"""
SCRIPT = """turns:
  - match: {last_tool: refund}
    reply: {text: "Done, {last_result}."}
  - match: {last_tool: lookup_order}
    reply: {tool_calls: [{name: refund, arguments: {order: ORD-88123, amount: 1299.5}}]}
  - match: {last_user: "*Refund*"}
    reply: {tool_calls: [{name: lookup_order, arguments: {q: Ada Lovelace}}]}
"""


def lineage(tape: Path, *options: str) -> list[dict]:
    command = [*faultwire(), "tape", "show", str(tape), "--lineage", "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def edges(graph: dict) -> set[tuple[int | None, int | None, str, str]]:
    return {
        (edge["source"]["exchange"], edge["target"]["exchange"], edge["kind"], edge["what"])
        for edge in graph["edges"]
    }


def test_an_order_on_its_way_through_an_agent_on_the_openai_sdk(tmp_path: Path) -> None:
    """Four calls: the last one is about something else, and nothing leads to it."""
    (tmp_path / "agent.py").write_text(REFUND)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    python = str(environments.python("openai-3"))
    run = execute(tmp_path, [python, "agent.py"], "--script", "script.yaml")
    assert run.code == 0, run.stderr
    (graph,) = lineage(run.tape)
    assert edges(graph) == {
        (1, 2, "exact", "call id"),
        (1, 2, "history", "turn"),
        (2, 2, "exact", "id"),
        (2, 3, "exact", "call id"),
        (2, 3, "history", "turn"),
        (3, 3, "exact", "id"),
    }
    spans = {edge["span"] for edge in graph["edges"] if edge["what"] == "id"}
    assert spans == {"ORD-88123", "RCP-55511"}
    report = next((tmp_path / ".faultwire" / "runs").glob("*/report.html")).read_text()
    assert '<svg class="lineage"' in report
    assert "<script" not in report


SDKS = {
    "openai": ("openai-3", "openai_agent.py"),
    "anthropic": ("anthropic-2", "anthropic_agent.py"),
    "langchain": ("langchain-1", "framework_agent.py", "langchain-openai"),
    "openai-agents": ("openai-agents-0", "framework_agent.py", "openai-agents"),
    "pydantic-ai": ("pydantic-ai-2", "framework_agent.py", "pydantic-ai"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*SDKS, "node_ai"])
def test_a_tool_call_on_each_sdk(name: str, tmp_path: Path) -> None:
    """The call and its result, by the id that the provider gave, and nothing else."""
    if name == "node_ai":
        command = ["node", str(environments.node(name) / "agent.mjs"), "chat", "tools"]
    else:
        lock, agent, *framework = SDKS[name]
        command = [str(environments.python(lock)), str(AGENTS / agent), *framework, "tools"]
    run = execute(tmp_path, command, "--mock")
    (graph,) = lineage(run.tape)
    assert edges(graph) == {(1, 2, "exact", "call id"), (1, 2, "history", "turn")}, run.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [(("--session", "nobody"), 2, "found no session"), (("--exchange", "9"), 2, "found no exchange 9"),
     (("--exchange", "1", "--raw"), 2, "expected one of them")],
)  # fmt: skip
def test_what_is_not_on_the_tape(options: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import httpx; httpx.get('https://api.openai.com/v1/models')"]
    run = execute(tmp_path, command, "--mock")
    done = subprocess.run(
        [*faultwire(), "tape", "show", str(run.tape), "--lineage", *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr


@pytest.mark.parametrize("agent", ["python", pytest.param("node", marks=pytest.mark.nightly)])
def test_a_tool_call_over_websockets_on_openais_sdks(agent: str, tmp_path: Path) -> None:
    """Realtime and Responses: the call of the model, its result, and the answer that holds it; each its own
    message of one connection."""
    command = [str(environments.python("openai-3-realtime")), str(AGENTS / "realtime_agent.py")]
    if agent == "node":
        command = ["node", str(environments.node("node_sockets") / "agent.mjs")]
    run = execute(tmp_path, [*command, "realtime", "responses"], "--mock")
    assert run.code == 0, run.stderr
    (graph,) = lineage(run.tape)
    assert [one["unread"] for one in graph["exchanges"]] == [None, None]
    for number in (1, 2):
        within = [
            edge for edge in graph["edges"]
            if edge["source"]["exchange"] == edge["target"]["exchange"] == number
        ]  # fmt: skip
        (called,) = (edge for edge in within if edge["what"] == "call id")
        assert called["source"]["part"] == "the call of `calculator`"
        assert called["target"]["part"] == "the result of `calculator`"
        assert called["source"]["messages"][1] < called["target"]["messages"][0]
        named = [edge for edge in within if edge["source"]["part"] == "the id of the answer"]
        assert len(named) == (number == 2), "only Responses names an earlier answer"
