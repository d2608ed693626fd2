from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.cli import _drained
from faultwire.cli._controlled import Place
from faultwire.errors import FaultwireError


def place(folder: Path, **about: Any) -> Place:
    (folder / "run.json").write_text(json.dumps({"status": "running", **about}))
    return Place(folder, folder / "control.sock", folder / "run.tape")


def test_it_waits_for_the_engine_that_was_asked(tmp_path: Path) -> None:
    _drained._wait(place(tmp_path, drained=[3, 2]), 2, 5.0)
    with pytest.raises(FaultwireError) as caught:
        _drained._wait(place(tmp_path, drained=[3]), 2, 0.0)
    assert caught.value.message == "engine 2 was not drained in 0 seconds"


def test_a_tape_that_does_not_verify_and_a_proxy_that_ended_are_named(tmp_path: Path) -> None:
    for about, why in (
        ({"drain_failed": {"2": "the tape does not verify"}}, "the tape does not verify"),
        ({"status": "void"}, "the proxy has ended"),
    ):
        with pytest.raises(FaultwireError) as caught:
            _drained._wait(place(tmp_path, **about), 2, 5.0)
        assert caught.value.message == f"engine 2 was not drained: {why}"
