"""A server that is the agent: one process, many sessions, and each call is of the right one."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import urllib.request

import pytest
from tests.e2e.run_agents.conftest import CALM, SERVER, asked, bench, free_port, scenario

from faultwire.agents._api import Asked
from faultwire.agents.server import Server
from faultwire.agents.settings import HttpSettings
from faultwire.contract.cells import Prompt
from faultwire.errors import AgentError, UsageError
from faultwire.profile.dump import dump

BROKEN = scenario("broken", "  - status: {code: 503}\n    on: {kind: llm}\n")
REFUSED = scenario("refused", "  - refuse: {}\n    on: {host: api.openai.com}\n")


def health(world):
    with urllib.request.urlopen(f"http://127.0.0.1:{world.port}/health") as response:
        return json.load(response)


def test_a_server_is_started_behind_the_proxy_and_its_cells_run_one_after_another(world):
    agent = world.served()
    assert (agent.network, agent.concurrent, agent.label) == (
        True,
        False,
        f"http://127.0.0.1:{world.port}/ask",
    )
    prompts = [Prompt(f"p{n}", f"mark-{n}") for n in range(3)]
    for one in world.play(agent, [CALM, BROKEN], prompts, concurrency=8):
        history = one.history
        assert (history.voids, history.notes) == ((), ())
        bodies = asked(history)
        assert len(bodies) == 2
        assert all(one.invocation.prompt.text in body for body in bodies)
        fired = [fault.fault for fault in history.fired]
        assert fired == ([] if one.invocation.scenario is CALM else ["status", "status"])
    assert world.run.engine.notes() == ()
    assert health(world)["opened"] < 12  # connections were kept from cell to cell


def test_faults_on_connections_act_though_connections_are_kept(world):
    agent = world.served("--propagate")
    prompts = [Prompt(f"p{n}", f"mark-{n}") for n in range(3)]
    played = world.play(agent, [CALM, REFUSED], prompts, concurrency=6)
    for one in played:
        assert one.history.voids == ()
        fired = {fault.fault for fault in one.history.fired}
        if one.invocation.scenario is CALM:
            assert (fired, one.history.agent.exit_code, len(asked(one.history))) == (set(), 0, 2)
        else:
            assert fired == {"refuse"}, one.history.agent
            assert asked(one.history) == []


def test_a_late_call_is_nobodys(world):
    template = '{"input": {prompt}, "seconds": 1}'
    agent = world.served("--propagate", path="/slow", timeout=300, request_template=template)
    assert invoked(world, agent, "late", "a").timed_out
    env = world.run.open_session("b", CALM.profile, 1)
    until(lambda: world.run.engine.notes())  # it calls while another session is the only open one
    (note,) = world.run.engine.notes()
    assert note.startswith("`server` made ")
    assert note.endswith("for sessions that were over; they were turned away (403)") or "1 call" in note
    assert env["BAGGAGE"].startswith("faultwire-session=")
    assert world.run.close_session("b").exchanges == 0


def until(true):
    """Wait for what another process does; the test's own time limit ends it."""
    tick = threading.Event()
    while not true():
        tick.wait(0.02)


def test_a_server_that_still_works_for_an_earlier_cell_is_started_again(world):
    agent = world.served(path="/slow", timeout=500, request_template='{"input": {prompt}, "seconds": 3600}')
    first = invoked(world, agent, "first", "a")
    assert (first.timed_out, first.exit_code, first.answer) == (True, None, "")
    assert "faultwire: the agent did not answer within 0.5 s" in first.stderr
    assert health(world)["heard"] == ["first"]
    invoked(world, agent, "second", "b")
    assert health(world)["heard"] == ["second"]  # it is another process


def invoked(world, agent, prompt, name):
    env = world.run.open_session(name, CALM.profile, 1)
    try:
        return agent.invoke(Asked((prompt,), name), env)
    finally:
        world.run.close_session(name)


def test_a_server_that_crashes_is_a_result_and_is_there_again_for_the_next_cell(world):
    crash = world.served(path="/crash")
    result = invoked(world, crash, "x", "a")
    assert (result.answer, result.exit_code) == ("", 1)
    assert "faultwire: the agent closed the connection without an answer" in result.stderr
    assert "the agent's server exited with `3`, after printing `the agent falls over`" in result.stderr
    assert invoked(world, crash, "x", "b").exit_code == 1  # it was there, and fell again
    assert (world.run.folder.path / "agent.log").read_text().count("falls over") == 2


@pytest.mark.nightly
def test_resets(world):
    agent = world.served(reset_endpoint="/reset")
    assert agent.resets
    world.play(agent, [CALM], [Prompt("p1", "a"), Prompt("p2", "b")])
    assert (health(world)["resets"], health(world)["heard"]) == (2, ["b"])
    assert all(b"reset" not in e.request.path.encode() for e in world.run.history("calm/p1/r1").exchanges)


