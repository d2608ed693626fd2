from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from faultwire.cli.replay_options import SHOWN, as_timing, lines


@pytest.mark.parametrize(
    ("text", "factor"), [("none", 0), ("recorded", 1), ("scaled:0.1", 0.1), ("scaled:20", 20)]
)
def test_timing_is_a_factor(text: str, factor: float) -> None:
    context = click.Context(click.Command("x"))
    assert as_timing(context, click.Option(["--timing"]), text) == factor


@pytest.mark.parametrize("text", ["scaled:0", "scaled:-1", "scaled:nan", "scaled:", "fast", "scaled:101", ""])
def test_what_is_no_timing(text: str) -> None:
    with pytest.raises(click.BadParameter, match="scaled:F"):
        as_timing(click.Context(click.Command("x")), click.Option(["--timing"]), text)


def report(**changes: Any) -> dict[str, Any]:
    base = {"tape": str(Path("t.tape")), "on_miss": "fail", "unverified": False, "recorded": 2, "served": 2}
    return {**base, "missed": 0, "misses": [], "left": 0, "leftovers": [], "classes": {}, **changes}


def test_a_replay_without_differences_is_one_line() -> None:
    assert lines(report()) == ["replayed   2 of 2 recorded exchanges from t.tape"]


def test_differences_are_shown_with_both_values() -> None:
    miss = {
        "class": "changed prompt",
        "request": "POST https://x/",
        "reason": "it differs from s#1 in `$.a`",
        "differences": [{"path": "$.a", "recorded": "one", "asked": "two"}],
        "expected_next": "s#1 POST https://x/",
    }
    told = lines(
        report(
            missed=1, misses=[miss], left=1, leftovers=["s#1 POST https://x/"], classes={"changed prompt": 1}
        )
    )
    assert told[1:] == [
        "  diverged: 1 changed prompt",
        "  miss (changed prompt): POST https://x/: it differs from s#1 in `$.a`",
        "    $.a",
        "      - one",
        "      + two",
        "    expected next: s#1 POST https://x/",
        "  never asked: s#1 POST https://x/",
    ]


def test_a_terminal_gets_the_first_of_many() -> None:
    told = lines(report(left=SHOWN + 5, leftovers=[f"s#{n}" for n in range(SHOWN + 5)]))
    assert told[-1] == "  and 5 more in `run.json`"
