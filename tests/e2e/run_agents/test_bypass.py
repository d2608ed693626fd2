"""Connections past the proxy are those of the invocation that made them, whatever kind the agent is of."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.e2e.run_agents.conftest import HERE, free_port, scenario

from faultwire.agents.settings import CommandSettings, HttpSettings, PythonSettings
from faultwire.checks.no_request_to import NoRequestTo
from faultwire.checks.only_hosts import OnlyHosts
from faultwire.contract.matrix import Prompt
from faultwire.events import Bypass
from faultwire.tape.verify import verify

AGENT = str(HERE / "past_agent.py")
SLOW = scenario("slow", "  - latency: {ms: 1000}\n    on: {kind: llm}\n")
PROMPTS = [Prompt("p1", "stay"), Prompt("p2", "go past the proxy")]
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nothing shows sockets here")


def mock_port(world):
    """A place on this machine that the run has to do with: what answers for the providers."""
    port = urlsplit(next(iter(world.run.routes.values()))).port
    assert port
    return port


def look(world, agent, **more):
    stayed, past = (played.history for played in world.play(agent, [SLOW], PROMPTS, **more))
    there = Bypass("127.0.0.1", mock_port(world))
    assert (stayed.voids, past.voids) == ((), ())
    assert (stayed.agent.exit_code, past.agent.exit_code) == (0, 0), past.agent.stderr
    assert (stayed.bypassed, stayed.notes) == ((), ())
    assert (past.bypassed, past.notes) == ((there,), (f"went past the proxy: {there.text}",))
    listed, forbidden = OnlyHosts(hosts=["api.openai.com"]), NoRequestTo(hosts=["evil.test"])
    assert [check.verdict(stayed).verdict for check in (listed, forbidden)] == ["pass", "pass"]
    assert [check.verdict(past).verdict for check in (listed, forbidden)] == ["unknown", "unknown"]
    found = verify(world.run.tape).findings
    assert [f.message for f in found if f.code == "bypass_present"] == [
        f"session `slow/p2/r1` went past the proxy: {there.text}"
    ]


def test_commands_beside_each_other(world):
    command = (sys.executable, AGENT, str(mock_port(world)), "{prompt}")
    look(world, world.agent(CommandSettings(command=command)), concurrency=2)


def test_python(world, tmp_path):
    text = f"import subprocess, sys\nAGENT = {AGENT!r}\nPORT = '{mock_port(world)}'\n"
    text += "def ask(p):\n    return subprocess.check_output([sys.executable, AGENT, PORT, p], text=True)\n"
    (tmp_path / "user_agent.py").write_text(text)
    look(world, world.agent(PythonSettings(endpoint="user_agent:ask", python=sys.executable)))


def test_a_server(world):
    at = free_port()
    start = {
        "command": (sys.executable, AGENT, str(mock_port(world)), "--serve", str(at)),
        "ready_url": f"http://127.0.0.1:{at}/",
    }
    told = {"endpoint": f"http://127.0.0.1:{at}/ask", "start": start}
    look(world, world.agent(HttpSettings.model_validate(told)))
