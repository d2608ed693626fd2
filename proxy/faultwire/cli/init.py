"""`faultwire init`: a commented configuration to start from, and an agent to try it with."""

from __future__ import annotations

import json
from pathlib import Path

import click

from faultwire.cli._template import AGENT, AGENT_NAME, NAME, SCHEMA, TEMPLATE


@click.command("init", short_help="Write a commented faultwire.yaml.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.argument("path", type=click.Path(path_type=Path), default=Path(NAME))
def init(path: Path, force: bool) -> None:
    """Write a commented configuration to PATH (faultwire.yaml, or that name in a folder).

    It runs as it stands, with no key and no network: the mock answers a small agent, which is written
    to agent.py beside it unless there is one. An agent.py that is there is never written over.
    """
    from faultwire.cli.output import say, show
    from faultwire.config.schema import schema
    from faultwire.errors import FaultwireError, UsageError
    from faultwire.runner.folder import state

    target = path / NAME if path.is_dir() else path
    if target.exists() and not force:
        raise UsageError(
            f"found a file at `{target}`, expected none",
            code="config.exists",
            hint="give another path, or write over it with --force",
        )
    if not target.parent.is_dir():
        raise UsageError(f"found no folder `{target.parent}`, expected one", code="config.no_folder")
    agent = target.parent / AGENT_NAME
    ours = not agent.exists()
    try:
        state(target.parent / Path(SCHEMA).parent)
        (target.parent / SCHEMA).write_text(json.dumps(schema()) + "\n", encoding="utf-8")
        if ours:
            agent.write_text(AGENT, encoding="utf-8")
        target.write_text(TEMPLATE, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{target}`: {error.strerror}", code="config.not_written") from error
    except FaultwireError as error:  # of the folder for everything else that we write
        raise UsageError(f"cannot write `{target}`: {error.message}", code="config.not_written") from error
    show(str(target))
    if ours:
        show(str(agent))
        say("next: `faultwire run`, as it stands; then name your own agent in `agent.command`")
    else:
        say(f"next: look whether `agent.command` starts your `{AGENT_NAME}`, then `faultwire verify`")
