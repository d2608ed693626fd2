from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.cli._explored import _faults
from faultwire.cli.options import Traffic
from faultwire.errors import ProfileError

TWO = ("status: {code: 500}", "empty_response: {}")
AGENTS = "name: {name}\nagents: {{peer: {{url: '{url}'}}}}\nfaults: [refuse]\n"


def traffic(*faults: str, profiles: tuple[str, ...] = ()) -> Traffic:
    about: dict[str, Any] = {"seed": 7, "record": None, "mock": False, "script": None, "upstream_ca": None}
    more: dict[str, Any] = {"listen": "127.0.0.1:0", "capture": "env", "reverse": (), "allow_host": ()}
    return Traffic(**about, **more, fault=faults, profile=profiles)


def test_a_fault_that_another_would_leave_nothing_is_tried_all_the_same() -> None:
    """Each is tried alone. A single run has them together, and refuses what can never fire there."""
    asked = traffic(*TWO)
    assert [entry.id for entry in _faults(asked).entries] == ["status", "empty_response"]
    with pytest.raises(ProfileError, match="leaves it no exchange"):
        asked.load()


def test_profiles_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    paths = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(AGENTS.format(name=name, url=f"http://{name}.example"))
        paths.append(str(path))
    with pytest.raises(ProfileError, match="expected one"):
        _faults(traffic(profiles=tuple(paths)))
