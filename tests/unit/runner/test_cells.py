from faultwire.contract.cells import Prompt, Scenario
from faultwire.profile.model import Profile
from faultwire.runner.cells import planned


def test_every_scenario_with_every_prompt_as_often_as_asked():
    scenarios = [Scenario(name, Profile(name=name)) for name in ("calm", "chaos")]
    prompts = [Prompt("p1", "?"), Prompt("p2", "?")]
    assert [invocation.id for invocation in planned(scenarios, prompts, repeat=2)] == [
        "calm/p1/r1", "calm/p1/r2", "calm/p2/r1", "calm/p2/r2",
        "chaos/p1/r1", "chaos/p1/r2", "chaos/p2/r1", "chaos/p2/r2",
    ]  # fmt: skip


def test_names_do_not_depend_on_what_else_is_planned():
    chaos = Scenario("chaos", Profile(name="chaos"))
    alone = {i.id for i in planned([chaos], [Prompt("p1", "?")])}
    assert alone < {i.id for i in planned([chaos], [Prompt("p0", "?"), Prompt("p1", "?")], repeat=3)}
