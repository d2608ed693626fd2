"""What an invocation is called, which traffic an entry can reach, and when a scenario did not happen."""

from dataclasses import dataclass, replace

import pytest

from faultwire.contract.cells import Invocation, Prompt, Scenario, slug
from faultwire.contract.matrix import Matrix, Unjudged, aims, distinct, judge, lacking
from faultwire.errors import ConfigError
from faultwire.events import Verdict
from faultwire.faults._api import Fault
from faultwire.faults.tool.tool_error import ToolError
from faultwire.profile.entry_model import Entry, On


class Slow(Fault):
    name = "slow"
    site = "connection"


class Plain:
    """An invariant that knows nothing of settling over a whole run."""

    label, severity, when, scenarios = "plain", "medium", "always", ()

    def verdict(self, history):
        return Verdict("pass" if history.exchanges else "fail", f"{len(history.exchanges)} exchanges")


@dataclass(frozen=True)
class Counted(Plain):
    """Says how many exchanges it was shown."""

    label: str = "counted"


def cells(matrix):
    return [(c.invocation.id, c.invariant, c.verdict.verdict) for c in matrix.cells]


def test_a_conversation_is_asked_turn_by_turn():
    assert Prompt("p", "last", turns=("first", "last")).asked == ("first", "last")
    assert Prompt("p", "only").asked == ("only",)


def test_an_invocation_is_called_by_its_phase_scenario_prompt_and_repeat(profiles):
    calm = Scenario("all calm", profiles["calm"])
    assert Invocation(calm, Prompt("p/1", "?"), 3).id == "all-calm/p-1/r3"
    assert Invocation(calm, Prompt("p/1", "?"), 3, "contract").id == "contract/all-calm/p-1/r3"


def test_a_name_keeps_letters_digits_and_six_signs():
    assert slug("aZ09._-#@:+") == "aZ09._-#@:+"
    assert slug("a b/cXd\u00e9\u0661\n~") == "a-b-cXd----"


@pytest.mark.parametrize(
    ("fault", "on", "sides"),
    [
        (ToolError(), {}, {"tool"}),
        (ToolError(), {"kind": "llm"}, {"tool"}),
        (Slow(), {"tool": "search"}, {"tool"}),
        (Slow(), {"kind": "tool"}, {"tool"}),
        (Slow(), {"kind": "llm"}, {"llm"}),
        (Slow(), {"provider": "openai"}, {"llm"}),
        (Slow(), {"model": "gpt-*"}, {"llm"}),
        (Slow(), {"stream": False}, {"llm"}),
        (Slow(), {"kind": "other"}, {"other"}),
        (Slow(), {"kind": "agent"}, {"other"}),
        (Slow(), {"host": "h"}, {"tool", "llm", "other"}),
    ],
)
def test_an_entry_aims_where_its_settings_say(fault, on, sides):
    assert aims(Entry(id="e", fault=fault, on=On(**on))) == sides


# ---------------------------------------------------------------- judging


def test_a_probe_is_judged_by_its_own_invariants_only(says, profiles, history):
    probe = Invocation(Scenario("calm", profiles["calm"]), Prompt("p", "?", (says("own"),), probe=True))
    assert cells(judge([says("shared")], [(probe, history())])) == [("calm/p/r1", "own", "pass")]


def test_a_probe_needs_invariants_of_its_own_and_may_name_them_like_others(says, profiles):
    calm = [Scenario("calm", profiles["calm"])]
    distinct(calm, [Prompt("p", "?", (says("a"),), probe=True)], [says("a")])
    with pytest.raises(ConfigError, match="found no invariant for the prompt `p`, expected at least one"):
        distinct(calm, [Prompt("p", "?", probe=True)], [says("a")])


@pytest.mark.parametrize(
    ("what", "prompts", "labels", "hint"),
    [
        ("invariant", ["p"], ["a", "a"], "give one of them another `id`"),
        ("prompt", ["p", "p"], ["a"], "rename one of them"),
    ],
)
def test_it_states_how_to_fix_a_name_that_comes_twice(profiles, says, what, prompts, labels, hint):
    name = (labels if what == "invariant" else prompts)[0]
    with pytest.raises(ConfigError) as error:
        distinct(
            [Scenario("calm", profiles["calm"])], [Prompt(p, "?") for p in prompts], [says(i) for i in labels]
        )
    assert error.value.message == f"found the {what} `{name}` twice, expected every {what} once"
    assert error.value.hint == hint