@pytest.mark.nightly
def test_a_reset_that_fails_voids_the_cell(world):
    agent = world.served(reset_endpoint="/unresettable")
    (one,) = world.play(agent, [CALM], [Prompt("p1", "a")])
    why = '`/unresettable` answered HTTP 503 X, expected 2xx: `{"why": "busy"}`'
    assert one.history.voids == (f"the agent was not reset: {why}",)
    assert health(world)["heard"] == []  # and it was not asked


@pytest.mark.nightly
def test_servers_that_never_become_ready(world, tmp_path):
    for command, why in (
        (
            [sys.executable, "-c", "import sys; sys.exit('no such table')"],
            "exited with `1` before it was ready, after printing",
        ),
        ([sys.executable, "-c", "import threading; threading.Event().wait()"], "was not ready within 1 s"),
        (["no-such-server"], "`no-such-server` did not start: No such file or directory"),
    ):
        at = f"http://127.0.0.1:{free_port()}/"
        start = {"command": command, "ready_url": at, "timeout": 1000}
        with pytest.raises(AgentError) as error:
            world.agent(HttpSettings.model_validate({"endpoint": at, "start": start}))
        assert why in error.value.message
        assert error.value.exit_code == 2


@pytest.mark.nightly
def test_a_port_that_another_server_has_is_refused(world):
    world.served()
    at = f"http://127.0.0.1:{world.port}"
    start = {"command": [sys.executable, "-c", ""], "ready_url": f"{at}/health"}
    with pytest.raises(AgentError, match=r"found a server at .* already"):
        world.agent(HttpSettings.model_validate({"endpoint": at, "start": start}))


def test_a_server_ends_with_its_run(tmp_path):
    with bench(tmp_path) as world:
        agent = world.served()
        assert isinstance(agent.server, Server)
        process = os.pidfd_open(agent.server.pid)
    with os.fdopen(process):
        assert select.select([process], [], [], 30)[0]


def test_the_engine_refuses_what_a_connection_could_not_distinguish(world):
    world.run.share("server")
    engine, calm, refused = world.run.engine, dump(CALM.profile), dump(REFUSED.profile)
    first = engine.open_session("a", calm, 1, via="server")
    with pytest.raises(UsageError, match="`a` and `b` share `server`"):
        engine.open_session("b", refused, 1, via="server")
    assert engine.stats()["sessions"] == ["server", "a"]
    engine.close_session("a")
    again = engine.open_session("c", refused, 1, via="server")
    assert (again.user, again.token, again.port) == (first.user, first.token, first.port)
    assert again.trace != first.trace
    with pytest.raises(UsageError, match="no user `nobody` is shared"):
        engine.open_session("d", calm, 1, via="nobody")
    with pytest.raises(UsageError, match="a session `server` is open already"):
        engine.share("server")
    assert engine.close_session("c").voids == ()


def test_a_server_may_leave_in_order_and_one_that_does_not_is_killed(tmp_path):
    obedient = "signal.signal(signal.SIGTERM, lambda *_: (print('goodbye', flush=True), sys.exit()))"
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    for name, manners, said in (("a", obedient, "goodbye\n"), ("b", deaf, "")):
        port = free_port()
        at = f"http://127.0.0.1:{port}/"
        code = (
            f"import http.server, signal, sys; {manners}\n"
            "class Quiet(http.server.SimpleHTTPRequestHandler):\n"
            "    def log_message(self, *_): pass\n"
            f"http.server.HTTPServer(('127.0.0.1', {port}), Quiet).serve_forever()"
        )
        log = tmp_path / name
        with Server([sys.executable, "-c", code], dict(os.environ), at, log) as server:
            process = os.pidfd_open(server.pid)
        with os.fdopen(process):
            assert select.select([process], [], [], 30)[0]
        assert log.read_text() == said


def answers(at):
    try:
        urllib.request.urlopen(f"{at}/health").close()
    except OSError:
        return False
    return True


def test_a_server_that_somebody_else_started(tmp_path):
    port = free_port()
    with bench(tmp_path) as world:
        at = f"http://127.0.0.1:{port}"
        agent = world.agent(HttpSettings.model_validate({"endpoint": f"{at}/ask"}))
        said = (world.run.folder.path / "agent.env").read_text()
        assert "@127.0.0.1" not in said  # a proxy without a user: no run's token is in it
        command = f'{said}exec "$0" "$@"'
        server = subprocess.Popen(["sh", "-c", command, sys.executable, str(SERVER), str(port)])
        try:
            until(lambda: answers(at))
            for one in world.play(agent, [CALM, BROKEN], [Prompt("p1", "mine")]):
                assert len(asked(one.history)) == 2
                assert bool(one.history.fired) is (one.invocation.scenario is BROKEN)
        finally:
            server.kill()
            server.wait()
