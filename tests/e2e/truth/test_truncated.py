"""What is said of agents on real SDKs whose model is cut off within an answer: true of the careless one,
and not said of those that ask again or report it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playing import LIMIT_S, agent, contract, noticed

pytestmark = pytest.mark.timeout(2 * LIMIT_S)

CHECK = {"type": "truncated_stream_not_accepted", "severity": "critical", "count_length": True}
AT_START = {"early_end": {"after_events": 1}, "trigger": {"first": 1}}
AT_LIMIT = {"truncate_response": {"max_tokens": 2}, "trigger": {"first": 1}}
AGENTS = {
    "openai-3": ("openai_streaming.py", 3),
    "openai-2": ("openai_streaming.py", 3),
    "anthropic-2": ("anthropic_streaming.py", 5),
}
"""The program, and the events of the mock's first answer up to the middle of a call's arguments."""
SCRIPT = 'turns: [{match: {}, reply: {text: "The Danube, the Rhine and the Elbe are rivers of Europe."}}]'
RAN = (
    "the agent answered the call of `calculator` from the answer of exchange 1, which was cut short, with "
    "the arguments "
)


def in_call(events: int) -> dict[str, Any]:
    return {"early_end": {"after_events": events}, "trigger": {"first": 1}}


def inline(fault: dict[str, Any]) -> str:
    """A fault of a scenario as `--fault` takes it."""
    (name, settings), (_, trigger) = fault.items()
    return json.dumps({name: {**settings, "trigger": trigger}})


@pytest.mark.by_day("openai-3")
@pytest.mark.parametrize("environment", AGENTS)
def test_a_call_that_was_cut_and_executed(environment: str, tmp_path: Path) -> None:
    program, events = AGENTS[environment]
    scenarios = {"cut": [in_call(events)]}
    said = contract(tmp_path, agent(environment, program, "careless"), CHECK, scenarios)
    verdict, why = said.verdicts["cut"]
    assert verdict == "fail", why
    assert why.startswith(RAN)
    assert said.code == 1
    said = contract(tmp_path, agent(environment, program, "careful"), CHECK, scenarios)
    assert said.verdicts["cut"][0] == "pass", said.verdicts
    assert said.code == 0


@pytest.mark.nightly
def test_an_agent_that_reports_the_cut(tmp_path: Path) -> None:
    scenarios = {"call": [in_call(3)], "start": [AT_START], "limit": [AT_LIMIT]}
    said = contract(tmp_path, agent("openai-3", "openai_streaming.py", "honest"), CHECK, scenarios)
    assert {verdict for verdict, _ in said.verdicts.values()} == {"pass"}, said.verdicts
    assert said.code == 0


@pytest.mark.nightly
def test_half_an_answer_that_became_the_agents_own(tmp_path: Path) -> None:
    command = agent("openai-3", "openai_streaming.py", "careless")
    scenarios = {"start": [AT_START], "limit": [AT_LIMIT]}
    said = contract(tmp_path, command, CHECK, scenarios, prompt="Name some rivers.", script=SCRIPT)
    empty = "no text came before the cut, and the agent exited 0 with the answer ``"
    assert said.verdicts["start"] == ("fail", empty)
    assert said.verdicts["limit"][0] == "fail", said.verdicts
    assert said.verdicts["limit"][1].endswith("is what came before the cut")


@pytest.mark.by_day("call")
@pytest.mark.parametrize(
    ("fault", "script", "words"),
    [
        (in_call(3), None, RAN),
        (AT_START, None, "an empty answer: it ended without its closing event before any text"),
        (AT_LIMIT, SCRIPT, "at its token limit (`length`), was not retried, and the command exited 0"),
    ],
    ids=["call", "empty", "limit"],
)
def test_exec_names_what_was_accepted(
    fault: dict[str, Any], script: str | None, words: str, tmp_path: Path
) -> None:
    careless = agent("openai-3", "openai_streaming.py", "careless")
    code, said = noticed(tmp_path, careless, "--fault", inline(fault), script=script)
    assert code == 0
    assert words in said
    careful = agent("openai-3", "openai_streaming.py", "careful")
    assert noticed(tmp_path, careful, "--fault", inline(fault), script=script) == (0, "")