def test_an_invariant_that_does_not_apply_does_not_hide_the_next(says, invocation, history):
    never, next_ = says("never", when="tool_faults_active"), says("next")
    assert cells(judge([never, next_], [(invocation("calm"), history())])) == [("calm/p1/r1", "next", "pass")]


def test_an_invariant_without_the_word_is_not_settled_over_all(invocation, history, exchange):
    played = [(invocation("calm"), history()), (invocation("calm", repeat=2), history(exchange(1)))]
    assert [verdict for *_, verdict in cells(judge([Plain()], played))] == ["fail", "pass"]


def test_a_void_session_gives_no_verdict(says, invocation, history):
    void = replace(history(), voids=("the tape is full", "no agent"))
    ((cell,),) = [judge([says("a")], [(invocation("calm"), void)]).cells]
    assert cell.verdict == Verdict("unknown", "inconclusive: the tape is full; no agent")


def test_what_a_check_would_have_said_is_about_the_same_session(invocation, history, exchange):
    matrix = judge([Counted()], [(invocation("any"), history(exchange(1)))])
    assert matrix.cells[0].verdict.explanation.endswith("without it the verdict is pass: 1 exchanges")


# ---------------------------------------------------------------- did the scenario happen?


def test_a_tape_without_an_answer_is_not_the_scenario(profiles, history, exchange, line):
    missed = replace(exchange(1, line()), error="diverged: another model")
    assert lacking("always", profiles["any"], history(exchange(2, line()))) is None
    assert "the tape had no answer to 1 call" in lacking("always", profiles["any"], history(missed))


def test_without_chaos_nothing_has_to_fire(profiles, history):
    assert lacking("no_chaos", profiles["any"], history()) is None
    assert lacking("always", profiles["any"], history()) is not None


def test_other_traffic_is_neither_tool_nor_model(profiles, history, exchange, line):
    other = history(exchange(1, line(), kind="other"))
    assert lacking("any_chaos_active", profiles["any"], other) is None
    for when, side in (("llm_faults_active", "model"), ("tool_faults_active", "tool")):
        found = lacking(when, profiles["any"], other)
        assert found == f"no {side} fault of `any` fired (none of 1 exchange matched)"


def test_the_last_entry_that_did_not_fire_states_why(profiles, history, exchange, line):
    quiet = line("no_effect", name="first", reason="nothing to change")
    happened = history(exchange(1, line("skipped", name="zero"), quiet), exchange(2, line("fired")))
    found = lacking("tool_faults_active", profiles["any"], happened)
    assert found == "no tool fault of `any` fired (`first` no effect: nothing to change)"


def test_an_entry_that_was_for_another_kind_of_call_states_nothing(profiles, history, exchange, line):
    chance = line("skipped", name="first", reason="rolled 0.3 or more")
    elsewhere = line(
        "skipped", name="second", reason="tool `search` is seen at its `http` site in this session"
    )
    found = lacking("always", profiles["any"], history(exchange(1, chance), exchange(2, elsewhere)))
    assert found == "no fault of `any` fired (`first` skipped: rolled 0.3 or more)"


# ---------------------------------------------------------------- score


def test_squares_clean_invocations_and_critical_failures(says, invocation, history, exchange, line):
    invariants = [says("a", "fail", "critical"), says("b", "pass", "critical"), says("c", "fail", "high")]
    played = [(invocation("calm"), history()), (invocation("any"), history(exchange(1, line())))]
    matrix = judge(invariants, played)
    assert [(c.invocation.id, c.invariant) for c in matrix.of("any", "b")] == [("any/p1/r1", "b")]
    score = matrix.score()
    assert (score.critical_failed, score.unjudged) == (2, 0)
    # the first cell fails, the second passes: the invocation is not clean
    clean = judge(invariants[:2], played).score().clean
    assert (clean.passed, clean.total) == (0, 2)


def test_an_invariant_that_was_never_judged_leaves_the_gate_unknown(says, invocation, history):
    cells = judge([says("a")], [(invocation("calm"), history())]).cells
    never = Unjudged("b", "critical", "always", "nothing was about it", "add a scenario")
    assert Matrix(cells).score().gate == "pass"
    score = Matrix(cells, (never,)).score()
    assert (score.unjudged, score.gate) == (1, "unknown")
