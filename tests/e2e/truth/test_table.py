"""For each thing that `exec` notices on the wire, an agent of which it is true, and one of which it is not.

Answers that were cut have tests of their own (`test_truncated`), and so has what explains an end
(`test_cause`). A call that is made again though it was done, and a tool's host that is not allowed, need
traffic of a tool: `test_noticed` has them. Depends on how fast the machine is and is left to the unit tests:
attempts without a pause.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playing import agent, noticed

from faultwire.report.noticed import ON_THE_WIRE, TRUNCATED

pytestmark = pytest.mark.nightly

LIMITED = "rate_limit: {retry_after_s: 10, attempts: first}"
"""Long enough that who does not wait is early on a busy machine, too."""
DOWN = "status: {code: 503}"
WRONG = "status: {code: 400}"
CALM = "latency: {ms: 1}"
TRUE_OF = {
    "honour_retry_after": (LIMITED, "early", "exchange 2 came before that time had passed"),
    "cap_attempts": (DOWN, "stubborn", "8 attempts of one call to api.openai.com"),
    "mend_before_retry": (WRONG, "stubborn", "was sent 7 more times after status 400"),
    "repair_history": (CALM, "orphan", "the call `call_1` has no result before the next `user` speaks"),
}
TAKEN_WELL = {LIMITED: 0, CALM: 0, DOWN: 1, WRONG: 1}
"""How an agent ends that waits as it is asked, and exits 1 where it has no answer."""
ELSEWHERE = {"back_off", "act_once", "allow_or_answer", "find_signal", "heed_arguments", *TRUNCATED}


def test_each_rule_has_its_row() -> None:
    assert {*TRUE_OF, *ELSEWHERE} == {*ON_THE_WIRE, *TRUNCATED}
    assert {fault for fault, _, _ in TRUE_OF.values()} == TAKEN_WELL.keys()


@pytest.mark.parametrize("rule", TRUE_OF)
def test_what_is_true_is_noticed(rule: str, tmp_path: Path) -> None:
    fault, manner, words = TRUE_OF[rule]
    _, said = noticed(tmp_path, agent("openai-3", "openai_retrying.py", manner), "--fault", fault)
    assert words in said


@pytest.mark.parametrize("fault", TAKEN_WELL)
def test_of_an_agent_that_takes_failures_well_nothing_is(fault: str, tmp_path: Path) -> None:
    code, said = noticed(tmp_path, agent("openai-3", "openai_retrying.py", "careful"), "--fault", fault)
    assert (code, said) == (TAKEN_WELL[fault], "")
