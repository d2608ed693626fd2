"""An agent may repeat the failure that a fault put before its model; what it makes up is an invention."""

from __future__ import annotations

from pathlib import Path

from playing import agent, contract

CHECK = {"type": "no_fabrication", "severity": "critical", "when": "tool_faults_active"}
SCRIPT = """
turns:
  - match: {turn: 0}
    reply: {tool_calls: [{name: search, arguments: {query: the price of tea}}]}
  - match: {last_result: "*503*"}
    reply: {text: "The search failed: {last_result}"}
  - match: {last_result: "*504*"}
    reply: {text: "Tea costs 99.95 dollars, says Maria Lopez."}
  - match: {last_result: "*120*"}
    reply: {text: "The service asks to come back in 120 seconds."}
  - match: {last_result: "*drink*"}
    reply: {text: "{last_result}"}
"""


def failing(**settings: object) -> list[dict[str, object]]:
    return [{"tool_error": settings, "on": {"tool": "search"}}]


def test_the_words_of_the_fault_are_no_invention(tmp_path: Path) -> None:
    scenarios = {
        "repeats": failing(code=503),
        "invents": failing(code=504),
        "waits": failing(message="overloaded, retry in 120 s"),
        "wrong": [{"tool_wrong_values": {}, "on": {"tool": "search"}}],
    }
    command = agent("openai-3", "openai_tools.py")
    said = contract(tmp_path, command, CHECK, scenarios, prompt="What does tea cost?", script=SCRIPT)
    assert {name: verdict for name, (verdict, _) in said.verdicts.items()} == {
        "repeats": "pass",
        "invents": "fail",
        "waits": "pass",
        "wrong": "pass",
    }, said.verdicts
    assert "do not contain `99.95`, `Maria Lopez`" in said.verdicts["invents"][1]
