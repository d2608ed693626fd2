from dataclasses import dataclass, replace

import pytest

from faultwire.contract.matrix import judge
from faultwire.contract.run_level import prepared, settled
from faultwire.events import AgentResult, History, Verdict


@dataclass(frozen=True)
class Once:
    """An invariant that holds where the answer says so, and has to do so once."""

    label: str = "once"
    severity: str = "medium"
    when: str = "always"
    scenarios: tuple[str, ...] = ()
    over_all: bool = True

    def verdict(self, history):
        word = {"yes": "pass", "no": "fail"}.get(history.agent.answer, "unknown")
        return Verdict(word, f"it said {history.agent.answer}")


def ended(answer, **changes):
    return History("s", (), AgentResult(answer, changes.pop("exit_code", 0), 1.0), **changes)


def baselines(*pairs):
    return [history.baseline for _, history in prepared(pairs)]


def test_the_calm_answer_of_the_same_prompt_and_repeat(invocation):
    calm, any_, other = invocation("calm"), invocation("any"), invocation("any", prompt="p2")
    assert baselines((calm, ended("a")), (any_, ended("b")), (other, ended("c"))) == [None, "a", None]


def test_another_repeat_where_there_is_none(invocation):
    pairs = [(invocation("calm", repeat=n), ended(f"a{n}")) for n in (1, 2)]
    pairs += [(invocation("any", repeat=n), ended("b")) for n in (2, 3)]
    assert baselines(*pairs) == ["a2", "a1", "a2", "a1"]


@pytest.mark.parametrize(
    "broken", [ended("a", exit_code=1), ended(" "), ended("a", voids=("why",)), History("s", ())]
)
def test_an_invocation_that_went_wrong_is_no_measure(invocation, broken):
    assert baselines((invocation("calm"), broken), (invocation("any"), ended("b"))) == [None, None]


def test_what_is_known_already_stays(invocation):
    known = replace(ended("b"), prompt="asked", baseline="before")
    ((_, history),) = prepared([(invocation("any"), known)])
    assert (history.prompt, history.baseline) == ("asked", "before")


def test_the_prompt_is_handed_over(invocation):
    ((_, history),) = prepared([(invocation("any"), ended("b"))])
    assert history.prompt == "?"


@pytest.mark.parametrize(
    ("answers", "verdicts"),
    [
        (["no", "yes", "no"], ["pass"] * 3),
        (["no", "no"], ["fail"] * 2),
        (["no", "yes", "?"], ["pass", "pass", "unknown"]),
    ],
)
def test_once_is_enough(invocation, answers, verdicts):
    played = [(invocation("calm", repeat=n), ended(answer)) for n, answer in enumerate(answers, start=1)]
    assert [cell.verdict.verdict for cell in judge([Once()], played).cells] == verdicts


def test_other_invariants_are_left_alone(invocation):
    played = [
        (invocation("calm", repeat=n), ended(answer)) for n, answer in enumerate(["no", "yes"], start=1)
    ]
    cells = judge([Once(over_all=False)], played).cells
    assert [cell.verdict.verdict for cell in settled(cells, frozenset())] == ["fail", "pass"]
    assert [cell.verdict.explanation for cell in settled(cells, frozenset({"once"}))] == [
        "it holds in `calm/p1/r2`; here: it said no",
        "it said yes",
    ]


def mutant(invocation, scenario, repeat=1, name="m1"):
    made = invocation(scenario, repeat=repeat)
    return replace(made, prompt=replace(made.prompt, id=name, golden="p1"))


def test_a_mutant_is_held_against_the_calm_answer_to_its_prompt(invocation):
    pairs = [(invocation("calm", repeat=n), ended(f"a{n}")) for n in (1, 2)]
    pairs += [(mutant(invocation, "calm", 1), ended("b")), (mutant(invocation, "any", 2), ended("c"))]
    # golden ones against the other repeat, mutants against the same one, even in a calm scenario
    assert baselines(*pairs) == ["a2", "a1", "a1", "a2"]


def test_a_mutant_is_no_measure_for_a_prompt_of_its_name(invocation):
    pairs = [
        (mutant(invocation, "calm", name="p2"), ended("b")),
        (invocation("any", prompt="p2"), ended("c")),
    ]
    assert baselines(*pairs) == [None, None]


def test_an_agent_that_timed_out_is_no_measure(invocation):
    late = History("s", (), AgentResult("a", 0, 1.0, timed_out=True))
    assert baselines((invocation("calm"), late), (invocation("any"), ended("b"))) == [None, None]


def test_a_settled_cell_keeps_its_value(invocation):
    played = [(invocation("calm", repeat=n), ended(word)) for n, word in enumerate(["no", "yes"], start=1)]
    first, second = judge([Once(over_all=False)], played).cells
    first = replace(first, verdict=replace(first.verdict, value=7.5))
    settled_ = list(settled([first, second], frozenset({"once"})))
    assert settled_[0].verdict == Verdict("pass", "it holds in `calm/p1/r2`; here: it said no", 7.5)


def test_the_calm_runs_of_the_same_prompt_are_handed_over_where_there_are_faults(invocation):
    calm = [ended("a1"), ended("a2"), ended("broken", exit_code=1)]
    pairs = [(invocation("calm", repeat=n), one) for n, one in enumerate(calm, 1)]
    pairs += [(invocation("any"), ended("b")), (invocation("any", prompt="p2"), ended("c"))]
    found = [history.calm for _, history in prepared(pairs)]
    assert found == [(), (), (), (calm[0], calm[1]), ()]


def test_a_mutant_gets_the_calm_runs_of_its_prompt_and_a_history_keeps_those_it_has(invocation):
    calm, own = ended("a"), ended("x")
    pairs = [(invocation("calm"), calm), (mutant(invocation, "any"), ended("b"))]
    pairs.append((invocation("any"), ended("c", calm=(own,))))
    assert [history.calm for _, history in prepared(pairs)] == [(), (calm,), (own,)]
