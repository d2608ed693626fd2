import threading
from dataclasses import dataclass, field

import pytest

from faultwire.agents._api import Asked
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.errors import AgentError, CaptureError, FaultwireError, TapeIncomplete, UsageError
from faultwire.events import AgentResult, Bypass, History, Recorded, Request
from faultwire.profile.model import Profile
from faultwire.replay.incident import Session, ToolResponse
from faultwire.replay.incident_profile import profile_of
from faultwire.runner.cells import planned
from faultwire.runner.run import play, void


@dataclass(frozen=True)
class Closed:
    voids: tuple = ()
    notes: tuple = ()
    replay: dict | None = None


@dataclass
class World:
    """A stage and an agent in memory: what was called, in order, and how many ran at once."""

    exchanges: int = 1
    stderr: str = ""
    voids: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    replay: dict | None = None
    lost_at: str | None = None
    """The session from whose opening on there is no engine any more."""
    untold: str | None = None
    """The session that is not on the tape."""
    refused: bool = False
    fails: str | None = None
    gate: threading.Barrier | None = None
    resets: bool = False
    unforgetting: list = field(default_factory=list)
    """Whether each reset fails, the last one first."""
    concurrent: bool = True
    label: str = "an agent in memory"
    network: bool = False
    calls: list = field(default_factory=list)
    stopped: bool = False
    lost: bool = False
    seen: dict = field(default_factory=dict)
    """Where the agent was seen connected to, by session."""

    def open_session(self, name, profile, seed):
        self.calls.append(("open", name))
        if self.refused:
            raise UsageError("found fault `x`, expected a known one")
        if self.lost_at == name:
            self.lost = True
        if self.lost:
            raise FaultwireError("the engine ended with code `-9`")
        return {"SESSION": name, "PROFILE": profile.name, "SEED": str(seed)}

    def close_session(self, name, bypassed=(), more=0):
        self.calls.append(("close", name))
        self.seen[name] = (bypassed, more)
        if self.lost:
            raise FaultwireError("the engine ended with code `-9`")
        return Closed(self.voids.get(name, ()), self.notes.get(name, ()), self.replay)

    def history(self, name):
        assert ("close", name) in self.calls
        if self.untold == name:
            raise TapeIncomplete(f"tape `t` has no session `{name}`")
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

    def reset(self, env):
        self.calls.append(("reset", env["SESSION"]))
        if self.unforgetting and self.unforgetting.pop():
            raise AgentError("the agent answered 500 when it was to forget, expected 2xx")

    def invoke(self, asked, env):
        if self.gate is not None:
            self.gate.wait(timeout=10)
        if env["SESSION"] == self.fails:
            raise AgentError("the agent `x` did not start: No such file or directory")
        said = f"{asked.text} in {env['SESSION']} of {env['PROFILE']} with {env['SEED']}"
        return AgentResult(said, 0, 0.1, self.stderr)

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


def test_an_inconclusive_invocation_does_not_affect_the_others():
    world = World(voids={"calm/p1/r1": ("fault `x` failed",)})
    first, second = play(plan("calm", "chaos"), world, world, seed=1)
    assert (first.history.voids, second.history.voids) == (("fault `x` failed",), ())
    assert first.history.agent.exit_code == 0
    assert len(second.history.exchanges) == 1
    error = void((first, second))
    assert (error.code, error.exit_code) == ("run.void", 3)
    assert error.message == "1 of 2 invocations is inconclusive (`calm/p1/r1`: fault `x` failed)"
    assert error.hint.startswith("the other invocations are in the report; ")


def test_no_error_without_inconclusive_invocations():
    assert void(play(plan("calm", repeat=2), World(), World(), seed=1)) is None


def test_without_an_engine_the_rest_is_inconclusive():
    class Counted(World):
        invoked = 0

        def invoke(self, asked, env):
            type(self).invoked += 1
            return super().invoke(asked, env)

    world = Counted(lost_at="calm/p1/r3")
    played = play(plan("calm", repeat=9), world, world, seed=1)
    assert [bool(p.history.voids) for p in played] == [False, False] + [True] * 7
    assert world.invoked == 2
    error = void(played)
    assert error.message == (
        "7 of 9 invocations are inconclusive (`calm/p1/r3`, `calm/p1/r4`, `calm/p1/r5` and 4 more: "
        "the engine ended with code `-9`)"
    )


def test_an_engine_that_is_lost_during_an_invocation_voids_it():
    class Dying(World):
        def invoke(self, asked, env):
            self.lost = True
            return super().invoke(asked, env)

    world = Dying()
    (played,) = play(plan("calm"), world, world, seed=1)
    assert played.history.voids == ("the engine ended with code `-9`",)
    assert void([played]).hint.startswith("no invocation is left to judge; ")


def test_a_session_missing_on_the_tape_is_inconclusive():
    world = World(untold="calm/p1/r2")
    played = play(plan("calm", repeat=2), world, world, seed=1)
    assert [p.history.voids for p in played] == [(), ("tape `t` has no session `calm/p1/r2`",)]


def test_a_mistake_of_the_user_ends_the_run():
    world = World(refused=True)
    with pytest.raises(UsageError):
        play(plan("calm", "chaos"), world, world, seed=1)
    assert ("open", "chaos/p1/r1") not in world.calls


