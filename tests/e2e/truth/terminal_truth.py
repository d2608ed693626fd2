"""What `run`, `contract run` and `ci` print on the terminal, as patterns; and what the agents' own logs
say of the numbers in it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import environments
import harness
from labelled import LIMIT_MS, LIMIT_S
from sentence_patterns import known, words
from verdict_log import PRICES, Log, cost

AGENT = Path(__file__).with_name("verdict_agent.py")
ENVIRONMENTS = {
    "langgraph": "langchain-1",
    "pydantic-ai": "pydantic-ai-2",
    "openai-agents": "openai-agents-0",
}
MODULES = (
    "report/terminal.py",
    "report/terminal_numbers.py",
    "report/summary.py",
    "report/progress.py",
    "runner/gate.py",
)
NUMBER = r"[\d.,]+"
SPECIAL = {
    "{} interval{}": r"95% interval(, at any stop)?  ",
    "all {} pass": r"  all \d+ pass ",
    "against {}": r"  against calm ",
    "{} min": r"about \d+ min left",
    "{} min {} s": r"about \d+ min \d+ s left",
    "{} h {} min": r"about \d+ h \d+ min left",
    "about {} left": r"· about .+ left",
    "{} of {} invocation{}": r"  \d+ of \d+ invocations? ·",
    "{} fault{} fired": r"· \d+ faults? fired",
    "{} inconclusive": r"· \d+ inconclusive",
    "at least {} token{}": rf"· at least {NUMBER}[kM]? tokens?",
    "{} token{}": rf"· {NUMBER}[kM]? tokens?",
    "under ${}": r"· under \$0\.0001",
    " + {} unknown": r"\$\S+ \+ \d+ unknown",
    "cost unknown": r"· cost unknown",
    "{} ({} passed, {} failed": r"score .+ \(\d+ passed, \d+ failed",
    ", {} unknown)": r"failed, \d+ unknown\)",
    "  {} critical": r"\)  \d+ critical",
    "\n       {} of {} without a failure: {} interval {} to {} %": (
        r"\d+ of \d+ judged invocations? without a failure: 95% interval \d+ to \d+ %"
    ),
    "\n       worst scenario: {}, {}": r"worst scenario: .+?, \d",
    "never judged\n": r"never judged \? ",
    "nothing to compare": r"nothing to compare",
    "{}: {} failed": r"(contract|mutation): \d+ (critical )?cells? failed",
    "{}: the score {}": r"(contract|mutation): the score \d+",
    "{}: {} unknown": r"(contract|mutation): \d+ cells? unknown",
    "{}: {}\n  hint: {}": r"(contract|mutation): .+   hint: ",
    "{}: {} decided as bad": r"(contract|mutation): \d+ pass rates? decided as bad",
    "{}: {} undecided": r"(contract|mutation): \d+ pass rates? undecided",
    "{}: no score, because {}": r"(contract|mutation): no score, because ",
    "{}: the scenario `{}`": r"contract: the scenario `\w+` has a score",
    "{} has a score of {}, below its floor {}": rf"has a score of {NUMBER}, below its floor {NUMBER}",
    "{} is below the minimum {}": rf"{NUMBER} is below the minimum {NUMBER}",
    "only {} of {} {} were judged": r"only \d+ of \d+ \w+ were judged",
    "the overall score {}": r"the overall score \d",
    "{} points ({}{})": r"[+-]\d+ points \([+-]",
    "  {} (newest last)\n": r"\(newest last\)",
    "  compared with {}: ": r"compared with \S+: ",
    "  robustness {} ({} mutants, {})": r"robustness (none|\S+%) \(\d+ of \d+ mutants",
    " (and {} more)\n": r" \(and \d+ more\)",
    "  and {} more\n": r"  and \d+ more ",
    "  flaky: {} in {} on {} ({} passed, {} failed)": r"flaky: .+? \(\d+ passed, \d+ failed\)",
    "; scenarios must reach their floors: {}": r"; scenarios must reach their floors: `",
    "{}; unknown cells are allowed": r"; unknown cells are allowed",
    ", threshold {}": rf", threshold {NUMBER}:",
    "**no score**": r"overall  no score",
}
"""Of templates with few words between their values, as they stand among the others; a space is any white
space, as lines are folded."""


def patterns() -> dict[str, re.Pattern[str]]:
    """A pattern for each sentence, by its template."""
    templates = set(known(*MODULES).values())
    assert SPECIAL.keys() <= templates, SPECIAL.keys() - templates
    # Of two gaps side by side each place in the text would be tried with each other.
    made = {one: SPECIAL.get(one, words(one.strip().replace("{}{}", "{}"))) for one in templates}
    return {
        one: re.compile(
            pattern.replace("\\ ", r"\s+").replace("  ", r"\s{2,}").replace(" ", r"\s+"), re.DOTALL
        )
        for one, pattern in made.items()
    }


class Printed(NamedTuple):
    """A finished command: what it printed, and the agent's log of each invocation by its session's name."""

    code: int
    out: str
    err: str
    logs: dict[str, Log]
    usage: list[tuple[str, int, int]]
    """Model, and tokens of input and output."""
    cells: list[dict[str, Any]]

    @property
    def text(self) -> str:
        return f"{self.out}\n{self.err}"

    def figures(self, pattern: str) -> tuple[str, ...]:
        """The values of the last place where a pattern stands."""
        *_, found = re.finditer(pattern.replace(" ", r"\s+"), self.text)
        return found.groups()

    def of(self, part: str) -> list[Log]:
        return [log for name, log in self.logs.items() if part in name]


def run(work: Path, command: Sequence[str], document: dict[str, Any], *phases: str) -> Printed:
    """Run `faultwire COMMAND` on this configuration; `phases` are the reports that hold the invocations."""
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*harness.faultwire(), *command],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, check=False,
        timeout=LIMIT_S,
    )  # fmt: skip
    newest = max((work / ".faultwire" / "runs").glob("*/run.json"), default=None)
    assert newest is not None, done.stderr
    logs: dict[str, Log] = {}
    usage: list[tuple[str, int, int]] = []
    cells: list[dict[str, Any]] = []
    for phase in phases:
        report = json.loads((newest.parent / f"{phase}.json").read_text())
        prompts = {one["id"]: one["text"] for one in report["prompts"]}
        cells += report["cells"]
        for one in report["invocations"]:
            logs[one["id"]] = Log(prompts[one["prompt"]], one["scenario"], one["stderr"])
            usage += logs[one["id"]].usage
    return Printed(done.returncode, done.stdout, done.stderr, logs, usage, cells)


def agent(framework: str, manner: str) -> dict[str, Any]:
    python = str(environments.python(ENVIRONMENTS[framework]))
    return {
        "type": "command",
        "command": [python, str(AGENT), framework, manner, "{prompt}"],
        "env": {key: f"${{{key}}}" for key in harness.KEYS},
        "timeout": LIMIT_MS,
    }


# ---------------------------------------------------------------- what the logs say of the numbers


def cells_counted(done: Printed, verdicts: dict[str, list[str]]) -> None:
    """`verdicts` are those that are true of each invariant, by the logs."""
    every = [one for each in verdicts.values() for one in each]
    counts = [str(every.count(one)) for one in ("pass", "fail", "unknown")]
    passed, failed, unknown = done.figures(r"score .+? \((\d+) passed, (\d+) failed(?:, (\d+) unknown)?\)")
    assert [passed, failed, unknown or "0"] == counts
    assert done.figures(r"· cells (\d+) pass, (\d+) fail, (\d+) unknown ·") == tuple(counts)


def invocations_counted(done: Printed, without: int, judged: int) -> None:
    assert done.figures(r"(\d+) of (\d+) judged invocations? without") == (str(without), str(judged))
    played, planned = done.figures(r"  (\d+) of (\d+) invocations ·")
    assert int(played) == int(planned) == len(done.logs)


def spent(done: Printed) -> None:
    """The tokens and dollars of the last line of progress are those that the framework counted."""
    total = sum(tokens for _, *both in done.usage for tokens in both)
    assert done.figures(r"· (?:at least )?(\d+) tokens ·") == (str(total),)
    dollars = cost(done.usage)
    if dollars:
        words = "under $0.0001" if dollars < Decimal("0.0001") else f"${dollars:.4f}"
        assert f"· {words} " in done.err
    unpriced = [one for one in done.usage if one[0] not in PRICES]
    uncounted = any(one.manner == "uncounted" for one in done.logs.values())
    assert ("cost unknown" in done.err) == (bool(unpriced) and not dollars)
    assert (" unknown (prices" in done.err) == ((bool(unpriced) or uncounted) and bool(dollars))
