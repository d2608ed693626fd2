"""The strategies on generated agents whose failures are known: see `tests.bench.explore`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from tests.bench import explore as bench

from faultwire.explore.search import Explorer, OutOfBudget, Strategy
from faultwire.explore.space import Faults, Observation

AGENTS = range(12)


@pytest.mark.parametrize("strategy", ["lineage", "pairwise"])
def test_all_planted_failures_are_found_and_no_claim_is_false(strategy: Strategy) -> None:
    shares = []
    for number in AGENTS:
        agent = bench.generated(900_000 + number)
        wanted, every = bench.truth(agent)
        result, at = bench.searched(agent, strategy, every, 5, wanted)
        assert result.ended == "done"
        assert not bench.is_false(result, wanted), number
        if wanted:
            assert at < every, number
            shares.append(at / every)
    assert sorted(shares)[len(shares) // 2] <= (bench.SHARE_OF_ALL if strategy == "lineage" else 0.5)


def test_an_agent_whose_lineage_is_hidden_gets_no_claim() -> None:
    for number in AGENTS:
        agent = bench.generated(910_000 + number, hidden=True)
        wanted, every = bench.truth(agent)
        result, _ = bench.searched(agent, "lineage", every // 2, 5, wanted)
        assert result.claim is None or not result.claim.holds, number


def test_a_claim_that_trusts_a_hidden_lineage_would_be_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the look for what changed where no bytes lead, false claims are made."""
    from faultwire.explore import claim

    monkeypatch.setattr(claim, "hidden", lambda *_: "")
    made = 0
    for number in AGENTS:
        agent = bench.generated(910_000 + number, hidden=True)
        wanted, every = bench.truth(agent)
        result, _ = bench.searched(agent, "lineage", every // 2, 5, wanted)
        made += result.claim is not None and result.claim.holds
    assert made


def fixed(outcomes: dict[int, Observation], limit: int = 99) -> tuple[Explorer, list[Faults]]:
    asked: list[Faults] = []

    def run_many(sets: Sequence[Faults]) -> Iterator[Observation]:
        for faults in sets:
            if len(asked) >= limit:
                raise OutOfBudget
            asked.append(faults)
            yield outcomes.get(len(asked), Observation(False))

    return Explorer(run_many), asked


def test_an_agent_that_fails_without_faults_is_no_subject() -> None:
    explorer, _ = fixed({2: Observation(True, "it broke")})
    result = explorer.explore()
    assert (result.ended, result.reason, result.claim) == ("calm_fails", "it broke", None)
    explorer, _ = fixed({1: Observation(None, "no tape")})
    assert explorer.explore().ended == "undecided"


def test_a_budget_ends_a_search_with_what_is_known() -> None:
    agent = bench.generated(900_001)
    result, _ = bench.searched(agent, "lineage", 9, 5, set())
    assert (result.ended, result.runs) == ("budget", 9)
    assert result.claim is not None
    assert not result.claim.holds


def test_the_same_search_asks_the_same() -> None:
    agent = bench.generated(900_003)
    runs = [bench.searched(agent, "lineage", 400, 5, set())[0] for _ in range(2)]
    assert runs[0] == runs[1]


def test_random_finds_all_in_the_end() -> None:
    agent = bench.generated(900_004)
    wanted, every = bench.truth(agent)
    result, _ = bench.searched(agent, "random", 2 * every, 5, wanted)
    assert {bench.cause_of(one) for one in wanted} <= {bench.cause_of(find.faults) for find in result.finds}


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_no_false_claim_in_500_generated_agents() -> None:
    for number in range(500):
        agent = bench.generated(920_000 + number, hidden=number % 2 == 1, plant=number % 4 != 0)
        wanted, every = bench.truth(agent)
        result, _ = bench.searched(agent, "lineage", int(every * bench.BUDGET), 5, wanted)
        assert not bench.is_false(result, wanted), number
