"""A streamed tool call is held at its fourth event, one argument is edited, and official SDKs read the edited
call from valid events; the tape verifies, and a replay gives the agent the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.e2e.agents import compiled, environments
from tests.e2e.breakpoints.holding import broken, finished, running, tape_of

from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

HERE = Path(__file__).parent


class Sdk(NamedTuple):
    """An agent on one SDK, and which of its events only whole calls have."""

    language: str
    lock: str
    way: str
    event: int = 4


SDKS = {
    "openai": Sdk("python", "openai-3", "chat"),
    "openai-2": Sdk("python", "openai-2", "chat"),
    "openai responses": Sdk("python", "openai-3", "responses"),
    "anthropic": Sdk("python", "anthropic-2", "anthropic"),
    "google-genai": Sdk("python", "google-genai-3", "genai", 1),  # its calls come in one event
    "node openai": Sdk("node", "node", "openai"),
    "node anthropic": Sdk("node", "node", "anthropic"),
    "ai sdk chat": Sdk("ai", "node_ai", "chat"),
    "ai sdk responses": Sdk("ai", "node_ai", "responses"),
    "openai-go": Sdk("go", "go_openai", ""),
}


def command(sdk: Sdk) -> list[str]:
    if sdk.language == "python":
        return [str(environments.python(sdk.lock)), str(HERE / "tool_agent.py"), sdk.way]
    if sdk.language == "go":
        return compiled.go(sdk.lock, HERE / "held_agent.go")
    name = "node_agent.mjs" if sdk.language == "node" else "ai_agent.mjs"
    place = environments.node(sdk.lock)
    shutil.copy(HERE / name, place / name)
    return ["node", str(place / name), sdk.way]


def delivered(tape: Path) -> list[bytes]:
    with TapeReader.open(tape) as reader:
        return [bytes(one.delivered.body or b"") for one in reader.exchanges("exec") if one.delivered]


@pytest.mark.parametrize("name", [pytest.param(name, id=name.replace(" ", "-")) for name in SDKS])
def test_an_sdk_reads_the_call_as_it_was_edited(name: str, here: Path) -> None:
    sdk = SDKS[name]
    agent = command(sdk)
    with (
        running(here, agent, "--mock") as (holding, process),
        broken(holding, "--at", "event", "--event", str(sdk.event)),
    ):
        holding.go()
        (held,) = holding.held()
        (call,) = holding.look(held["id"])["shown"]["calls"]
        assert call["arguments"].replace(" ", "") == '{"expression":"6*7"}'
        assert call["properties"] == {"expression": {"type": "string"}}
        holding.control("resume", held["id"], "--argument", 'expression="9*9"')
        told = finished(process)
    assert told["calls"] == [{"name": "calculator", "arguments": {"expression": "9*9"}}]
    assert told["events"]
    tape = tape_of(here)
    assert verify(tape, KeyRing(here / ".faultwire" / "keys").trusted()).ok
    with TapeReader.open(tape) as reader:
        (recorded,) = reader.exchanges("exec")
    assert recorded.upstream is not None
    assert b"6*7" in (recorded.upstream.body or b"").replace(b'\\"', b'"') or name == "anthropic"
    first = delivered(tape)
    assert b"9*9" in b"".join(first)
    with running(here, agent, "--replay", str(tape)) as (holding, process):
        holding.go()
        again = finished(process)
    assert again == told
    assert tape_of(here) != tape
    assert delivered(tape_of(here)) == first
