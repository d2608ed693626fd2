from __future__ import annotations

from typing import get_args

from faultwire.audit.experiment import EXPLAINS
from faultwire.audit.finding import Class, Condition, Finding


def test_each_condition_but_two_shows_a_cause() -> None:
    """With nothing fixed nothing is shown, and answers of a tape show a model's or a server's chance."""
    assert set(get_args(Condition)) - set(EXPLAINS) == {"plain", "replayed answers"}
    assert set(EXPLAINS.values()) <= set(get_args(Class))


def test_runs_that_agree_have_no_cause() -> None:
    assert Finding(None) == Finding(None, first=None, tried=(), runs=0, rate=0.0, missing=(), code=0)
