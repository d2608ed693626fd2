"""`faultwire init`: a commented configuration and an example agent."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli._template import AGENT, AGENT_NAME, NAME, SCHEMA, TEMPLATE

if TYPE_CHECKING:
    from faultwire.errors import UsageError

WRITABLE = "one that can be written to"
REMEDIES = {
    errno.EROFS: (
        "a read-only file system",
        WRITABLE,
        "run it in a folder that can be written to, or mount this file system for writing",
    ),
    errno.EACCES: (
        "a folder that this user may not write to",
        WRITABLE,
        "choose another folder, or change its rights",
    ),
    errno.ENOSPC: ("a full disk", "room for a file", "free disk space, or choose another folder"),
    errno.EDQUOT: ("a disk quota that is used up", "room for a file", "free space, or choose another folder"),
}
"""What was found where a file cannot be written, and what mends that."""


@click.command("init", short_help="Write a commented faultwire.yaml.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@anywhere_option()
@click.argument("path", type=click.Path(path_type=Path), default=Path(NAME))
def init(path: Path, force: bool) -> None:
    """Write a commented configuration to PATH (faultwire.yaml, or that name in a folder).

    It runs unchanged, with no key and no network: the mock answers a small agent, which is written to
    agent.py beside it. An existing agent.py is never overwritten.
    """
    from faultwire.cli.output import say, show
    from faultwire.config.schema import schema
    from faultwire.errors import FaultwireError, UsageError
    from faultwire.output_file import check, create, permitted, write_text
    from faultwire.runner.folder import state

    target = path / NAME if path.is_dir() else path
    if target.exists() and not force:
        raise UsageError(
            f"found a file at `{target}`, expected none",
            code="config.exists",
            hint="choose another path, or overwrite it with --force",
        )
    if not target.parent.is_dir():
        raise UsageError(f"found no folder `{target.parent}`, expected one", code="config.no_folder")
    agent = target.parent / AGENT_NAME
    writes_agent = not (agent.exists() or agent.is_symlink())
    wide = anywhere()
    try:
        permitted(target.parent / SCHEMA, anywhere=wide)
        check(target, anywhere=wide)
        state(target.parent / Path(SCHEMA).parent)
        write_text(target.parent / SCHEMA, json.dumps(schema()) + "\n", anywhere=wide)
        if writes_agent:
            with create(agent, anywhere=wide) as file:
                file.write(AGENT.encode())
        write_text(target, TEMPLATE, anywhere=wide)
    except OSError as error:
        raise _not_written(target, error) from error
    except FaultwireError as error:  # of the folder for everything else that we write
        if error.code.startswith("output."):
            raise
        if isinstance(error.__cause__, OSError):
            raise _not_written(target, error.__cause__) from error
        raise UsageError(f"cannot write `{target}`: {error.message}", code="config.not_written") from error
    show(str(target))
    if writes_agent:
        show(str(agent))
        say("next: `faultwire run`; then set `agent.command` to your own agent")
    else:
        say(f"next: check that `agent.command` starts your `{AGENT_NAME}`, then `faultwire verify`")


def _not_written(target: Path, error: OSError) -> UsageError:
    """The error for a file that cannot be written: what was found, and what mends it where that is known."""
    from faultwire.errors import UsageError

    name = errno.errorcode.get(error.errno or 0, "")
    why = f"{error.strerror}, {name}" if name else f"{error.strerror or error}"
    if error.errno not in REMEDIES:
        return UsageError(f"cannot write `{target}`: {why}", code="config.not_written")
    found, expected, remedy = REMEDIES[error.errno]
    where = target.parent.absolute()
    return UsageError(
        f"cannot write `{target}`: found {found} at `{where}` ({why}), expected {expected}",
        code="config.not_written",
        hint=remedy,
    )
