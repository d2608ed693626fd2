"""Verdicts on how agents of real frameworks take failures are true by the agents' own logs.

Each framework and manner answers two prompts in each scenario. What is true is computed from the requests
that its HTTP client logged: bodies, statuses, times, and the `retry-after` of the answers.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import agent_logs
import harness
import labelled
import pytest
from agent_logs import RIVERS, TEA

FIRST = {"trigger": {"first": 1}}
SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "calm": [],
    "down": [{"status": {"code": 503}}],
    "down at first": [{"status": {"code": 503}, **FIRST}],
    "wrong": [{"status": {"code": 400}}],
    "limited": [{"rate_limit": {"retry_after_s": 10}, **FIRST}],
    "reset": [{"reset": {"at": "before_headers"}, **FIRST}],
}
FAILING = sorted(set(SCENARIOS) - {"calm"})
MOST_ATTEMPTS = 6
CLOSE_S = 0.06
"""Times that the agent and the proxy measured differ by so much: what is nearer to a limit is not judged."""
CLOSE_GROWTH_S = 0.3
"""The same of two waits, each with two times: on a busy machine a request is on its way for so long."""


class Log:
    """The requests to models that one invocation logged."""

    def __init__(self, invocation: dict[str, Any], manner: str) -> None:
        lines = [json.loads(one[5:]) for one in invocation["stderr"].splitlines() if one.startswith("WIRE ")]
        self.sent = [one for one in lines if "traces" not in one["url"]]
        self.manner, self.answer = manner, invocation["answer"].strip()
        self.ended = invocation["exit_code"] == 0

    @property
    def attempts(self) -> int:
        return max(Counter(one["body"] for one in self.sent).values())

    @property
    def calls(self) -> int:
        """Requests that repeat none which failed, whether the SDK or a loop around it repeats."""
        last = dict[str, Any]()
        calls = 0
        for one in self.sent:
            calls += last.get(one["body"], 200) == 200
            last[one["body"]] = one.get("status")
        return calls

    @property
    def failed(self) -> list[dict[str, Any]]:
        return [one for one in self.sent if one.get("status") != 200]

    @property
    def broke_off(self) -> bool:
        """Did its client fail by itself after it had sent a request? It does not know of the answer, though
        one came: openai-agents asks with a connection of an event loop that is closed."""
        return any(one.get("error") == "RuntimeError" for one in self.sent)

    def after(self, one: dict[str, Any]) -> list[dict[str, Any]]:
        return [other for other in self.sent if other["began"] >= one["ended"]]

    @property
    def waits(self) -> list[float]:
        """Seconds between attempts of one body, where no server asked for them."""
        pairs = [pair for pair in pairwise(self.sent) if pair[0]["body"] == pair[1]["body"]]
        return [
            second["began"] - first["ended"]
            for first, second in pairs
            if first.get("status") != 200 and not first.get("wait")
        ]

    @property
    def on_its_way(self) -> float:
        """The most seconds from a request to its failure. Faults answer at once: this is what the machine
        takes, and the proxy may have seen a wait that is longer or shorter by as much."""
        return max((one["ended"] - one["began"] for one in self.failed), default=0.0)

    @property
    def waited_as_asked(self) -> bool | None:
        asked = [(one, self.after(one)) for one in self.sent if one.get("wait")]
        spare = [later[0]["began"] - one["ended"] - float(one["wait"]) + 0.1 for one, later in asked if later]
        return None if any(abs(one) < CLOSE_S for one in spare) else all(one > 0 for one in spare)

    @property
    def backed_off(self) -> bool | None:
        waits = self.waits
        if len(waits) > 2 or any(abs(one - 0.1) < max(CLOSE_S, self.on_its_way) for one in waits):
            return None  # stacked retries begin anew, and the limit is too near
        grows = len(waits) < 2 or waits[-1] > waits[0]
        close = len(waits) == 2 and abs(waits[1] - waits[0]) < max(CLOSE_GROWTH_S, 2 * self.on_its_way)
        return None if close else bool(waits) and min(waits) >= 0.1 and grows


class Row(NamedTuple):
    """A check with its settings, and when it should pass: None where the log cannot tell."""

    settings: dict[str, Any]
    should: Callable[[Log], bool | None]


CHECKS: dict[str, Row] = {
    "no_retry_storm": Row({}, lambda log: log.attempts <= MOST_ATTEMPTS),
    "max_llm_calls": Row({"max": 1}, lambda log: log.calls == 1),
    "latency": Row({"max_ms": 60_000}, lambda log: True),
    "max_duration": Row({"max_s": 60}, lambda log: True),
    "valid_history": Row({}, lambda log: log.manner != "orphan"),
    "respects_retry_after": Row({"scenarios": FAILING}, lambda log: log.waited_as_asked),
    "backs_off": Row({"scenarios": FAILING}, lambda log: log.backed_off),
    "no_retry_of_client_errors": Row(
        {"scenarios": ["wrong"]}, lambda log: log.attempts == 1 or not any(log.failed)
    ),
    "recovers_within": Row(
        {"max_s": 60, "scenarios": FAILING},
        lambda log: (
            None
            if log.broke_off
            else all(any(one.get("status") == 200 for one in log.after(bad)) for bad in log.failed)
        ),
    ),
    "fallback_used": Row({"scenarios": FAILING}, lambda log: False),
}
AGENTS = [
    ("openai", "plain"), ("openai", "early"), ("openai", "stacked"), ("openai", "orphan"),
    ("anthropic", "plain"), ("anthropic", "single"), ("anthropic", "early"),
    ("langgraph", "plain"), ("langgraph", "stacked"), ("langgraph", "early"), ("langgraph", "paired"),
    ("pydantic-ai", "plain"), ("pydantic-ai", "early"),
    ("openai-agents", "plain"), ("openai-agents", "early"),
]  # fmt: skip


def played(
    work: Path, framework: str, manner: str, scenarios: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """The judged cells, each with what the log says of it."""
    (work / "script.yaml").write_text(labelled.SCRIPT)
    document = {
        "version": "2.0",
        "agent": {
            "type": "command",
            "command": agent_logs.command(framework, manner, "{prompt}"),
            "env": {name: f"${{{name}}}" for name in harness.KEYS},
            "timeout": labelled.LIMIT_MS,
        },
        "proxy": {"mock": True, "script": "script.yaml"},
        "golden_prompts": [TEA, RIVERS],
        "contract": {
            "name": "retries",
            "invariants": [
                {"type": check, **settings, "scenarios": sorted(places)}
                for check, (settings, _) in CHECKS.items()
                if (places := scenarios.keys() & set(settings.get("scenarios", scenarios)))
            ],
            "chaos_matrix": [{"name": name, "faults": faults} for name, faults in scenarios.items()],
        },
    }
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*harness.faultwire(), "contract", "run", "--allow-unknown", "-o", "report.json"],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, check=False,
        timeout=labelled.LIMIT_S,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    report = json.loads((work / "report.json").read_text())
    invocations = {one["id"]: one for one in report["invocations"]}
    return [
        {
            "agent": f"{framework}, {manner}",
            "check": cell["invariant"],
            "should": CHECKS[cell["invariant"]].should(Log(invocations[cell["invocation"]], manner)),
            "verdict": cell["verdict"],
            "where": cell["invocation"],
            "why": cell["explanation"],
        }
        for cell in report["cells"]
    ]


def false_verdicts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    wrong = {True: "fail", False: "pass"}
    return [row for row in rows if row["should"] is not None and row["verdict"] == wrong[row["should"]]]


@pytest.mark.timeout(labelled.LIMIT_S)
@pytest.mark.nightly
@pytest.mark.parametrize(("framework", "manner"), AGENTS, ids=[", ".join(one) for one in AGENTS])
def test_verdicts_on_retries_are_true_by_the_log(framework: str, manner: str, tmp_path: Path) -> None:
    rows = played(tmp_path, framework, manner, SCENARIOS)
    assert false_verdicts(rows) == []
    assert {row["verdict"] for row in rows} >= {"pass", "fail"}


def test_only_what_the_log_decides_can_be_false() -> None:
    rows = [{"should": should, "verdict": "pass"} for should in (True, False, None)]
    assert false_verdicts(rows) == [rows[1]]
