"""`faultwire mcp-shim -- CMD…`: connect a stdio MCP server through the proxy."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath

import click


@click.command(
    "mcp-shim",
    short_help="Connect a stdio MCP server through the proxy.",
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--name", metavar="WORD", help="The server's name in paths (`/mcp/WORD`); the program's name by default."
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def mcp_shim(command: tuple[str, ...], name: str | None) -> None:
    """Connect a stdio MCP server through the proxy.

    Put it in front of the server's command in the agent's MCP configuration, and run the agent with
    `exec`. Every message between the two then goes through the proxy, where it is faulted and recorded.
    Its stderr, signals and exit code are the server's.

    \b
    {"command": "faultwire", "args": ["mcp-shim", "--", "python", "server.py"]}
    """
    from faultwire.errors import UsageError
    from faultwire.shim.find import above, find

    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire mcp-shim -- python server.py",
        )
    around = find(above(os.environ, os.getppid()))
    from faultwire.capture.child import shell_code
    from faultwire.shim.run import run

    word = name or _word(command)
    code = shell_code(run(command, word, around, os.environ))
    sys.stdout.flush()
    sys.exit(code)


def _word(command: tuple[str, ...]) -> str:
    """A word for a command that does not depend on the machine: its script, else its program."""
    scripts = [word for word in command[1:] if word.endswith((".py", ".js", ".mjs", ".cjs", ".ts"))]
    name = PurePath(scripts[0] if scripts else command[0]).stem
    return "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "-" for char in name)
