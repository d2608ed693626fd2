"""The demo agent's Python: what is taken for one, and what is not."""

import sys
from pathlib import Path

import pytest

from faultwire.demo.environment import interpreter
from faultwire.errors import UsageError


def test_an_interpreter_with_the_sdk_is_taken_with_its_version(agent_python, tmp_path):
    python, version = interpreter(agent_python, pytest.fail, tmp_path)
    assert python == agent_python
    assert version.split(".")[0].isdigit()
    assert not list(tmp_path.iterdir())


def test_an_interpreter_without_the_sdk_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(UsageError, match="found no package `openai`") as error:
        interpreter(Path(sys.executable), pytest.fail, tmp_path)
    assert error.value.code == "demo.no_sdk"
    assert not list(tmp_path.iterdir())


def test_a_program_that_answers_nothing_is_refused(tmp_path):
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\nexit 3\n")
    mute.chmod(0o755)
    with pytest.raises(UsageError, match="found no package `openai`"):
        interpreter(mute, pytest.fail, tmp_path / "base")
