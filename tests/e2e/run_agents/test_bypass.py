"""Connections past the proxy are those of the invocation that made them, whatever kind the agent is of."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.e2e.run_agents.conftest import HERE, free_port, scenario

from faultwire.agents.settings import CommandSettings, HttpSettings, PythonSettings
from faultwire.capture import sock_diag
from faultwire.capture.bypass import TABLES, read_table
from faultwire.checks.no_request_to import NoRequestTo
from faultwire.checks.only_hosts import OnlyHosts
from faultwire.contract.cells import Prompt
from faultwire.events import Bypass
from faultwire.tape.evidence.verify import verify

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


def test_netlink_lists_what_the_files_list_of_both_families():
    with ExitStack() as stack:
        ours, listening = set(), set()
        for family, at, to in (
            (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
            (socket.AF_INET6, "::1", "::1"),
            (socket.AF_INET6, "::", "::ffff:127.0.0.1"),
        ):
            try:
                made = socket.create_server((at, 0), family=family, dualstack_ipv6=at == "::")
            except OSError:
                assert family == socket.AF_INET6  # this machine has none
                continue
            server = stack.enter_context(made)
            client = stack.enter_context(socket.socket(family))
            client.connect((to, server.getsockname()[1]))
            accepted = stack.enter_context(server.accept()[0])
            listening.add(server.getsockname()[1])
            ours |= {os.fstat(one.fileno()).st_ino for one in (client, accepted)}
        told = sock_diag.read(ours)
        files = [
            read_table(Path("/proc/self/net", name).read_text(), of) for name, of in TABLES if of == "tcp"
        ]
    assert len(ours) >= 2
    assert set(told.open) == {one for table in files for one in table.open if one.inode in ours}
    assert {one.inode for one in told.open} == ours
    assert told.listening >= listening
