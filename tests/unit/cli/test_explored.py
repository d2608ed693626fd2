from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.cli._explored import Asked
from faultwire.cli._explored_search import faults
from faultwire.cli.options import Traffic
from faultwire.errors import ProfileError, UsageError

TWO = ("status: {code: 500}", "empty_response: {}")
AGENTS = "name: {name}\nagents: {{peer: {{url: '{url}'}}}}\nfaults: [refuse]\n"


def traffic(*faults: str, profiles: tuple[str, ...] = ()) -> Traffic:
    about: dict[str, Any] = {"seed": 7, "record": None, "mock": False, "script": None, "upstream_ca": None}
    more: dict[str, Any] = {"listen": "127.0.0.1:0", "capture": "env", "reverse": (), "allow_host": ()}
    return Traffic(**about, **more, fault=faults, profile=profiles)


def test_a_fault_that_another_would_leave_nothing_is_tried_all_the_same() -> None:
    """Each is tried alone. A single run has them together, and refuses what can never fire there."""
    asked = traffic(*TWO)
    assert [entry.id for entry in faults(asked).entries] == ["status", "empty_response"]
    with pytest.raises(ProfileError, match="leaves it no exchange"):
        asked.load()


def test_profiles_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    paths = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(AGENTS.format(name=name, url=f"http://{name}.example"))
        paths.append(str(path))
    with pytest.raises(ProfileError, match="expected one"):
        faults(traffic(profiles=tuple(paths)))


def asked(**given: Any) -> Asked:
    usual: dict[str, Any] = {
        "strategy": "lineage", "depth": 2, "oracle": None, "expect": None, "contract": None, "workers": 1,
        "max_runs": 200, "max_time": None, "max_cost": None, "max_tokens": None, "timeout": 60.0,
        "state": None, "quiet": False,
    }  # fmt: skip
    return Asked(**{**usual, **given})


def test_an_engine_is_asked_for_by_on_and_nothing_of_it_goes_without() -> None:
    assert asked().engine() is None
    engine = asked(on="local:2", worker_python="py", worker_folder="there", lease=9.0).engine()
    assert engine is not None
    assert (engine.place, engine.python, engine.folder, engine.lease_s) == ("local:2", "py", "there", 9.0)
    with pytest.raises(UsageError, match="found --workers with --on"):
        asked(on="local:2", workers=2).engine()
    for name, value in (("worker_python", "py"), ("worker_folder", "there"), ("lease", 9.0)):
        with pytest.raises(UsageError, match=f"found --{name.replace('_', '-')} without --on"):
            asked(**{name: value}).engine()
