from __future__ import annotations

import pytest

from faultwire.cli.mcp_shim import _word
from faultwire.errors import UsageError


def test_a_server_is_named_by_its_script_else_its_program():
    assert _word(("python", "-u", "/home/me/files server.py", "--x")) == "files-server"
    assert _word(("/usr/bin/npx", "-y", "@modelcontextprotocol/server")) == "npx"


def test_without_a_command():
    from faultwire.cli.mcp_shim import mcp_shim

    with pytest.raises(UsageError) as error:
        mcp_shim.main([], standalone_mode=False)
    assert error.value.exit_code == 2
