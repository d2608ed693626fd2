"""`faultwire init`: a commented configuration and an example agent."""

from __future__ import annotations

import json
from pathlib import Path

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli._template import AGENT, AGENT_NAME, NAME, SCHEMA, TEMPLATE


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
        raise UsageError(f"cannot write `{target}`: {error.strerror}", code="config.not_written") from error
    except FaultwireError as error:  # of the folder for everything else that we write
        if error.code.startswith("output."):
            raise
        raise UsageError(f"cannot write `{target}`: {error.message}", code="config.not_written") from error
    show(str(target))
    if writes_agent:
        show(str(agent))
        say("next: `faultwire run`; then set `agent.command` to your own agent")
    else:
        say(f"next: check that `agent.command` starts your `{AGENT_NAME}`, then `faultwire verify`")
