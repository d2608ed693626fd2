"""Agents of every type behind a real proxy: what each is asked, and that its traffic is its cell's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.e2e.run_agents.conftest import CALM, HERE, asked, scenario

from faultwire.agents._api import Asked
from faultwire.agents.settings import CommandSettings, LangchainSettings, OpenAISettings, PythonSettings
from faultwire.contract.cells import Prompt

BROKEN = scenario("broken", "  - status: {code: 503}\n    on: {kind: llm}\n")
PROMPTS = [Prompt("p1", "first-mark"), Prompt("p2", "second-mark")]
MODULE = '''
import json, os, subprocess, sys
AGENT = {agent!r}

def ask(prompt):
    """An agent that calls its model the way the command does."""
    done = subprocess.run([sys.executable, AGENT, prompt], capture_output=True, text=True, check=True)
    return done.stdout.strip()

class Chain:
    """Shaped as LangChain's runnables are."""

    async def ainvoke(self, asked, config=None):
        return {{"output": ask(asked["question"])}}

    def get_input_jsonschema(self):
        return {{"type": "object", "properties": {{"question": {{"type": "string"}}}}}}

def forget():
    assert "HTTPS_PROXY" not in os.environ  # no fault is on the way of a reset
    open("forgot.txt", "a").write("x")
'''


def look(world, agent):
    for one in world.play(agent, [CALM, BROKEN], PROMPTS, concurrency=4):
        history = one.history
        assert history.voids == ()
        (body,) = asked(history)
        assert one.invocation.prompt.text in body
        assert [fault.fault for fault in history.fired] == ["status"] * (one.invocation.scenario is BROKEN)
        status = "503" if one.invocation.scenario is BROKEN else "200"
        assert history.agent.answer.startswith(status)


def written(folder: Path) -> Path:
    (folder / "user_agent.py").write_text(MODULE.format(agent=str(HERE / "command_agent.py")))
    return folder


def test_a_command_with_a_prompt_file(world):
    code = "import runpy, sys; sys.argv[1] = open(sys.argv[1]).read(); runpy.run_path(sys.argv[2])"
    command = (sys.executable, "-c", code, "{prompt_file}", str(HERE / "command_agent.py"))
    look(world, world.agent(CommandSettings(command=command)))


def test_python(world):
    written(world.folder)
    look(world, world.agent(PythonSettings(endpoint="user_agent:ask", python=sys.executable)))


def test_a_runnable_and_its_reset(world):
    written(world.folder)
    settings = LangchainSettings(
        endpoint="user_agent:Chain", python=sys.executable, reset_function="user_agent:forget"
    )
    agent = world.agent(settings)
    assert not agent.concurrent
    look(world, agent)
    assert (world.folder / "forgot.txt").read_text() == "xxxx"


def test_an_openai_endpoint_that_is_the_agent(world):
    """The mock provider stands for it; it calls nobody itself."""
    from faultwire.mock.client import Mock

    with Mock.start(log=world.folder / "mock.log") as mock:
        agent = world.agent(
            OpenAISettings(endpoint=f"http://127.0.0.1:{mock.http}/v1", model="gpt-4o-mini", api_key="k")
        )
        result = agent.invoke(Asked(("hello there", "and again"), "s"), {})
        other = world.agent(
            OpenAISettings(
                endpoint=f"http://127.0.0.1:{mock.http}/v1", model="gpt-4o-mini", api_key="k", api="responses"
            )
        )
        told = other.invoke(Asked(("hello there",), "s"), {})
    assert (result.exit_code, told.exit_code) == (0, 0), result.stderr + told.stderr
    assert result.answer
    assert told.answer


def test_every_process_knows_its_session(world):
    code = "import os, sys; print(os.environ['TRACEPARENT'], os.environ['BAGGAGE'])"
    agent = world.agent(CommandSettings(command=(sys.executable, "-S", "-c", code, "{prompt}")))
    seen = []
    for name in ("a", "b"):
        env = world.run.open_session(name, CALM.profile, 7)
        seen.append(agent.invoke(Asked(("x",)), env).answer.split())
        world.run.close_session(name)
    assert seen[0] != seen[1]
    for parent, baggage in seen:
        version, trace, span, flags = parent.split("-")
        assert (version, len(trace), len(span), flags) == ("00", 32, 16, "01")
        assert baggage == f"faultwire-session={trace}"
    assert os.environ.get("TRACEPARENT") is None
