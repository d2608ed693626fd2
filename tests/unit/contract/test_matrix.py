import pytest

from faultwire.contract.cells import Prompt, Scenario
from faultwire.contract.matrix import applies, distinct, judge
from faultwire.errors import ConfigError
from faultwire.events import AgentResult, History


def verdicts(matrix):
    return [(c.invocation.id, c.invariant, c.verdict.verdict) for c in matrix.cells]


def test_every_invariant_judges_every_invocation(says, invocation, history, exchange, line):
    played = [
        (invocation("calm"), history(exchange(1))),
        (invocation("any"), history(exchange(1, line()))),
        (invocation("any", repeat=2), history(exchange(1, line()))),
    ]
    matrix = judge([says("a"), says("b", "fail", "critical")], played)
    assert verdicts(matrix) == [
        ("calm/p1/r1", "a", "pass"),
        ("calm/p1/r1", "b", "fail"),
        ("any/p1/r1", "a", "pass"),
        ("any/p1/r1", "b", "fail"),
        ("any/p1/r2", "a", "pass"),
        ("any/p1/r2", "b", "fail"),
    ]
    assert (matrix.scenarios, matrix.invariants) == (("calm", "any"), ("a", "b"))
    assert len(matrix.of("any", "b")) == 2


def test_a_prompt_brings_invariants_of_its_own(says, invocation, history, exchange):
    played = [
        (invocation("calm", "p1", 1, (says("only_p1"),)), history()),
        (invocation("calm", "p2"), history()),
    ]
    assert verdicts(judge([says("both")], played)) == [
        ("calm/p1/r1", "both", "pass"),
        ("calm/p1/r1", "only_p1", "pass"),
        ("calm/p2/r1", "both", "pass"),
    ]


# ---------------------------------------------------------------- trigger verification


@pytest.mark.parametrize("said", ["pass", "fail"])
def test_a_scenario_whose_faults_never_fired_proves_nothing(says, invocation, history, exchange, line, said):
    quiet = line("skipped", reason="rolled 0.9000, not under 0.3")
    matrix = judge([says("a", said)], [(invocation("any"), history(exchange(1, quiet)))])
    verdict = matrix.cells[0].verdict
    assert verdict.verdict == "unknown"
    assert verdict.explanation == (
        "no fault of `any` fired (`slow` skipped: rolled 0.9000, not under 0.3); "
        f"without it the verdict is {said}: a said {said}"
    )


@pytest.mark.parametrize("outcome", ["skipped", "inapplicable", "no_effect", "preempted"])
def test_only_fired_is_fired(says, invocation, history, exchange, line, outcome):
    matrix = judge([says("a")], [(invocation("any"), history(exchange(1, line(outcome))))])
    assert matrix.cells[0].verdict.verdict == "unknown"


def test_one_fault_that_fired_is_enough(says, invocation, history, exchange, line):
    exchanges = (exchange(1, line("skipped")), exchange(2, line("fired")))
    assert judge([says("a")], [(invocation("any"), history(*exchanges))]).cells[0].verdict.verdict == "pass"


def test_calm_has_nothing_to_fire(says, invocation, history, exchange):
    assert judge([says("a")], [(invocation("calm"), history(exchange(1)))]).cells[0].verdict.verdict == "pass"


def test_it_states_why_nothing_fired(says, invocation, history, exchange):
    silent = judge([says("a")], [(invocation("any"), history())]).cells[0].verdict.explanation
    unmatched = judge([says("a")], [(invocation("any"), history(exchange(1)))]).cells[0].verdict.explanation
    assert silent.startswith("no fault of `any` fired (the agent sent no traffic through the proxy)")
    assert unmatched.startswith("no fault of `any` fired (none of 1 exchange matched)")


# ---------------------------------------------------------------- when


@pytest.mark.parametrize(
    ("when", "scenarios"),
    [
        ("always", {"calm", "any", "llm", "tool", "site"}),
        ("no_chaos", {"calm"}),
        ("any_chaos_active", {"any", "llm", "tool", "site"}),
        ("llm_faults_active", {"any", "llm"}),
        ("tool_faults_active", {"any", "tool"}),
    ],
)
def test_when_chooses_scenarios(profiles, when, scenarios):
    assert {name for name, profile in profiles.items() if applies(when, profile)} == scenarios


def test_an_invariant_is_not_judged_where_its_when_does_not_apply(says, invocation, history, exchange, line):
    played = [(invocation("calm"), history(exchange(1))), (invocation("llm"), history(exchange(1, line())))]
    assert verdicts(judge([says("a", when="tool_faults_active")], played)) == []
    assert verdicts(judge([says("a", when="no_chaos")], played)) == [("calm/p1/r1", "a", "pass")]


