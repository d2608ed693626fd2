"""What `attack` refuses, which commands it writes, and how it exits."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.cli import _attacked
from faultwire.cli.attack import TAKEN, attack
from faultwire.errors import FaultError, UsageError


def asked(**changes: object) -> _attacked.Asked:
    given: dict[str, object] = {
        "budget": 50, "finds": 3, "confirm": 10, "families": (), "wordings": (), "timeout": 60.0,
        "state": None, "output": (), "quiet": True,
    }  # fmt: skip
    return _attacked.Asked(**{**given, **changes})  # type: ignore[arg-type]


def stages(**counts: int) -> dict[str, object]:
    none = dict.fromkeys(("obeyed", "read", "filtered", "unplaced", "void"), 0)
    return {"stages": {**none, **counts}, "findings": []}


def test_repeats_that_could_confirm_nothing_are_refused() -> None:
    assert _attacked._names(asked())
    with pytest.raises(UsageError, match="with fewer repeats none of 3 attacks can be confirmed"):
        _attacked._names(asked(confirm=1))
    with pytest.raises(UsageError, match="found `--budget 12`, expected at least 13"):
        _attacked._names(asked(budget=12))


@pytest.mark.parametrize("reached", ["obeyed", "read", "filtered"])
def test_it_exits_0_where_attacks_reached_the_agent_and_none_is_confirmed(reached: str) -> None:
    assert _attacked._exit(stages(**{reached: 1})) == 0
    assert _attacked._exit({**stages(**{reached: 1}), "findings": [{}]}) == 1


def test_a_search_in_which_nothing_reached_the_agent_is_inconclusive() -> None:
    with pytest.raises(FaultError, match="no attack reached the agent"):
        _attacked._exit(stages(unplaced=3, void=2))


def test_no_option_of_another_fault_or_tape_is_offered() -> None:
    names = {one.name for one in attack.params}
    assert not names & TAKEN
    assert {"budget", "finds", "confirm", "seed", "mock", "profile"} <= names
    assert Path(_attacked.__file__).name == "_attacked.py"
