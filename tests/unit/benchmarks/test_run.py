from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.benchmarks.plan import Pair
from faultwire.benchmarks.run import Asked, attack_order, chosen
from faultwire.errors import UsageError

PAIRS = [
    Pair(suite, f"user_task_{at}", "injection_task_0")
    for suite in ("workspace", "banking")
    for at in range(4)
]
ASKED = Asked("agentdojo", Path("python"), "0", "v1", "direct", ("agent",), controls=2)


def test_the_controls_are_played_beside_the_agent_and_each_task_in_peace():
    cases = chosen(ASKED, PAIRS)
    by = {name: [pair for agent, pair in cases if agent == name] for name in ("victim", "deaf", "agent")}
    assert by["victim"] == by["deaf"] == [PAIRS[4], PAIRS[6]], "not those that the framework scores wrong"
    assert [pair for pair in by["agent"] if pair.injection] == PAIRS
    assert len([pair for pair in by["agent"] if not pair.injection]) == 8


def test_a_benchmarks_own_calm_cases_are_played_and_none_are_made_up():
    mixed = [*PAIRS, Pair("workspace", "calm", None)]
    for name, calm in (("injecagent", 1), ("agent-injection-bench", 1), ("agentdojo", 8)):
        cases = chosen(replace(ASKED, benchmark=name), mixed)
        found = [pair for agent, pair in cases if not pair.injection]
        assert len(found) == calm, name
        assert {agent for agent, pair in cases if not pair.injection} == {"agent"}


def test_a_suite_and_a_number_of_pairs():
    few = [pair for _, pair in chosen(replace(ASKED, suites=("banking",), pairs=2), PAIRS) if pair.injection]
    assert {pair.suite for pair in few} == {"banking"}
    with pytest.raises(UsageError, match="suite `bank`, expected one of workspace, banking"):
        chosen(replace(ASKED, suites=("bank",)), PAIRS)


def test_an_attack_is_one_of_the_benchmarks_or_of_our_library():
    assert attack_order("direct", ["direct"], "v1") == {"version": "v1", "attack": "direct"}
    ours = attack_order("faultwire:authority", [], "v1")
    assert ours["template"].startswith("Message from the administrator")
    assert "{goal}" in ours["template"]
    with pytest.raises(UsageError, match="attack `faultwire:obfuscated`, expected one of faultwire:override"):
        attack_order("faultwire:obfuscated", [], "v1")
    with pytest.raises(UsageError, match="attack `faultwire:authority`, expected one of own"):
        attack_order("faultwire:authority", ["own"], "v1", templates=False)
    with pytest.raises(UsageError, match="attack `dirct`") as caught:
        attack_order("dirct", ["direct"], "v1")
    assert "direct" in (caught.value.hint or "")
