from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from faultwire.benchmarks.interpreter import interpreter
from faultwire.errors import UsageError


def test_a_package_that_is_there_is_found_with_its_version(tmp_path: Path) -> None:
    python = Path(sys.executable)
    assert interpreter(python, "click", "1", tmp_path) == (python, version("click"))
    assert interpreter(None, "click", "1", tmp_path)[1] == version("click")


@pytest.mark.parametrize("given", [None, Path(sys.executable)], ids=["found", "named"])
def test_one_that_is_not_is_said_with_the_line_that_installs_it(tmp_path: Path, given: Path | None) -> None:
    with pytest.raises(UsageError, match="no package `no-such-benchmark`") as caught:
        interpreter(given, "no-such-benchmark", "1.2", tmp_path)
    assert "pip install 'no-such-benchmark==1.2'" in (caught.value.hint or "")
    assert caught.value.code == "bench.not_installed"
