"""Agents that remember meet the limit of a model's context as it grows, or forget, from the command line."""

from __future__ import annotations

from pathlib import Path

import environments
import pytest
from harness import Run, execute

AGENT = Path(__file__).with_name("conversation_agent.py")
SCRIPT = """turns:
  - {match: {last_tool: look}, reply: {text: "It says: {last_result}."}}
  - {match: {last_user: "look*"}, reply: {tool_calls: [{name: look, arguments: {what: leaf}}]}}
  - {match: {last_user: "which*", turn: 0}, reply: {text: "I do not know."}}
  - {match: {last_user: "which*"}, reply: {text: "It is ZEBRA-7."}}
  - {match: {}, reply: {text: "Noted."}}
"""
TURNS = ("my word is ZEBRA-7", "look at this", "look at that", "which word is mine?")
LIMIT = ("--fault", "context_length: {over_tokens: 80}")


def talk(work: Path, framework: str, *options: str, lock: str = "langchain-1") -> Run:
    work.mkdir(exist_ok=True)
    (work / "script.yaml").write_text(SCRIPT)
    command = [str(environments.python(lock)), str(AGENT), framework, *TURNS]
    done = execute(work, command, *(options or ("--script", "script.yaml", *LIMIT)))
    assert done.code == 0, done.stderr
    return done


def test_an_agent_that_keeps_everything_reaches_the_limit(tmp_path: Path) -> None:
    full = talk(tmp_path, "langgraph")
    noted, looked, raised = full.met["answers"]
    assert (noted, looked) == ("Noted.", "It says: leaf is green.")
    assert raised.startswith("OpenAI")
    assert raised.endswith("Error")
    *before, last = full.exchanges
    assert [line.outcome for one in before for line in one.faults] == ["inapplicable"] * len(before)
    (line,) = last.faults
    assert line.effect == "answered 400: about 94 tokens (estimated) are over the limit of 80"
    assert b"maximum context length is 80 tokens" in (last.delivered.body if last.delivered else b"")
    replayed = talk(tmp_path / "replay", "langgraph", "--replay", str(full.tape))
    assert (replayed.met, replayed.exchanges[-1].delivered.body) == (full.met, last.delivered.body)
    assert talk(tmp_path / "twice", "langgraph").ledger == full.ledger


def test_one_that_trims_stays_below_it_and_forgets(tmp_path: Path) -> None:
    """Nothing fails, and the fact of the first turn is gone: `contains` in a check is what finds it."""
    trimmed = talk(tmp_path, "langgraph-trimming")
    assert trimmed.fired == ()
    assert trimmed.met["answers"][-1] == "I do not know."
    roomy = talk(
        tmp_path / "roomy", "langgraph", "--script", "script.yaml", *LIMIT[:1], LIMIT[1].replace("80", "800")
    )
    assert roomy.met["answers"][-1] == "It is ZEBRA-7.", "the control: with all of it, it knows"


@pytest.mark.nightly
def test_anthropic_says_how_long_the_prompt_is(tmp_path: Path) -> None:
    full = talk(tmp_path, "langgraph-anthropic")
    assert full.met["answers"][-1].startswith("Anthropic")
    assert b"tokens > 80 maximum" in full.exchanges[-1].delivered.body
    assert len(full.fired) == 1


@pytest.mark.nightly
def test_of_a_conversation_at_the_provider_nobody_knows_the_length(tmp_path: Path) -> None:
    kept = talk(tmp_path, "openai-agents-kept", lock="openai-agents-0")
    assert kept.fired == ()
    assert (
        kept.exchanges[-1].faults[-1].reason == "the provider keeps the conversation: its length is not known"
    )
