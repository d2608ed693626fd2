"""What `run`, `contract run` and `ci` print on the terminal is true of agents on real frameworks by their own
logs, and is not printed of runs of which it is not true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from labelled import LIMIT_S
from terminal_truth import Printed, agent, cells_counted, invocations_counted, patterns, run, spent
from verdict_claims import RIVERS
from verdict_log import Log
from verdict_plays import SCRIPT

TEA, NAME_RIVERS = "What does tea cost?", "Name some rivers."
COMPLETES = {"type": "completes", "severity": "critical"}
PRICED = {"type": "contains", "value": "4.20"}
NO_GAP = {"type": "no_fabrication", "when": "tool_faults_active", "severity": "critical"}
CALM: dict[str, list[dict[str, Any]]] = {"calm": []}
DOWN = {"down": [{"status": {"code": 400}}]}
ELSEWHERE = {"elsewhere": [{"tool_error": {"code": 503}, "on": {"tool": "nothing"}}]}
SOMETIMES = {
    "sometimes": [{"latency": {"ms": 1}}, {"status": {"code": 400}, "on": {"session": "*/r1"}}],
}
CONTRACT = ("contract", "run")

SCORE = "{} ({} passed, {} failed"
CLEAN = "\n       {} of {} without a failure: {} interval {} to {} %"
EVERY = "every cell must pass"
PROGRESS = ("{} of {} invocation{}", "{} fault{} fired", "{} token{}")
STATISTICS = ("without a failure", "{} interval{}")
AGAINST = "against {}"
QUIET = "  none: no scenario has faults\n"
CHEAP = "under ${}"
JUDGED = (SCORE, CLEAN, *PROGRESS, CHEAP, *STATISTICS, AGAINST)
WORST = "\n       worst scenario: {}, {}"
FAILED = "{}: {} failed"
POINTS = "{} points ({}{})"
FIXES = "recommended fixes"


def document(
    framework: str,
    manner: str,
    checks: list[dict[str, Any]],
    scenarios: dict[str, list[dict[str, Any]]],
    prompts: tuple[str, ...] = (TEA, NAME_RIVERS),
    **sections: Any,
) -> dict[str, Any]:
    matrix = [{"name": name, "faults": faults} for name, faults in scenarios.items()]
    contract = {"name": "truth", "invariants": checks, "chaos_matrix": matrix}
    return {
        "version": "2.0",
        "agent": agent(framework, manner),
        "proxy": {"mock": True, "script": "script.yaml"},
        "golden_prompts": list(prompts),
        "contract": contract,
        **sections,
    }


def ended(log: Log) -> str:
    return "pass" if log.answer is not None else "fail"


def priced(log: Log) -> str:
    return "pass" if "4.20" in (log.answer or "") else "fail"


def whole(done: Printed) -> None:
    logs = done.of("contract/")
    cells_counted(done, {"completes": [ended(one) for one in logs]})
    invocations_counted(done, len(logs), len(logs))
    spent(done)
    assert "score  100.00  of 100" in done.out
    assert done.code == 0


def mixed(done: Printed) -> None:
    seen, idle = [*done.of("/calm/"), *done.of("/down/")], done.of("/elsewhere/")
    verdicts = {
        "completes": [ended(one) for one in seen] + ["unknown"] * len(idle),
        "contains": [priced(one) for one in seen] + ["unknown"] * len(idle),
        "no_fabrication": ["unknown"] * (len(done.of("/down/")) + len(idle)),
    }
    cells_counted(done, verdicts)
    clean = [one for one in seen if ended(one) == priced(one) == "pass"]
    invocations_counted(done, len(clean), len(seen))
    spent(done)
    dead = sum(one.answer is None for one in seen)
    assert done.figures(r"\)  (\d+) critical") == (str(dead),)
    assert done.figures(r"contract: (\d+) critical cells? failed") == (str(dead),)
    assert done.figures(r"worst scenario: (\w+), ([\d.]+)") == ("down", "0.00")
    assert done.figures(r"down +status +[x×](\d+)") == (str(sum(len(one.failed) for one in seen)),)
    assert done.code == 1


def flaky(done: Printed) -> None:
    first, second = done.of("/sometimes/p1/r1"), done.of("/sometimes/p1/r2")
    assert [one.answer is None for one in (*first, *second)] == [True, False]
    assert "flaky: completes in sometimes on p1 (1 passed, 1 failed)" in done.out
    invocations_counted(done, 1, 2)


def robust(done: Printed) -> None:
    mutants = [log for name, log in done.logs.items() if "-m" in name]
    held = sum(one.answer == RIVERS for one in mutants)
    assert done.figures(r"robustness \S+ \((\d+) of (\d+) mutants") == (str(held), str(len(mutants)))
    spent(done)


def overall(done: Printed) -> None:
    """By the logs: one phase fails all of its mutants' cells or none, and the contract one of its two."""
    (calm,) = done.of("contract/")
    assert (ended(calm), priced(calm)) == ("pass", "fail")
    assert "contract: the score 33.33 is below the minimum 95.00" in done.err
    assert ", threshold 95.00: failed" in done.out
    robustness, value = (
        float(done.figures(pattern)[0]) for pattern in (MUTATION, r"overall ([\d.]+) of 100")
    )
    mutants = [log for name, log in done.logs.items() if "-m" in name]
    held = 100 * sum(one.answer == RIVERS for one in mutants) / len(mutants)
    assert robustness == pytest.approx(held, abs=0.01)
    assert value == pytest.approx((0.2 * held + 0.35 * 33.33) / 0.55, abs=0.02)
    spent(done)


