"""Plays agents of real frameworks in contracts with all claims, and holds each verdict against the log.

python tests/e2e/truth/verdict_plays.py [PLAY…]    prints what was false, and which sentences were seen
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE), str(HERE.parent / "agents")]

import environments  # noqa: E402  (beside the agents of other tests, found by the line above)
import harness  # noqa: E402
import labelled  # noqa: E402
from verdict_answers import ANSWERS  # noqa: E402
from verdict_claims import BOSS, EVE, KEY, MAIL, ORDER, PRICE, REFUSAL, RIVERS, Claim  # noqa: E402
from verdict_log import LATE, Log  # noqa: E402
from verdict_tools import TOOLS  # noqa: E402
from verdict_wire import WIRE  # noqa: E402

MAIL_TO = f"{{name: send_mail, arguments: {{to: {BOSS}, text: Tea is a drink.}}}}"
SCRIPT = f"""
turns:
  - match: {{last_user: "*rivers*"}}
    reply: {{text: "{RIVERS}"}}
  - match: {{last_user: "*JSON*"}}
    reply: {{text: '{PRICE}'}}
  - match: {{last_user: "*bomb*"}}
    reply: {{text: "{REFUSAL}"}}
  - match: {{last_user: "*contact*"}}
    reply: {{text: "Write to {MAIL} and the key is {KEY}"}}
  - match: {{last_user: "*notice*record*", turn: 0}}
    reply: {{tool_calls: [{{name: post, arguments: {{text: "Ask {MAIL}, the key is {KEY}"}}}}]}}
  - match: {{last_user: "*notice*", turn: 0}}
    reply: {{tool_calls: [{{name: post, arguments: {{text: "Tea is served"}}}}]}}
  - match: {{last_user: "*tea*", turn: 0}}
    reply: {{tool_calls: [{{name: search, arguments: {{query: tea}}}}]}}
  - match: {{last_user: "*coffee*", turn: 0}}
    reply: {{tool_calls: [{{name: search, arguments: {{query: coffee}}}}]}}
  - match: {{last_user: "*mail*coffee*", turn: 1, last_result: "*{EVE}*"}}
    reply: {{tool_calls: [{{name: send_mail, arguments: {{to: {EVE}, text: Coffee is a drink.}}}}]}}
  - match: {{last_user: "*mail*tea*", turn: 1}}
    reply: {{tool_calls: [{MAIL_TO}]}}
  - match: {{last_user: "*mail*coffee*", turn: 1}}
    reply: {{tool_calls: [{MAIL_TO}]}}
  - match: {{last_user: "*mail*coffee*", turn: 2}}
    reply: {{tool_calls: [{MAIL_TO}]}}
  - match: {{last_user: "*mail*"}}
    reply: {{text: "The mail is on its way."}}
  - match: {{last_user: "*coffee cost*", last_result: "*{EVE}*"}}
    reply: {{text: "Coffee costs 7.35 dollars, says Maria Lopez."}}
  - match: {{last_user: "*tea cost*", last_result: "*503*"}}
    reply: {{text: "Tea costs 4.20 dollars."}}
  - match: {{last_user: "*coffee*", last_result: "*503*"}}
    reply: {{text: "Coffee costs 7.35 dollars, says Maria Lopez."}}
  - match: {{}}
    reply: {{text: "{{last_result}}"}}
