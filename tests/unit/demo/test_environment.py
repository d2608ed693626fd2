import sys
from pathlib import Path

import pytest

from faultwire.demo.environment import interpreter
from faultwire.errors import UsageError


def test_an_interpreter_without_the_sdk_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(UsageError) as error:
        interpreter(Path(sys.executable), pytest.fail, tmp_path)
    assert error.value.code == "demo.no_sdk"
    assert error.value.hint.endswith("or leave out --agent-python")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_interpreter_is_refused(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("")
    with pytest.raises(UsageError, match="found no package `openai`"):
        interpreter(fake, pytest.fail, tmp_path)
