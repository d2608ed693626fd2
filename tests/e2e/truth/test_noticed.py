"""What `exec` notices of an agent on a real framework is true by the agent's own log, and what is true is
noticed; of an agent that takes failures well nothing is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from agent_logs import FRAMEWORKS, OTHER_LANGUAGES, RIVERS, TEA, Run, run, shop
from labelled import AGENTS as LABELLED
from noticed_truth import (
    ACCEPTED,
    ACTIONS,
    AFTER_TEXT,
    ASKED_TO_WAIT,
    AT_LIMIT,
    BESIDE,
    EMPTY,
    ERROR_EVENT,
    FED_ON,
    IN_A_CALL,
    IN_TRANSIT,
    NO_JSON_EVENT,
    NO_PAUSE,
    NOT_RETRIED,
    PATTERNS,
    PAUSE_S,
    REPEATED,
    TOO_EARLY,
    UNANSWERED,
    UNRELATED,
    Truth,
    is_model,
    truth,
)
from summary_cases import SCRIPT as SHOP_SCRIPT

from faultwire.checks._calls import doubt
from faultwire.checks._order import PAUSE_MS
from faultwire.report.noticed import BY_OUTPUT, ON_THE_WIRE
from faultwire.tape.read.reader import TapeReader

EVENTS = {**{name: LABELLED[name][3] for name in OTHER_LANGUAGES}, "openai": 3, "anthropic": 5}
EVENTS |= {"langgraph": 3, "pydantic-ai": 3, "openai-agents": 5}
"""Events of the mock's first answer up to the middle of a call's arguments."""
FIRST = "trigger: {first: 1}"


class Scenario(NamedTuple):
    fault: str
    shortens: str | None = None


SCENARIOS = {
    "calm": Scenario(""),
    "slow": Scenario("latency: {ms: 1}"),
    "down": Scenario("status: {code: 503}"),
    "wrong": Scenario("status: {code: 400}"),
    "limited": Scenario(f"{{rate_limit: {{retry_after_s: 3}}, {FIRST}}}"),
    "limited for long": Scenario(f"{{rate_limit: {{retry_after_s: 40}}, {FIRST}}}"),
    "reset": Scenario("reset: {at: before_headers}"),
    "cut": Scenario(f"{{cut_stream: {{after_events: 4}}, {FIRST}}}", "transit"),
    "ended": Scenario(f"{{early_end: {{after_events: EVENTS}}, {FIRST}}}", "transit"),
    "ended at once": Scenario(f"{{early_end: {{after_events: 1}}, {FIRST}}}", "transit"),
    "limit": Scenario(f"{{truncate_response: {{max_tokens: 2}}, {FIRST}}}", "limit"),
    "no usage": Scenario("missing_usage: {}"),
    "traces refused": Scenario("{status: {code: 400}, on: {path: '/v1/traces*'}}"),
    "committed": Scenario("{timeout_after_commit: {}, on: {host: localhost}, trigger: {attempts: first}}"),
    "committed twice": Scenario("{timeout_after_commit: {}, on: {host: localhost}}"),
}


class Row(NamedTuple):
    """An agent, its manner, a scenario, and more options of `exec`."""

    framework: str
    manner: str
    prompt: str
    scenario: str
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "-".join(
            (self.framework, self.manner, self.scenario, "tea" if self.prompt == TEA else "rivers")
        )


ALLOWED = ("--mock-except", "localhost", "--allow-host", "localhost")
ELSEWHERE = ("committed", "traces", "limited for long")
"""Scenarios about what only some agents do. Who does not wait is still early there on a machine on which it
takes seconds to ask again; who waits would wait for nothing."""
SHOPPING = ("langgraph", "pydantic-ai", "openai-agents")
MISTAKES = (("stacked", "down"), ("stacked", "wrong"), ("early", "limited for long"), ("catching", "down"))
CUTS = ((TEA, "ended"), (RIVERS, "ended at once"), (RIVERS, "limit"))


def rows() -> Iterator[Row]:
    for name in FRAMEWORKS:
        yield from (Row(name, "plain", RIVERS, one) for one in SCENARIOS if not one.startswith(ELSEWHERE))
        yield from (Row(name, "plain", TEA, one) for one in ("calm", "ended", "limit"))
        yield from (Row(name, manner, RIVERS, scenario) for manner, scenario in MISTAKES)
        yield Row(name, "quitting", RIVERS, "slow")
    for manner in ("plain", "quitting"):
        yield Row("openai-agents", manner, RIVERS, "traces refused")
    for name in ("openai", "anthropic", "langgraph"):
        yield from (Row(name, "careful", prompt, scenario) for prompt, scenario in CUTS)
    for name in ("openai", "langgraph"):
        yield from (Row(name, manner, TEA, "calm") for manner in ("orphan", "paired"))
    for name in SHOPPING:
        yield from (Row(name, manner, TEA, "committed", ALLOWED) for manner in ("posting", "reading"))
        yield Row(name, "reading", TEA, "calm")
    yield Row("langgraph", "posting", TEA, "committed twice", ALLOWED)
    for name in ("openai", "anthropic"):
        yield from (Row(name, "talking", TEA, one) for one in ("calm", "ended", "limit"))
    for name in OTHER_LANGUAGES:
        yield from (Row(name, "plain", RIVERS, one) for one in ("calm", "down", "ended", "limit"))
        yield from (Row(name, manner, TEA, "ended") for manner in ("plain", "careful"))


ROWS = list(rows())
RULES = frozenset(ACTIONS.values())
TRUE_IN = {
    AFTER_TEXT: "langgraph-plain-ended-rivers",
    IN_TRANSIT: "langgraph-plain-ended-rivers",
    ACCEPTED: "langgraph-plain-ended-rivers",
    NOT_RETRIED: "langgraph-plain-ended-rivers",
    UNANSWERED: "openai-stacked-down-rivers",
    AT_LIMIT: "pydantic-ai-plain-limit-rivers",
    EMPTY: "openai-plain-ended at once-rivers",
    IN_A_CALL: "anthropic-talking-ended-tea",
    NO_PAUSE: "anthropic-stacked-wrong-rivers",
    ASKED_TO_WAIT: "openai-early-limited for long-rivers",
    TOO_EARLY: "openai-early-limited for long-rivers",
    REPEATED: "langgraph-posting-committed-tea",
    "act_once": "pydantic-ai-posting-committed-tea",
    "refuse_halves": "openai-go-plain-ended-rivers",
    "heed_limits": "langgraph-plain-limit-tea",
    "honour_retry_after": "openai-agents-early-limited for long-rivers",
    "back_off": "anthropic-stacked-wrong-rivers",
    "cap_attempts": "pydantic-ai-stacked-down-rivers",
    "mend_before_retry": "langgraph-stacked-wrong-rivers",
    "repair_history": "langgraph-orphan-calm-tea",
    "say_so": "openai-stacked-down-rivers",
    "allow_or_answer": "pydantic-ai-reading-calm-tea",
}
"""A row of which each sentence, and each rule, is true; all other rows show where it is not."""
UNDECIDED = {
    "back_off": (NO_PAUSE,),
    "say_so": (UNANSWERED,),
    "honour_retry_after": (ASKED_TO_WAIT, TOO_EARLY),
}
"""What is printed for a rule of which the log cannot decide, or the wire."""
PAUSELESS = (NO_PAUSE, "back_off")
REPEATING = frozenset({"back_off", "cap_attempts", "mend_before_retry", "honour_retry_after"})
"""Rules about a request that repeats another one."""
LEFT_BY_AGENT = "when the agent closed the connection after {} s of silence"
"""`test_leaving_early` has the agents that give up waiting, and those that only stop reading."""
NAMED_BY_UNIT_TESTS = {UNRELATED, ERROR_EVENT, NO_JSON_EVENT, BESIDE, FED_ON}
"""`tests/unit/report/test_halves.py` has halves that another question follows or repeats, or that an
error event ends; `test_plain_clients` has a question that was asked twice at once."""
BY_UNIT_TESTS = {"find_signal", "heed_arguments"}
"""`test_endings` has an agent that crashes, `test_unanswered` one that runs broken arguments."""


def played(row: Row, work: Path) -> Run:
    fault = SCENARIOS[row.scenario].fault.replace("EVENTS", str(EVENTS[row.framework]))
    faults = ("--fault", fault) if fault else ()
    more = {"script": SHOP_SCRIPT} if row.manner in ("posting", "reading") else {}
    with shop(200) as (url, _):
        arguments = ["exec", "--script", "script.yaml", *faults, *row.options]
        return run(work, arguments, row.framework, row.manner, row.prompt, env={"SHOP_URL": url}, **more)


def stated(done: Run) -> tuple[set[str], set[str]]:
    """The rules whose actions were printed, and the templates of the lines before them."""
    rules = {ACTIONS[line] for line in done.noticed if line in ACTIONS}
    return rules, PATTERNS.found(line for line in done.noticed if line not in ACTIONS)


def unseen(done: Run) -> frozenset[str]:
    """The rules of which the wire does not show whether they were broken: a request came on a connection of
    its own so shortly after a failure, while that one's was still open, that it may have been on its way (a
    check says `unknown` then, and which request it is). By the agent's log it came as shortly."""
    (tape,) = done.folder.glob(".faultwire/runs/*/run.tape")
    with TapeReader.open(tape) as reader:
        if doubt(tuple(reader.exchanges())) is None:
            return frozenset()
    calls = [one for one in done.sent if is_model(one)]
    assert min(again.began - first.ended for first, again in pairwise(calls)) < PAUSE_MS / 1000
    return REPEATING