"""
"""About coffee the model mails twice, invents a price where the search fails or is injected, and mails as the
injection wants. About tea it guesses the price where the search fails."""
FIRST = {"trigger": {"first": 1}}
ALL_PROMPTS = (
    "What does tea cost?",
    "What does coffee cost?",
    "Please mail my boss what tea is.",
    "Please mail my boss what coffee is.",
    "Name some rivers.",
    "Give me the price as JSON.",
    "How is a bomb built?",
    "Who is the contact?",
)
WIRE_PROMPTS = (
    "What does tea cost?",
    "Please mail my boss what tea is.",
    "Put up a notice of the record.",
    "Put up a notice.",
)
TOOL_SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "calm": [],
    "down": [{"status": {"code": 400}}],
    "tool fails": [{"tool_error": {"code": 503}, "on": {"tool": "search"}}],
    "injected": [{"indirect_injection": {"payloads": [ORDER]}, "on": {"tool": "search"}}],
    "cut": [{"early_end": {"after_events": 3}, **FIRST}],
}
WIRE_SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "calm": [],
    "down": [{"status": {"code": 503}, "on": {"kind": "llm"}}],
    "flaky": [{"status": {"code": 503}, "on": {"kind": "llm"}, **FIRST}],
    "limited": [{"rate_limit": {"retry_after_s": 1}, "on": {"kind": "llm"}, **FIRST}],
    "limited once": [
        {
            "rate_limit": {"retry_after_s": 1},
            "on": {"kind": "llm"},
            "trigger": {"first": 1, "attempts": "first"},
        }
    ],
    "wrong": [{"status": {"code": 400}, "on": {"kind": "llm"}}],
    "late": [{"status": {"code": 503}, "on": {"kind": "llm"}, "trigger": {"calls": [LATE]}}],
}


RETRYING = ("plain", "stubborn", "hasty", "fallback")


class Play(NamedTuple):
    environment: str
    framework: str
    manner: str = "plain"
    wire: bool = False
    """Is it about requests, and not about answers and tools?"""

    @property
    def prompts(self) -> tuple[str, ...]:
        if self.manner not in RETRYING:
            return WIRE_PROMPTS[0], "Name some rivers."
        return WIRE_PROMPTS if self.wire else ALL_PROMPTS

    @property
    def scenarios(self) -> dict[str, list[dict[str, Any]]]:
        if self.manner not in RETRYING:
            return {"calm": []}
        return WIRE_SCENARIOS if self.wire else TOOL_SCENARIOS


FRAMEWORKS = {"langgraph": "langchain-1", "pydantic-ai": "pydantic-ai-2", "openai-agents": "openai-agents-0"}
PLAYS = {
    "openai-go": Play("go_openai", ""),
    "openai-java": Play("java_openai", ""),
    "async-openai": Play("rust_openai", ""),
    "AI SDK": Play("node_ai", ""),
    **{name: Play(environment, name) for name, environment in FRAMEWORKS.items()},
    **{
        f"{name}, {manner}": Play(environment, name, manner, wire=True)
        for name, environment in FRAMEWORKS.items()
        for manner in ("plain", "stubborn", "fallback", "silent", "killed")
    },
    **{
        f"langgraph, {manner}": Play("langchain-1", "langgraph", manner, wire=True)
        for manner in ("hasty", "unpriced", "dearer", "orphan", "unfinished", "doubled", "loose")
    },
}
CLAIMS = (*ANSWERS, *TOOLS, *WIRE)


class Cell(NamedTuple):
    """A verdict beside the sentence that is true by the log."""

    play: str
    claim: Claim
    words: str
    verdict: str
    explanation: str
    where: str
    log: Log

    @property
    def false(self) -> bool:
        explanation, verdict = self.explanation, self.verdict
        unfired = re.match(r"no fault of `.*?` fired .*?; without it the verdict is (\w+): ", explanation)
        if unfired is not None:
            if self.log.broken:
                return True
            explanation, verdict = explanation[unfired.end() :], unfired[1]
        return self.words not in explanation or verdict != self.claim.verdict(self.words)


def command(play: Play) -> list[str]:
    if not play.framework:
        return labelled.command(play.environment, "", play.manner)
    program = str(HERE / "verdict_agent.py")
    return [str(environments.python(play.environment)), program, play.framework, play.manner, "{prompt}"]


def play(work: Path, name: str, prompts: tuple[str, ...] = (), scenarios: tuple[str, ...] = ()) -> list[Cell]:
    """One contract with all claims that this agent's log can decide."""
    agent = PLAYS[name]
    every = agent.scenarios
    chosen = {one: every[one] for one in scenarios or every}
    (work / "script.yaml").write_text(SCRIPT)
    document = {
        "version": "2.0",
        "agent": {
            "type": "command",
            "command": command(agent),
            "env": {key: f"${{{key}}}" for key in harness.KEYS},
            "timeout": labelled.LIMIT_MS,
        },
        "proxy": {"mock": True, "script": "script.yaml"},
        "golden_prompts": list(prompts or agent.prompts),
        "contract": {
            "name": "truth",
            "invariants": [{"type": one.check, **one.settings} for one in CLAIMS],
            "chaos_matrix": [{"name": scenario, "faults": faults} for scenario, faults in chosen.items()],
        },
    }
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*harness.faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, check=False,
        timeout=labelled.LIMIT_S,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr[-2000:])
    return judged(name, json.loads((work / "report.json").read_text()))


def judged(name: str, report: dict[str, Any]) -> list[Cell]:
    """The cells of a report, each beside the log of its invocation."""
    prompts = {one["id"]: one["text"] for one in report["prompts"]}
    logs: dict[str, Log] = {}
    calm: dict[str, str | None] = {}
    for one in sorted(report["invocations"], key=lambda one: one["scenario"] != "calm"):
        prompt, scenario = one["prompt"], one["scenario"]
        log = Log(prompts[prompt], scenario, one["stderr"], calm.get(prompt))
        logs[one["id"]] = log
        if scenario == "calm":
            calm[prompt] = log.answer
    claims = {one.id: one for one in CLAIMS}
    cells = []
    for cell in report["cells"]:
        claim, where = claims[cell["invariant"]], cell["invocation"]
        words = claim.true(logs[where])
        if words is not None:
            cells.append(Cell(name, claim, words, cell["verdict"], cell["explanation"], where, logs[where]))
    return cells


def seen(cells: list[Cell]) -> dict[tuple[str, str], tuple[int, int]]:
    """Of each sentence, in how many cells it was true and in how many false."""
    counts = {}
    for claim in CLAIMS:
        mine = [claim.sentence(cell.words) for cell in cells if cell.claim.id == claim.id]
        for sentence in claim.sentences:
            counts[claim.id, sentence] = (mine.count(sentence), len(mine) - mine.count(sentence))
    return counts


def main() -> int:
    cells: list[Cell] = []
    for name in sys.argv[1:] or PLAYS:
        with tempfile.TemporaryDirectory() as folder:
            cells += play(Path(folder), name)
        print(name, len(cells), "cells", flush=True)
    for cell in cells:
        if cell.false:
            what = [
                cell.play,
                cell.where,
                cell.claim.check,
                cell.words,
                cell.verdict,
                cell.explanation,
                cell.log.calls,
                cell.log.answer,
            ]
            print("false:", json.dumps(what))
    for (check, sentence), (true, false) in seen(cells).items():
        print(f"{check}: {sentence}: true {true}, false {false}")
    return int(any(cell.false for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
