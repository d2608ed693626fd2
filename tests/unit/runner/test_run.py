import threading
from dataclasses import dataclass, field

import pytest

from faultwire.contract.matrix import Prompt, Scenario
from faultwire.errors import AgentError, CaptureError, FaultwireError
from faultwire.events import AgentResult, History, Recorded, Request
from faultwire.profile.model import Profile
from faultwire.runner.cells import planned
from faultwire.runner.run import play


@dataclass(frozen=True)
class Closed:
    voids: tuple = ()


@dataclass
class World:
    """A stage and an agent in memory: what was called, in order, and how many ran at once."""

    exchanges: int = 1
    voids: dict = field(default_factory=dict)
    fails: str | None = None
    gate: threading.Barrier | None = None
    calls: list = field(default_factory=list)
    stopped: bool = False

    def open_session(self, name, profile, seed):
        self.calls.append(("open", name))
        return {"SESSION": name, "PROFILE": profile.name, "SEED": str(seed)}

    def close_session(self, name):
        self.calls.append(("close", name))
        return Closed(self.voids.get(name, ()))

    def history(self, name):
        assert ("close", name) in self.calls
        request = Request("POST", "https", "h", 443, "/")
        values = dict.fromkeys(("protocol", "provider", "tool", "upstream", "delivered", "error"))
        return History(
            name,
            tuple(
                Recorded(
                    session=name,
                    number=n + 1,
                    kind="llm",
                    request=request,
                    ending="complete",
                    attempt=0,
                    started_ms=0,
                    duration_ms=0,
                    **values,
                )
                for n in range(self.exchanges)
            ),
        )

    def invoke(self, prompt, env):
        if self.gate is not None:
            self.gate.wait(timeout=10)
        if env["SESSION"] == self.fails:
            raise AgentError("the agent `x` did not start: No such file or directory")
        return AgentResult(f"{prompt} in {env['SESSION']} of {env['PROFILE']} with {env['SEED']}", 0, 0.1)

    def stop(self):
        self.stopped = True


def plan(*names, repeat=1):
    scenarios = [Scenario(name, Profile(name=name)) for name in names]
    return planned(scenarios, [Prompt("p1", "hi")], repeat=repeat)


def test_each_invocation_gets_a_session_of_its_own():
    world = World()
    played = play(plan("calm", "chaos"), world, world, seed=7)
    assert [p.history.agent.answer for p in played] == [
        "hi in calm/p1/r1 of calm with 7",
        "hi in chaos/p1/r1 of chaos with 7",
    ]
    assert world.calls == [(op, s) for s in ("calm/p1/r1", "chaos/p1/r1") for op in ("open", "close")]


def test_several_run_at_once_and_results_keep_the_plans_order():
    world = World(gate=threading.Barrier(4))  # passes only when four wait at it
    heard = []
    wanted = plan("calm", "chaos", repeat=4)
    played = play(wanted, world, world, seed=1, concurrency=4, progress=heard.append)
    assert [p.invocation for p in played] == list(wanted)
    assert sorted(p.invocation.id for p in heard) == sorted(i.id for i in wanted)


def test_no_more_than_asked_run_at_once():
    world = World()
    play(plan("calm", repeat=5), world, world, seed=1, concurrency=1)
    opened = 0
    for op, _ in world.calls:
        opened += 1 if op == "open" else -1
        assert opened <= 1


def test_an_agent_that_does_not_start_ends_the_run_and_closes_its_session():
    world = World(fails="calm/p1/r2")
    with pytest.raises(AgentError):
        play(plan("calm", repeat=9), world, world, seed=1)
    assert world.stopped
    assert world.calls[-1] == ("close", "calm/p1/r2")


def test_a_void_session_voids_the_run():
    world = World(voids={"calm/p1/r1": ("fault `x` failed",)})
    with pytest.raises(FaultwireError) as error:
        play(plan("calm", "chaos"), world, world, seed=1)
    assert (error.value.code, error.value.exit_code) == ("run.void", 3)
    assert error.value.message == "the session `calm/p1/r1` is void: fault `x` failed"
    assert ("open", "chaos/p1/r1") not in world.calls


def test_an_agent_that_never_reached_the_proxy_voids_the_run_and_says_what_to_set():
    world = World(exchanges=0)
    with pytest.raises(CaptureError) as error:
        play(plan("calm", "chaos"), world, world, seed=1)
    assert error.value.exit_code == 3
    assert error.value.message == "the agent ran 2 times and sent nothing through the proxy"
    assert "HTTPS_PROXY" in error.value.hint


def test_an_empty_plan_plays_nothing():
    assert play((), World(), World(), seed=1) == ()
