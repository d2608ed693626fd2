"""What a ramp plans; that it plays it is in tests/e2e/load."""

from __future__ import annotations

import click
import pytest

from faultwire.cli.load import as_levels
from faultwire.load.ramp import Plan


def test_every_cell_is_played_alone_as_often_as_was_asked_for_and_levels_take_turns():
    plan = Plan((1, 2, 8), 3, 2, 5, 100, 60.0)
    assert sorted(plan.work(1)) == [0, 0, 1, 1, 2, 2]
    assert plan.work(2) == [0, 1, 2, 0, 1]
    assert len(plan.work(8)) == 16


def test_levels_are_read_in_order_with_one_among_them():
    assert as_levels(None, None, "8,2,2") == (1, 2, 8)  # type: ignore[arg-type]
    for text in ("", "a", "0", "1,-1", "257"):
        with pytest.raises(click.BadParameter):
            as_levels(None, None, text)  # type: ignore[arg-type]
