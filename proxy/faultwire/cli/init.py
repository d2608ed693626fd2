"""`faultwire init`: a commented configuration to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

NAME = "faultwire.yaml"
SCHEMA = ".faultwire/schema.json"
TEMPLATE = f"""\
# yaml-language-server: $schema={SCHEMA}
# What to ask the agent, how to break its world meanwhile, and what must hold all the same.
version: "2.0"

# The program under test, started once per prompt in a process of its own. No shell runs it;
# {{prompt}} is replaced by the prompt, and the answer is what it prints on stdout.
agent:
  type: command
  command: ["python", "agent.py", "{{prompt}}"]
  timeout: 30000  # milliseconds, then it is stopped

proxy:
  capture: env      # by environment variables: proxy and CA of every common runtime
  seed: 42          # the same seed meets the same faults
  allow_hosts: []   # private addresses that the agent may call, such as localhost:11434

golden_prompts:
  - "What is the capital of France?"

contract:
  name: what must hold when the world breaks
  # Judged in every scenario; `faultwire checks list` names them all.
  invariants:
    - {{type: completes, severity: critical}}
    - {{type: output_not_empty}}
    - {{type: no_retry_storm}}
    # - {{type: contains, value: "Paris"}}
    # - {{type: regex, pattern: '(?i)\\bparis\\b'}}
  # The columns; `faultwire profiles list` names the built-in ones, a path names yours.
  chaos_matrix:
    - {{name: calm}}
    - {{name: rate limits, profile: rate_limits}}
    - {{name: broken streams, profile: stream_chaos}}
"""


@click.command("init", short_help="Write a commented faultwire.yaml.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.argument("path", type=click.Path(path_type=Path), default=Path(NAME))
def init(path: Path, force: bool) -> None:
    """Write a commented configuration to PATH (faultwire.yaml, or that name in a folder)."""
    from faultwire.cli._schema import schema
    from faultwire.cli.output import say, show
    from faultwire.errors import UsageError
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
    state(target.parent / Path(SCHEMA).parent)
    (target.parent / SCHEMA).write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
    target.write_text(TEMPLATE, encoding="utf-8")
    show(str(target))
    say("next: set `agent.command` in it, and try the agent with `faultwire exec --mock -- CMD`")
