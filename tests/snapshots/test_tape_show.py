"""How the recorded tape in `replays/` is shown."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "replays" / "cut_stream.tape"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("all", []),
        ("session", ["--session", "exec"]),
        ("exchange", ["--exchange", "1"]),
        ("raw", ["--exchange", "1", "--raw"]),
    ],
)
def test_the_sample(name: str, options: list[str], snapshot: Callable[..., None], tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path / "cut_stream.tape")
    snapshot(f"tape-show-{name}", "tape", "show", "./cut_stream.tape", *options)