def test_an_invariant_that_names_scenarios_is_judged_in_no_other(says, invocation, history, exchange, line):
    played = [
        (invocation("calm"), history(exchange(1))),
        (invocation("any"), history(exchange(1, line()))),
        (invocation("llm"), history(exchange(1, line()))),
    ]
    named = says("a", scenarios=("llm", "calm"))
    assert verdicts(judge([named], played)) == [("calm/p1/r1", "a", "pass"), ("llm/p1/r1", "a", "pass")]
    both = says("a", scenarios=("llm", "calm"), when="any_chaos_active")
    assert verdicts(judge([both], played)) == [("llm/p1/r1", "a", "pass")]


@pytest.mark.parametrize(
    ("when", "kind", "site", "verdict"),
    [
        ("llm_faults_active", "llm", "connection", "pass"),
        ("llm_faults_active", "tool", "connection", "unknown"),
        ("llm_faults_active", "llm", "result", "unknown"),  # a tool's result, rewritten in a model's request
        ("tool_faults_active", "tool", "connection", "pass"),
        ("tool_faults_active", "llm", "result", "pass"),
        ("tool_faults_active", "llm", "connection", "unknown"),
        ("any_chaos_active", "other", "connection", "pass"),
    ],
)
def test_active_means_that_such_a_fault_fired(
    says, invocation, history, exchange, line, when, kind, site, verdict
):
    played = [(invocation("any"), history(exchange(1, line(site=site), kind=kind)))]
    assert judge([says("a", when=when)], played).cells[0].verdict.verdict == verdict


# ---------------------------------------------------------------- score


def test_the_score_of_a_matrix(says, invocation, history, exchange, line):
    played = [
        (invocation("calm"), history(exchange(1))),
        (invocation("any"), history(exchange(1, line()))),
        (invocation("any", repeat=2), history(exchange(1, line("skipped")))),
    ]
    invariants = [says("kept", severity="critical"), says("broken", "fail", "high", "any_chaos_active")]
    score = judge(invariants, played).score()
    assert score.value == 25.0  # calm 100, any 0: (50 + 0) / 2
    assert [(s.name, s.value, s.judged, s.asked) for s in score.scenarios] == [
        ("calm", 100.0, 1, 1), ("any", 0.0, 2, 4),
    ]  # fmt: skip
    assert (score.passed, score.failed, score.unknown, score.critical_failed) == (2, 1, 2, 0)
    assert (score.clean.passed, score.clean.total) == (1, 2)  # the one without any verdict does not count
    assert score.gate == "fail"


def test_an_empty_matrix_has_no_score():
    score = judge([], []).score()
    assert (score.value, score.gate, score.clean.total) == (None, "unknown", 0)


# ---------------------------------------------------------------- what a contract must have


@pytest.mark.parametrize(
    ("scenarios", "prompts", "invariants", "code", "message"),
    [
        ([], ["p"], ["a"], "config.empty", "found no scenario in the contract, expected at least one"),
        (["calm"], [], ["a"], "config.empty", "found no prompt in the contract, expected at least one"),
        (["calm"], ["p"], [], "config.empty", "found no invariant for the prompt `p`, expected at least one"),
        (["calm", "calm"], ["p"], ["a"], "config.duplicate_id", "found the scenario `calm` twice"),
        (["calm"], ["p", "q", "p"], ["a"], "config.duplicate_id", "found the prompt `p` twice"),
        (["calm"], ["p"], ["a", "a"], "config.duplicate_id", "found the invariant `a` twice"),
    ],
)
def test_a_contract_that_means_nothing_is_refused(
    profiles, says, scenarios, prompts, invariants, code, message
):
    with pytest.raises(ConfigError) as error:
        distinct(
            [Scenario(name, profiles[name]) for name in scenarios],
            [Prompt(name, "?") for name in prompts],
            [says(name) for name in invariants],
        )
    assert error.value.code == code
    assert error.value.message.startswith(message)


def test_an_invariant_of_a_prompt_must_not_repeat_a_common_one(profiles, says):
    calm = [Scenario("calm", profiles["calm"])]
    with pytest.raises(ConfigError, match="found the invariant `a` twice"):
        distinct(calm, [Prompt("p", "?", (says("a"),))], [says("a")])
    distinct(calm, [Prompt("p", "?", (says("b"),)), Prompt("q", "?", (says("b"),))], [says("a")])


def test_it_states_how_an_agent_without_traffic_ended(says, invocation):
    silent = History("s", (), AgentResult("", 3, 1.0))
    found = judge([says("a")], [(invocation("any"), silent)]).cells[0].verdict.explanation
    assert "the agent exited with 3 before it sent any traffic through the proxy" in found