MUTATION = r"mutation +([\d.]+)"


class Case(NamedTuple):
    command: tuple[str, ...]
    document: Callable[[], dict[str, Any]]
    true: tuple[str, ...]
    check: Callable[[Printed], None] = spent
    phases: tuple[str, ...] = ("report",)
    before: tuple[str, ...] = ()
    """A command that was run in the same folder before."""


def mutated(framework: str, **sections: Any) -> dict[str, Any]:
    contains = {"type": "contains", "value": "Danube"}
    more: dict[str, Any] = {
        "invariants": [contains],
        "mutations": {"count": 2, "types": ["noise"]},
        **sections,
    }
    return document(framework, "plain", [COMPLETES, PRICED], CALM, (NAME_RIVERS,), **more)


CASES = {
    **{
        f"all pass, {framework}": Case(
            CONTRACT,
            lambda framework=framework: document(framework, "plain", [COMPLETES], CALM),  # type: ignore[misc]
            (*JUDGED, QUIET, EVERY),
            whole,
        )
        for framework in ("langgraph", "pydantic-ai", "openai-agents")
    },
    **{
        f"some fail, {framework}": Case(
            CONTRACT,
            lambda framework=framework: document(  # type: ignore[misc]
                framework, "plain", [COMPLETES, PRICED, NO_GAP], {**CALM, **DOWN, **ELSEWHERE}
            ),
            (
                *JUDGED, POINTS, EVERY, "never fired", ", {} unknown)", "  {} critical", WORST, FAILED,
                "{}: {} unknown", "{}: no score, because {}", "only {} of {} {} were judged", FIXES,
                "{}: {}\n  hint: {}", "never judged\n", "  and {} more\n", " (and {} more)\n",
            ),
            mixed,
        )
        for framework in ("langgraph", "pydantic-ai")
    },
    "one of two": Case(
        (*CONTRACT, "--repeat", "2"),
        lambda: document("langgraph", "plain", [COMPLETES], SOMETIMES, (TEA,)),
        (
            *(one for one in JUDGED if one != AGAINST), "all {} pass", EVERY, "  {} critical", FAILED, FIXES,
            "  flaky: {} in {} on {} ({} passed, {} failed)",
        ),
        flaky,
    ),
    "repeated until decided": Case(
        (*CONTRACT, "--until", "0.1:0.9", "--most", "2"),
        lambda: document("langgraph", "plain", [COMPLETES], CALM, (NAME_RIVERS,)),
        (
            *JUDGED, ", at any stop", QUIET, "  repeated until decided: {}",
            "every pass rate must be decided as good, and no critical cell may fail",
        ),
    ),
    "with a floor": Case(
        CONTRACT,
        lambda: document(
            "langgraph", "plain", [PRICED], CALM, (NAME_RIVERS,), scoring={"scenarios": {"calm": 0.9}}
        ),
        (
            *JUDGED, QUIET, EVERY, FAILED, "; scenarios must reach their floors: {}", "{}: the scenario `{}`",
            "{} has a score of {}, below its floor {}",
        ),
    ),
    "unknown is allowed": Case(
        (*CONTRACT, "--allow-unknown"),
        lambda: document("langgraph", "plain", [COMPLETES], {**CALM, **ELSEWHERE}, (NAME_RIVERS,)),
        (*JUDGED, "never fired", ", {} unknown)", EVERY, "{}; unknown cells are allowed"),
    ),
    "compared": Case(
        (*CONTRACT, "--baseline", "last"),
        lambda: document("langgraph", "plain", [COMPLETES], CALM, (NAME_RIVERS,)),
        (
            *JUDGED, QUIET, EVERY, "  compared with {}: ", "the difference is not significant",
            "{} points ({}{})", "  {} (newest last)\n",
        ),
        before=CONTRACT,
    ),
    "no price is known": Case(
        CONTRACT,
        lambda: document("langgraph", "unpriced", [COMPLETES], CALM, (NAME_RIVERS,)),
        (*(one for one in JUDGED if one != CHEAP), QUIET, EVERY, "cost unknown"),
    ),
    "some prices are known": Case(
        CONTRACT,
        lambda: document("pydantic-ai", "dearer", [COMPLETES], CALM, (NAME_RIVERS,)),
        (*JUDGED, QUIET, EVERY, " + {} unknown"),
    ),
    "some tokens are not counted": Case(
        CONTRACT,
        lambda: document("langgraph", "uncounted", [COMPLETES], CALM, (NAME_RIVERS,)),
        (
            *(one for one in JUDGED if one != "{} token{}"), QUIET, EVERY, "at least {} token{}",
            " + {} unknown",
        ),
    ),
    "mutants": Case(
        ("run",),
        lambda: mutated("langgraph"),
        (*JUDGED, QUIET, EVERY, "  robustness {} ({} mutants, {})", FAILED, "  and {} more\n"),
        robust,
    ),
    "all phases": Case(
        ("ci", "--min-score", "0.95"),
        lambda: mutated("langgraph"),
        (*PROGRESS, CHEAP, ", threshold {}", "{}: the score {}", "the overall score {}",
         "{} is below the minimum {}", "  and {} more\n"),
        overall,
        ("mutation", "contract"),
    ),
    "all phases pass": Case(
        ("ci",),
        lambda: document(
            "openai-agents", "plain", [COMPLETES], CALM, (NAME_RIVERS,), invariants=[COMPLETES],
            mutations={"count": 1, "types": ["noise"]},
        ),
        (*PROGRESS, CHEAP),
        phases=("mutation", "contract"),
    ),
}  # fmt: skip
BY_UNIT_TESTS = {
    "  … {} more in the report\n", "… {} more in the report", "  … {} more flaky", "  … {} more",
    "  broken: {} in {} on {} ({} of {} failed)", "  … {} more broken",
    "traffic outside exchanges\n", " ({} invocations)", "not judged  ", "significantly {}",
    "; cells that newly fail: {}, that newly pass: {}", "{} with another {}",
    "earlier runs that are not comparable: {}", "partial: {} of {} were run",
    "nothing to compare", "**no score**", "{} inconclusive",
    "not fired in what was finished",
    "the run was interrupted; what had finished is in the report",
    "{}`--allow-unknown` accepts what was not judged", "{}{}; the report says of each cell why it is unknown",
    "`--min-score` needs a score, which `--allow-unknown` does not give",
    "`--allow-unknown` accepts no run in which nothing was judged",
    "nothing was judged", "{}: {} decided as bad", "{}: {} undecided",
    "has a floor, but only {} of its {} {} were judged",
    "every score must be at least {}, and no critical cell may fail", "resilience score",
    "## {} faultwire ci: {}\n\n{}", "run {} · seed {} · ledger {}", "cells so far {}", "score from",
}  # fmt: skip
"""Of many runs, or of an interrupted or damaged one: `tests/vectors/sentences.json` names the tests."""
TIMES = {"{} min", "{} min {} s", "{} h {} min", "about {} left"}
"""How long the rest takes depends on the machine."""


def found(done: Printed) -> set[str]:
    text = done.text + "\n"
    return {template for template, pattern in patterns().items() if pattern.search(text)}


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.nightly
@pytest.mark.parametrize("name", CASES)
def test_each_sentence_of_the_terminal_is_true(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    (tmp_path / "script.yaml").write_text(SCRIPT)
    if case.before:
        run(tmp_path, case.before, case.document())
    done = run(tmp_path, case.command, case.document(), *case.phases)
    assert found(done) - TIMES - BY_UNIT_TESTS == set(case.true), done.text
    case.check(done)


def test_each_sentence_has_a_run_of_which_it_is_true_and_one_of_which_it_is_not() -> None:
    templates = set(patterns())
    true: list[set[str]] = [set(case.true) for case in CASES.values()]
    every, common = set[str]().union(*true), true[0].intersection(*true)
    assert templates - every - TIMES == BY_UNIT_TESTS
    assert every <= templates
    assert common == {*PROGRESS} - {"{} token{}"}, "counts, which stand in each"
