"""Histories of agents that remember, cut and reordered on their way to the model, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import environments
import pytest
from harness import Run, execute

from faultwire.tape.read.reader import TapeReader

AGENT = Path(__file__).with_name("conversation_agent.py")
LOCKS = {
    "langgraph": "langchain-1",
    "langgraph-anthropic": "langchain-1",
    "openai-agents": "openai-agents-0",
    "openai-agents-kept": "openai-agents-0",
    "google-genai": "google-genai-3",
}
ARRAYS = {"google-genai": "contents", "openai-agents": "input", "openai-agents-kept": "input"}
WHOLE = [
    "langgraph",
    *(
        pytest.param(name, marks=pytest.mark.nightly)
        for name in ("langgraph-anthropic", "openai-agents", "google-genai")
    ),
]
SCRIPT = """turns:
  - {match: {last_tool: look}, reply: {text: "It says: {last_result}."}}
  - {match: {last_user: "look*"}, reply: {tool_calls: [{name: look, arguments: {what: leaf}}]}}
  - {match: {last_user: "which*", turn: 0}, reply: {text: "I do not know."}}
  - {match: {last_user: "which*"}, reply: {text: "It is ZEBRA-7."}}
  - {match: {}, reply: {text: "Noted."}}
"""
TURNS = ("my word is ZEBRA-7", "look at this", "look at that", "which word is mine?")
CALM = ["Noted.", "It says: leaf is green.", "It says: leaf is green.", "It is ZEBRA-7."]
KEYS = {"GOOGLE_API_KEY": "key-of-nobody"}


def talk(work: Path, framework: str, *options: str, turns: tuple[str, ...] = TURNS) -> Run:
    work.mkdir(exist_ok=True)
    (work / "script.yaml").write_text(SCRIPT)
    command = [str(environments.python(LOCKS[framework])), str(AGENT), framework, *turns]
    done = execute(work, command, *(options or ("--script", "script.yaml")), keys=KEYS)
    assert done.code == 0, done.stderr
    return done


def attacked(work: Path, framework: str, fault: dict[str, Any], text: str = "which*") -> Run:
    work.mkdir(exist_ok=True)
    entry = {**fault, "on": {"kind": "llm", "text": text}}
    (work / "mutated.yaml").write_text(json.dumps({"faults": [entry]}))
    options = ("--script", "script.yaml", "--profile", "mutated.yaml", "--seed", "7")
    return talk(work, framework, *options)


def last_request(run: Run, framework: str) -> tuple[list[Any], list[Any]]:
    """The messages of the last call: as the agent sent them, and as the model got them."""
    last = [one for one in run.exchanges if one.kind == "llm"][-1]
    with TapeReader.open(run.tape) as tape:
        changed = tape.all_forwarded().get((last.session, last.number), last.request)
    member = ARRAYS.get(framework, "messages")
    return tuple(json.loads(one.body or b"")[member] for one in (last.request, changed))


def assert_repeatable(work: Path, run: Run, framework: str, fault: dict[str, Any]) -> None:
    """The replay is as the run was, and so is another run with the seed."""
    again = talk(work / "replay", framework, "--replay", str(run.tape))
    assert again.met == run.met
    assert [one.delivered.body for one in again.exchanges if one.delivered] == [
        one.delivered.body for one in run.exchanges if one.delivered
    ]
    twice = attacked(work / "twice", framework, fault)
    assert twice.ledger == run.ledger
    assert last_request(twice, framework)[1] == last_request(run, framework)[1]


@pytest.mark.parametrize("framework", WHOLE)
def test_what_was_left_out_the_model_does_not_know(framework: str, tmp_path: Path) -> None:
    assert talk(tmp_path, framework).met["answers"] == CALM, "the control"
    fault = {"history_truncated": {"keep": 1}}
    cut = attacked(tmp_path / "cut", framework, fault)
    assert cut.met["answers"] == [*CALM[:3], "I do not know."]
    sent, delivered = last_request(cut, framework)
    assert "ZEBRA-7" in json.dumps(sent)
    assert "ZEBRA-7" not in json.dumps(delivered)
    assert [message for message in sent if message in delivered] == delivered
    (line,) = cut.fired
    assert line.effect == f"{len(sent) - len(delivered)} of {len(sent)} messages left out"
    assert_repeatable(tmp_path, cut, framework, fault)


@pytest.mark.parametrize("framework", WHOLE)
def test_turns_change_places_with_their_calls_and_results(framework: str, tmp_path: Path) -> None:
    """The mock refuses a result without its call, as providers do."""
    fault = {"history_reordered": None}
    moved = attacked(tmp_path, framework, fault)
    assert moved.met["answers"] == CALM
    sent, delivered = last_request(moved, framework)
    assert sent != delivered
    assert sorted(map(json.dumps, sent)) == sorted(map(json.dumps, delivered))
    assert sent[-1] == delivered[-1]
    (line,) = moved.fired
    assert str(line.effect).startswith("turns swapped: ")
    assert_repeatable(tmp_path, moved, framework, fault)


def test_of_a_conversation_that_the_provider_keeps_nothing_is_changed(tmp_path: Path) -> None:
    kept = attacked(tmp_path, "openai-agents-kept", {"history_truncated": None})
    assert kept.fired == ()
    assert kept.met["answers"][-1] == "It is ZEBRA-7."
    line = kept.exchanges[-1].faults[-1]
    assert (line.outcome, line.reason) == (
        "inapplicable", "the provider keeps the conversation: its history is not in the request",
    )  # fmt: skip


def test_a_conversation_that_the_provider_has_let_go_ends(tmp_path: Path) -> None:
    fault = {"conversation_expired": None}
    gone = attacked(tmp_path, "openai-agents-kept", fault)
    assert gone.met["answers"] == [
        *CALM[:1],
        "It says: leaf is green.",
        "It says: leaf is green.",
        "BadRequestError",
    ]
    (line,) = gone.fired
    assert line.effect == "`previous_response_id` expired"
    assert b"previous_response_not_found" in gone.exchanges[-1].delivered.body
    assert_repeatable(tmp_path, gone, "openai-agents-kept", fault)