def test_notes_on_traffic_that_became_no_exchange_are_kept():
    world = World(notes={"calm/p1/r1": ("2 requests were refused: no proxy user",)})
    (played,) = play(plan("calm"), world, world, seed=1)
    assert played.history.notes == ("2 requests were refused: no proxy user",)


def test_remarks_on_recorded_answers_are_no_notes_on_traffic():
    told = Session("inc", ("hi",), tool_responses=(ToolResponse(tool="price"),))
    world = World()
    call = Invocation(Scenario("inc", profile_of(told, {})), Prompt("inc", "hi"))
    (played,) = play([call], world, world, seed=1)
    assert played.history.notes == ()
    assert played.history.remarks == ("1 of 1 recorded answer of `price` not requested",)


def test_an_answer_with_redacted_values_is_remarked_on():
    calls = [{"call": "s#1", "body": ["$.a"], "headers": []}]
    world = World(replay={"redacted": {"answers": 1, "heads": 0, "calls": calls}})
    (played,) = play(plan("calm"), world, world, seed=1)
    (remark,) = played.history.remarks
    assert remark.startswith("1 recorded answer holds placeholders")
    assert played.history.notes == ()


def test_an_agent_that_never_reached_the_proxy_voids_the_run_and_states_what_to_set():
    world = World(exchanges=0)
    with pytest.raises(CaptureError) as error:
        play(plan("calm", "chaos"), world, world, seed=1)
    assert error.value.exit_code == 3
    assert error.value.message == "the agent ran 2 times and sent no traffic through the proxy"
    with pytest.raises(CaptureError, match="the agent ran once and sent no traffic"):
        play(plan("calm"), world, world, seed=1)
    assert "HTTPS_PROXY" in error.value.hint


def test_a_silent_agents_last_output_is_redacted():
    key = "sk-ant-api03-" + "Zq7" * 31 + "AA"
    world = World(exchanges=0, stderr=f"Traceback\n401 for {key}\n")
    with pytest.raises(CaptureError) as error:
        play(plan("calm"), world, world, seed=1)
    assert "its last output line: `401 for redacted:v1:" in error.value.message
    assert key not in error.value.message


def test_the_reason_of_an_inconclusive_invocation_is_redacted():
    key = "sk-ant-api03-" + "Zq7" * 31 + "AA"
    world = World(voids={"calm/p1/r1": (f"the agent was not reset: it said `{key}`",)})
    error = void(play(plan("calm"), world, world, seed=1))
    assert "it said `redacted:v1:" in error.message
    assert key not in error.message


def test_an_empty_plan_plays_nothing():
    assert play((), World(), World(), seed=1) == ()


def test_an_agent_that_takes_one_thing_at_a_time_gets_one_at_a_time():
    world = World(concurrent=False)
    play(plan("calm", repeat=5), world, world, seed=1, concurrency=4)
    assert [op for op, _ in world.calls] == ["open", "close"] * 5


def test_an_agent_forgets_before_each_invocation():
    world = World(resets=True)
    play(plan("calm", repeat=2), world, world, seed=1)
    assert [op for op, _ in world.calls] == ["open", "reset", "close"] * 2


def test_a_failed_reset_makes_the_invocation_inconclusive():
    world = World(resets=True, unforgetting=[False, True])
    first, second = play(plan("calm", repeat=2), world, world, seed=1)
    assert first.history.agent is None
    assert first.history.voids == ("the agent answered 500 when it was to forget, expected 2xx",)
    assert second.history.agent is not None
    assert not second.history.voids


def test_what_is_void_is_played_again_in_a_session_of_its_own():
    world = World(resets=True, unforgetting=[False, True])
    (played,) = play(plan("calm"), world, world, seed=1, retries=2)
    assert not played.history.voids
    assert played.history.agent.answer.startswith("hi in calm/p1/r1~2 of calm")
    assert [name for op, name in world.calls if op == "open"] == ["calm/p1/r1", "calm/p1/r1~2"]


def test_no_more_often_than_asked():
    world = World(resets=True, unforgetting=[True] * 9)
    (played,) = play(plan("calm"), world, world, seed=1, retries=2)
    assert played.history.voids
    assert [op for op, _ in world.calls].count("open") == 3


def test_what_is_asked_can_be_changed_on_the_way():
    world = World()
    (played,) = play(plan("calm"), world, world, seed=1, ask=lambda i: Asked(("one", "two"), i.id))
    assert played.history.agent.answer.startswith("two in calm/p1/r1")


def test_each_invocation_is_watched_by_itself_and_reported_to_its_session():
    watches = []

    class Watched(World):
        def invoke(self, asked, env):
            watches.append(asked.watch)
            asked.watch._add(Bypass("203.0.113.5", len(watches)))
            return super().invoke(asked, env)

    world = Watched()
    play(plan("calm", repeat=2), world, world, seed=1)
    assert len(set(watches)) == 2
    assert world.seen == {
        "calm/p1/r1": ((Bypass("203.0.113.5", 1),), 0),
        "calm/p1/r2": ((Bypass("203.0.113.5", 2),), 0),
    }
