"""For each thing that `exec` notices on the wire, an agent of which it is true, and one of which it is not.

Answers that were cut have tests of their own (`test_truncated`), and so has what explains an end
(`test_cause`). Needs traffic of a tool and is left to the unit tests: a call that is made again though it was
done. Depends on how fast the machine is and is left to them, too: attempts without a pause.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playing import agent, noticed

from faultwire.report.noticed import ON_THE_WIRE, TRUNCATED

pytestmark = pytest.mark.nightly

LIMITED = "rate_limit: {retry_after_s: 3, trigger: {first: 1}}"
DOWN = "status: {code: 503}"
WRONG = "status: {code: 400}"
CALM = "latency: {ms: 1}"
TRUE_OF = {
    "honour_retry_after": (LIMITED, "early", "exchange 2 came before that time had passed"),
    "cap_attempts": (DOWN, "stubborn", "8 attempts of one call to api.openai.com"),
    "mend_before_retry": (WRONG, "stubborn", "was sent 7 more times after status 400"),
    "repair_history": (CALM, "orphan", "the call `call_1` has no result before the next `user` speaks"),
}
ELSEWHERE = {"back_off", "act_once", "find_signal", "heed_arguments", *TRUNCATED}


def test_each_rule_has_its_row() -> None:
    assert {*TRUE_OF, *ELSEWHERE} == {*ON_THE_WIRE, *TRUNCATED}


@pytest.mark.parametrize("rule", TRUE_OF)
def test_what_is_true_is_noticed(rule: str, tmp_path: Path) -> None:
    fault, manner, words = TRUE_OF[rule]
    _, said = noticed(tmp_path, agent("openai-3", "openai_retrying.py", manner), "--fault", fault)
    assert words in said


@pytest.mark.parametrize("fault", sorted({fault for fault, _, _ in TRUE_OF.values()}))
def test_of_an_agent_that_takes_failures_well_nothing_is(fault: str, tmp_path: Path) -> None:
    code, said = noticed(tmp_path, agent("openai-3", "openai_retrying.py", "careful"), "--fault", fault)
    assert (code, said) == (0, "")
