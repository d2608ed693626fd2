import pytest

from faultwire.errors import UsageError
from faultwire.workbench.client import _as_error


@pytest.mark.parametrize(("code", "kind"), [(2, True), (3, False)])
def test_an_error_of_the_child_is_the_command_s(code: int, kind: bool) -> None:
    error = _as_error({"exit_code": code, "message": "m", "code": "ui.port", "hint": "h"})
    assert isinstance(error, UsageError) is kind
    assert (error.code, error.hint, error.exit_code) == ("ui.port", "h", code)
