"""What is refused without starting anything; the interpreters that are started are in `tests/e2e/demo`."""

import pytest

from faultwire.demo.environment import interpreter
from faultwire.errors import UsageError


@pytest.mark.parametrize("made", [False, True])
def test_what_is_no_interpreter_is_refused_before_anything_is_made(tmp_path, made):
    fake, base = tmp_path / "python", tmp_path / "base"
    if made:
        fake.write_text("")  # a file, but none that may be run
    with pytest.raises(UsageError, match="found no package `openai`") as error:
        interpreter(fake, pytest.fail, base)
    assert error.value.code == "demo.no_sdk"
    assert error.value.hint == f"{fake} -m pip install openai, or leave out --agent-python"
    assert not base.exists()
