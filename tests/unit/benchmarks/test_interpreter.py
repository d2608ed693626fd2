from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from faultwire.benchmarks.interpreter import interpreter, version_in
from faultwire.errors import UsageError


def test_a_package_that_is_there_is_found_with_its_version(tmp_path):
    python = Path(sys.executable)
    assert interpreter(python, "click", "1", tmp_path) == (python, version("click"))
    assert interpreter(None, "click", "1", tmp_path)[1] == version("click")


@pytest.mark.parametrize("given", [None, Path(sys.executable)])
def test_one_that_is_not_is_said_with_the_line_that_installs_it(tmp_path, given):
    with pytest.raises(UsageError, match="no package `no-such-benchmark`") as caught:
        interpreter(given, "no-such-benchmark", "1.2", tmp_path)
    assert "pip install 'no-such-benchmark==1.2'" in caught.value.hint
    assert caught.value.code == "bench.not_installed"


def test_a_file_that_is_no_python_has_no_version(tmp_path):
    assert version_in(tmp_path / "none", "click") is None
