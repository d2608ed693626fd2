from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.faults.tool.tool_slow import ToolSlow


def test_the_result_stays_and_comes_late(rewritten, dice):
    fault = ToolSlow(ms=500)
    assert rewritten(fault, "42 hits") is None
    assert fault.delay_s(None, dice()) == 0.5


def test_jitter_is_the_dices(dice):
    waits = [ToolSlow(ms=500, jitter_ms=100).delay_s(None, dice(seed=seed)) for seed in range(50)]
    assert all(0.4 <= wait <= 0.6 for wait in waits)
    assert len(set(waits)) > 10
    with pytest.raises(ValidationError):
        ToolSlow(ms=0)