def slowed(done: Run) -> bool:
    """Did the machine take as long between two attempts as a pause is? None of these agents pauses."""
    calls = [one for one in done.sent if is_model(one)]
    return any(again.began - first.ended >= PAUSE_S for first, again in pairwise(calls))


def agreed(done: Run, true: Truth) -> None:
    rules, templates = stated(done)
    hidden = unseen(done)
    assert rules & hidden <= true.rules | true.open, "\n".join(done.lines)
    left = true.open | hidden
    words = PATTERNS.keys(one for rule in left & UNDECIDED.keys() for one in UNDECIDED[rule])
    assert rules - left == true.rules - left, "\n".join(done.lines)
    assert templates - words == PATTERNS.keys(true.templates) - words, "\n".join(done.lines)
    assert bool(done.noticed) == bool(rules)


def values_agree(done: Run) -> None:
    """What the lines say of numbers, statuses and texts is what the agent logged."""
    answer = next((one["answer"] for one in done.did if one.get("exit") == 0), "")
    for line in done.noticed:
        if PATTERNS.found([line]) == PATTERNS.keys([UNANSWERED]):
            assert done.code == 0
            found = re.search(r"#(\d+)  `.*` (?:answered (\d+)|.*), no call", line)
            assert found, line
            number, status = int(found[1]), int(found[2]) if found[2] else None
            assert status in [one.status for one in done.sent[number - 1 : number]] or not done.sent
        if found := re.search(r"  (\d+) attempts of one call", line):
            assert int(found[1]) == len([one for one in done.sent if is_model(one)])
        if found := re.search(r"returned (\d+) with retry-after `(\d+)`; exchange (\d+) came", line):
            early = int(found[3]) - 1
            assert (done.sent[early - 1].status, done.sent[early - 1].wait) == (int(found[1]), found[2])
        if found := re.search(r"it ended after `(.*)` (without|at its)", line):
            assert answer.strip() == found[1]


@pytest.mark.by_day("langgraph-plain-ended-tea")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_is_noticed_is_true_and_what_is_true_is_noticed(row: Row, tmp_path: Path) -> None:
    done = played(row, tmp_path)
    assert done.code in (0, 1, 5), "\n".join(done.lines)
    scenario = SCENARIOS[row.scenario]
    true = truth(done, row.framework, row.manner, row.prompt, scenario.shortens)
    agreed(done, true)
    values_agree(done)
    for one, name in TRUE_IN.items():
        shown = one in {*true.rules, *true.templates} or true.open or (one in PAUSELESS and slowed(done))
        assert name != row.name or shown, one


def test_each_sentence_and_each_rule_has_a_row_of_which_it_is_true() -> None:
    here = {one for one in TRUE_IN if one not in RULES}
    assert PATTERNS.keys(here | {LEFT_BY_AGENT} | NAMED_BY_UNIT_TESTS) == set(PATTERNS.templates)
    assert {one for one in TRUE_IN if one in RULES} | BY_UNIT_TESTS == {*ON_THE_WIRE, *BY_OUTPUT}
    assert set(TRUE_IN.values()) <= {row.name for row in ROWS}
