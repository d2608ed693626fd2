from __future__ import annotations

import click
import pytest

from faultwire.cli.replay_options import as_timing


@pytest.mark.parametrize(
    ("text", "factor"), [("none", 0), ("recorded", 1), ("scaled:0.1", 0.1), ("scaled:20", 20)]
)
def test_timing_is_a_factor(text: str, factor: float) -> None:
    context = click.Context(click.Command("x"))
    assert as_timing(context, click.Option(["--timing"]), text) == factor


@pytest.mark.parametrize("text", ["scaled:0", "scaled:-1", "scaled:nan", "scaled:", "fast", "scaled:101", ""])
def test_an_invalid_timing_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="scaled:F"):
        as_timing(click.Context(click.Command("x")), click.Option(["--timing"]), text)
