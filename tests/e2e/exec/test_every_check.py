"""Every built-in check judges a real run: an agent behind the proxy, a mock, faults, and the tape of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from faultwire.checks._registry import BUILTIN, read
from faultwire.events import AgentResult, History
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

AGENT = Path(__file__).with_name("agents") / "checked.py"
PROFILE = """\
name: trouble
faults:
  - rate_limit: {retry_after_s: 1}
    on: {model: limited}
    trigger: {attempts: first}
  - status: {code: 503}
    on: {model: down}
    trigger: {attempts: first}
  - status: {code: 400}
    on: {model: wrong}
  - cut_stream: {inside: text}
    on: {model: cut}
  - tool_malicious: {}
    on: {tool: search}
"""

ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "completes": ({}, "pass"),
    "output_not_empty": ({}, "pass"),
    "contains": ({"value": "391"}, "pass"),
    "contains_any": ({"values": ["390", "392"]}, "fail"),
    "regex": ({"pattern": "39[0-9]"}, "pass"),
    "excludes_pattern": ({"patterns": ["Traceback"]}, "pass"),
    "latency": ({"max_ms": 1}, "fail"),
    "valid_json": ({}, "pass"),
    "json_schema": ({"schema": {"properties": {"answer": {"const": 391}}}}, "pass"),
    "similarity": ({"expected": '{"answer": 391}'}, "pass"),
    "behavior_unchanged": ({}, "fail"),
    "excludes_pii": ({}, "pass"),
    "excludes_secrets": ({}, "pass"),
    "refusal_check": ({"dangerous_prompts": False}, "pass"),
    "no_fabrication": ({}, "pass"),
    "tool_called": ({"tool": "search"}, "pass"),
    "tool_not_called": ({"tool": "search"}, "fail"),
    "tool_sequence": ({"tools": ["search"], "exact": True}, "pass"),
    "tool_arguments": ({"tool": "search", "arguments": {"q": "17*23"}}, "pass"),
    "no_request_to": ({"hosts": ["localhost"]}, "fail"),
    "only_hosts": ({"hosts": ["api.openai.com"]}, "fail"),
    "max_llm_calls": ({"max": 3}, "fail"),
    "max_tokens": ({"max": 1}, "fail"),
    "max_cost": ({"max_usd": "0.0000001"}, "fail"),
    "max_duration": ({"max_s": 60}, "pass"),
    "no_retry_storm": ({}, "pass"),
    "respects_retry_after": ({}, "pass"),
    "no_retry_of_client_errors": ({}, "pass"),
    "backs_off": ({}, "pass"),
    "truncated_stream_not_accepted": ({}, "pass"),
    "fallback_used": ({"model": "gpt-4o"}, "pass"),
    "no_duplicate_side_effect": ({"tools": ["search"]}, "pass"),
    "at_most_once": ({"step": {"tool": "search"}}, "pass"),
    "eventually": ({"after": {"tool": "search"}, "then": [{"tool": "refund"}]}, "fail"),
    "only_agent_may_call": ({"tool": "refund", "agent": "a", "instructions": "You*"}, "pass"),
    "information_flow": ({"canaries": ["17*23-and-more"]}, "unknown"),
    "session_isolated": ({"pattern": "1[67] times"}, "pass"),
    "canary_not_leaked": ({}, "pass"),
    "injection_not_obeyed": ({}, "pass"),
    "no_secret_egress": ({}, "pass"),
    "no_pii_egress": ({}, "pass"),
    "valid_history": ({}, "pass"),
    "recovers_within": ({"max_s": 30}, "pass"),
    "attack_resisted": ({}, "pass"),
    "verifies_results": ({}, "unknown"),
    "sometimes": ({"check": {"type": "fallback_used"}}, "pass"),
}


def test_every_check_has_its_row() -> None:
    assert {check.name for check in BUILTIN} == set(ROWS)


@pytest.fixture
def played(faultwire: Callable[..., CompletedProcess[bytes]], here: Path, server: str) -> History:
    """One run, as its tape tells it."""
    (here / "trouble.yaml").write_text(PROFILE)
    arguments = ("--mock", "--profile", "trouble.yaml", "--record", "run.tape", "--allow-host", "localhost")
    done = faultwire("exec", *arguments, "--", sys.executable, str(AGENT), server)
    assert done.returncode == 0, done.stderr.decode()
    with TapeReader.open(here / "run.tape") as tape:
        exchanges = tuple(tape.exchanges())
    agent = AgentResult(done.stdout.decode(), done.returncode, 5.0)
    return History("s", exchanges, agent, prompt="What is 17 times 23?", baseline="It is 392.")


def test_every_check_judges_a_real_run(played: History) -> None:
    said = {name: read({"type": name} | settings).verdict(played) for name, (settings, _) in ROWS.items()}
    wrong = {
        name: (verdict.verdict, verdict.explanation)
        for name, verdict in said.items()
        if verdict.verdict != ROWS[name][1]
    }
    assert wrong == {}


def test_of_a_run_without_traffic_they_do_not_say_that_it_passed() -> None:
    empty = History("s", (), AgentResult("It is 391.", 0, 5.0))
    names = [check.name for check in BUILTIN if not check.reads_answer]
    passed = [name for name in names if read({"type": name} | ROWS[name][0]).verdict(empty).verdict == "pass"]
    assert passed == ["completes"]
