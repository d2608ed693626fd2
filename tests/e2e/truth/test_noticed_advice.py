"""What a contract recommends to fix, and the evidence that it names, is true by the agent's own log."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import agent_logs
import harness
import labelled
import pytest
from agent_logs import TEA
from sentence_patterns import Patterns

MODULE = "report/after_failure.py"
OUTCOMES = ("answered {}", "gave no response ({})", "ended early ({})", "{} was refused by the proxy ({})")
CRASHED, NOT_RETRIED = "{}; the agent exited with {}{}", "{}; it was not retried"
HUNG = "the agent was stopped while {} had not finished its response"
SILENT = "{}; the agent exited 0 and printed nothing"
REPEATED = "the tool {} failed with {}, and the answer repeats it"
PATTERNS = Patterns((MODULE,), parts=(*OUTCOMES, CRASHED, NOT_RETRIED, HUNG, SILENT, REPEATED))
RULES = {
    "catch_failures": CRASHED,
    "try_again": NOT_RETRIED,
    "set_timeouts": HUNG,
    "say_so": SILENT,
}
"""The rules that are about how an agent takes a failure, and how their evidence is put."""
IN_EXEC = {
    "{} was refused by the proxy ({})",
    "the connection to {} failed by the fault {}",
    " with the fault {}",
    "the command exited with {} after #{}: {}",
}
"""`test_noticed` has agents whose calls the proxy refuses, `test_own_exit_code` one that fails by a fault in
an answer with 200, and `test_endings` agents that say by their exit code how it went, or do not.
`tests/unit/report/test_advice.py` has a tunnel that a fault broke."""
SILENT_SERVER = "gave no response (the proxy answered {}: {})"
BY_UNIT_TESTS = {REPEATED, SILENT_SERVER}
"""The rule looks at what the tool itself gave back: faults put their text before the model, unseen by the
agent. `tests/unit/report/test_advice.py` has tools that failed by themselves, and `test_cause.py` beside it a
server that says nothing, which the mock never does."""
UNREACHABLE = "the price service is not reachable"
ALWAYS: dict[str, list[dict[str, Any]]] = {
    "calm": [],
    "down": [{"status": {"code": 503}}],
    "wrong": [{"status": {"code": 400}}],
    "reset": [{"reset": {"at": "before_headers"}}],
    "cut": [{"cut_stream": {"after_events": 4}, "trigger": {"first": 1}}],
    "tool fails": [{"tool_error": {"message": UNREACHABLE}, "on": {"tool": "search"}}],
}
OUTCOME_IN = {
    "down": "answered {}",
    "wrong": "answered {}",
    "reset": "gave no response ({})",
    "cut": "ended early ({})",
}
HANGS: dict[str, list[dict[str, Any]]] = {"calm": [], "hang": [{"hang": {}}]}
TRANSIENT = frozenset({None, 408, 409, 425, 429, 500, 502, 503, 504})


class Played(NamedTuple):
    """The report, and by the name of each scenario what the agent logged in it."""

    suggestions: dict[str, dict[str, str]]
    """By rule and scenario: the words of its evidence."""
    invocations: dict[str, dict[str, Any]]


def played(work: Path, framework: str, manner: str, scenarios: dict[str, Any], timeout: int) -> Played:
    (work / "script.yaml").write_text(labelled.SCRIPT)
    command = agent_logs.command(framework, manner, "{prompt}")
    keys = {name: f"${{{name}}}" for name in harness.KEYS}
    document = {
        "version": "2.0",
        "agent": {"type": "command", "command": command, "env": keys, "timeout": timeout},
        "proxy": {"mock": True, "script": "script.yaml"},
        "golden_prompts": [TEA],
        "contract": {
            "name": "advice",
            "invariants": [{"type": "contains", "value": "4.20"}],
            "chaos_matrix": [{"name": name, "faults": faults} for name, faults in scenarios.items()],
        },
    }
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*harness.faultwire(), "contract", "run", "--allow-unknown", "-o", "report.json"],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    report = json.loads((work / "report.json").read_text())
    names = {one["id"]: one["scenario"] for one in report["invocations"]}
    found = {
        one["id"]: {names[shown["invocation"]]: shown["words"] for shown in one["evidence"]}
        for one in report["suggestions"]
    }
    return Played(found, {one["scenario"]: one for one in report["invocations"]})


def true_of(invocation: dict[str, Any], scenario: str) -> set[str]:
    """The rules that an invocation broke, by the agent's log and its exit."""
    sent = [json.loads(one[5:]) for one in invocation["stderr"].splitlines() if one.startswith("WIRE ")]
    models = [one for one in sent if "traces" not in one["url"]]
    assert models or invocation["timed_out"]
    if invocation["timed_out"]:
        return {"set_timeouts"}
    answer, code = invocation["answer"].strip(), invocation["exit_code"]
    last = models[-1].get("status")
    broken = last != 200 or scenario == "cut"
    rules = set()
    if broken and code != 0:
        rules.add("catch_failures")
    if broken and (code != 0 or not answer) and (last in TRANSIENT or scenario == "cut") and len(models) == 1:
        rules.add("try_again")
    if broken and code == 0 and not answer:
        rules.add("say_so")
    return rules


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("framework", "manner"),
    [
        ("langgraph", "single"),
        ("langgraph", "silent"),
        ("pydantic-ai", "single"),
        ("anthropic", "single"),
        ("openai", "plain"),
        ("openai-agents", "silent"),
    ],
)
def test_what_is_recommended_is_true(framework: str, manner: str, tmp_path: Path) -> None:
    done = played(tmp_path, framework, manner, ALWAYS, 60_000)
    for scenario, invocation in done.invocations.items():
        printed = {rule for rule in RULES if scenario in done.suggestions.get(rule, {})}
        assert printed == true_of(invocation, scenario), (scenario, done.suggestions, invocation)
        for rule in printed:
            parts = PATTERNS.found([done.suggestions[rule][scenario]])
            assert parts == PATTERNS.keys((RULES[rule], OUTCOME_IN[scenario]))
    assert "calm" not in {name for found in done.suggestions.values() for name in found}


def test_each_sentence_has_a_scenario_or_a_reason() -> None:
    here = {*RULES.values(), *OUTCOME_IN.values()}
    assert PATTERNS.keys(here | IN_EXEC | BY_UNIT_TESTS) == set(PATTERNS.templates)


@pytest.mark.nightly
@pytest.mark.parametrize("framework", ["langgraph", "openai"])
def test_an_agent_that_is_stopped_is_said_to_have_waited(framework: str, tmp_path: Path) -> None:
    done = played(tmp_path, framework, "single", HANGS, 60_000)
    assert done.invocations["hang"]["timed_out"]
    assert not done.invocations["calm"]["timed_out"]
    assert set(done.suggestions["set_timeouts"]) == {"hang"}
    (words,) = done.suggestions["set_timeouts"].values()
    assert "`api.openai.com/v1/chat/completions` had not finished its response" in words
    assert not {"catch_failures", "try_again", "say_so"} & done.suggestions.keys()
