"""The `faultwire` command.

Commands are named in `COMMANDS` and imported when they are called, so that `faultwire --help` and
the start of every command cost little more than importing click.
"""

from __future__ import annotations

import click

from faultwire.cli._group import Lazy, LazyGroup
from faultwire.cli._usage import Guarded

COMMANDS: dict[str, Lazy] = {
    "demo": Lazy("demo:demo", "Break a small real agent, with no key and no network."),
    "init": Lazy("init:init", "Write a commented faultwire.yaml."),
    "verify": Lazy("verify:verify", "Check that a configuration is ready to run: agent, proxy, model."),
    "doctor": Lazy("doctor:doctor", "Check whether this machine, or a command, can be captured."),
    "exec": Lazy("exec:exec_", "Run any command behind the proxy and break its traffic."),
    "proxy": Lazy("proxy:proxy", "Run the proxy for an agent that is started elsewhere."),
    "control": Lazy("control:control", "Arm faults and hold exchanges on a running proxy."),
    "ui": Lazy("ui:ui", "Look at a run or a tape in the browser, live while it is recorded."),
    "env": Lazy("env:env", "Print the exports that send a shell's programs to a running proxy."),
    "mock": Lazy("mock:mock", "Run the mock provider by itself."),
    "mcp-shim": Lazy("mcp_shim:mcp_shim", "Connect a stdio MCP server through the proxy."),
    "run": Lazy("run:run", "Test golden prompts and their mutations: the robustness score."),
    "contract": Lazy("contract:contract", "Test the agent against its contract in every scenario."),
    "replay": Lazy("replay:replay", "Replay incident sessions against a contract."),
    "ci": Lazy("ci:ci", "Run every configured phase once: one score for the gate."),
    "worker": Lazy("worker:worker", "Play one batch of a campaign's cells (engines start it)."),
    "score": Lazy("score:score", "Print one number: the score of a new run or of an earlier one."),
    "report": Lazy("report:report", "Show the report of an earlier run, or write it in another format."),
    "attack": Lazy("attack:attack", "Search for the attack that an agent obeys."),
    "redteam": Lazy("redteam:redteam", "Report what the attacks of earlier runs achieved."),
    "runs": Lazy("runs:runs", "List earlier runs."),
    "tape": Lazy("tape:tape", "List, show, verify, seal, export and import tapes."),
    "fork": Lazy("fork:fork", "Replay a tape up to one exchange, change its answer, and continue."),
    "blame": Lazy("blame:blame", "Find the steps that made a run fail."),
    "validate": Lazy("validate:validate", "Plant known causes on an agent, and see if blame finds them."),
    "explore": Lazy("explore:explore", "Search for the faults that break an agent that is fine so far."),
    "bench": Lazy("bench:bench", "Play a published benchmark of agents under attack."),
    "evolve": Lazy("evolve:evolve", "Search for mutants of a prompt that an agent fails."),
    "fuzz": Lazy("fuzz:fuzz", "Search for generated input that crashes an agent."),
    "load": Lazy("load:load", "Run many of an agent at once, with chaos on."),
    "audit": Lazy("audit:audit", "Find out by experiment why two runs of one seed differ."),
    "shrink": Lazy("shrink:shrink", "Find the smallest set of faults with which a run still fails."),
    "ingest": Lazy("ingest:ingest", "Take the events that agents report of themselves, and keep them."),
    "serve": Lazy("serve:serve", "Show a team its runs, with roles, baselines and alerts."),
    "token": Lazy("token:token", "Make, list and revoke tokens of the team's service."),
    "push": Lazy("push:push", "Send runs' results and tapes to where a team keeps them."),
    "pull": Lazy("push:pull", "Fetch a tape from where a team keeps it."),
    "gc": Lazy("push:gc", "Remove what no tape needs from where a team keeps tapes."),
    "scan": Lazy("scan:scan", "Find secrets, personal data and prompt injections."),
    "certificate": Lazy("certificate:certificate", "Issue and verify signed statements of what runs showed."),
    "witness": Lazy("witness:witness", "Cosign the checkpoints of logs that only grow."),
    "keys": Lazy("keys:keys", "Create, show and trust the keys that seal tapes."),
    "faults": Lazy("faults:faults", "List and show faults."),
    "profiles": Lazy("profiles:profiles", "List, show and validate profiles."),
    "checks": Lazy("checks:checks", "List and show checks."),
    "mutations": Lazy("mutations:mutations", "List and show mutations of prompts."),
    "schema": Lazy("schema:schema", "Print JSON Schemas for editors."),
    "ca": Lazy("ca:ca", "Show, renew or remove this project's certificate authority."),
    "prices": Lazy("prices:prices", "Show or update the prices of models."),
    "chaos": Lazy("chaos:chaos", "Test the golden prompts without faults and under chaos."),
}

SECTIONS = {
    "Start": ("demo", "init", "verify", "doctor", "exec", "proxy", "control", "env", "mock", "mcp-shim"),
    "Gate": ("run", "contract", "replay", "ci", "worker", "score", "bench"),
    "Evidence": (
        "ui",
        "report",
        "attack",
        "redteam",
        "runs",
        "tape",
        "fork",
        "blame",
        "validate",
        "shrink",
        "explore",
        "evolve",
        "fuzz",
        "load",
        "audit",
        "ingest",
        "serve",
        "token",
        "push",
        "pull",
        "gc",
        "scan",
        "certificate",
        "witness",
        "keys",
    ),
    "Reference": ("faults", "profiles", "checks", "mutations", "schema", "prices", "ca"),
}
"""The visible commands under the headings of `--help`."""

RENAMED = {"chaos": "faultwire run --chaos-only"}
"""Old commands that work for one more release, and what replaces them."""


_COUNT_COSTS = frozenset(
    (
        "demo",
        "exec",
        "run",
        "contract",
        "replay",
        "ci",
        "worker",
        "score",
        "chaos",
        "fork",
        "blame",
        "validate",
        "shrink",
        "explore",
        "audit",
        "bench",
        "attack",
        "load",
        "evolve",
        "fuzz",
    )
)
"""Commands that start agents and tell what their models cost."""


def _version(context: click.Context, _parameter: click.Parameter, requested: bool) -> None:
    if not requested or context.resilient_parsing:
        return
    from faultwire._core import __version__

    click.echo(f"faultwire {__version__}")
    context.exit()


class Main(Guarded, LazyGroup):
    """The top-level group: lazy, and the one place that turns errors into text and an exit code."""


@click.group(
    cls=Main,
    lazy=COMMANDS,
    package="faultwire.cli",
    sections=SECTIONS,
    renamed=RENAMED,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "FAULTWIRE",
        "max_content_width": 100,
    },
    epilog="Every option can be set by a variable: FAULTWIRE_EXEC_SEED=7 is `exec --seed 7`.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Print the version and exit.",
)
@click.option(
    "--prices",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A YAML file of model prices; it takes precedence over `faultwire prices`.",
)
@click.pass_context
def main(context: click.Context, prices: str | None) -> None:
    """Chaos engineering for AI agents, on the wire."""
    if prices is not None:
        from pathlib import Path

        from faultwire.wire.transcript.prices import choose

        choose(Path(prices))
    if context.invoked_subcommand in _COUNT_COSTS:
        from faultwire.wire.transcript.prices import installed, load

        path = installed()
        if path is not None:  # a table that cannot be read ends a run here, not after its last invocation
            load(path)
