"""The `faultwire` command.

Commands are named in `COMMANDS` and imported when they are called, so that `faultwire --help` and
the start of every command cost little more than click itself.
"""

from __future__ import annotations

import click

from faultwire.cli._group import Lazy, LazyGroup
from faultwire.cli._usage import Guarded

COMMANDS: dict[str, Lazy] = {
    "demo": Lazy("demo:demo", "Break a small real agent, with no key and no network."),
    "exec": Lazy("exec:exec_", "Run any command behind the proxy and break its traffic."),
    "fork": Lazy("fork:fork", "Replay a tape up to one exchange, change that, and go on from there."),
    "proxy": Lazy("proxy:proxy", "Run the proxy for an agent that is started elsewhere."),
    "env": Lazy("env:env", "Print the exports that send a shell's programs to a running proxy."),
    "run": Lazy("run:run", "Ask golden prompts and their mutants: the robustness score."),
    "chaos": Lazy("chaos:chaos", "Ask the golden prompts, calm and under chaos."),
    "contract": Lazy("contract:contract", "Judge the agent by its contract, in every scenario."),
    "ci": Lazy("ci:ci", "Play every configured phase once: one score for the gate."),
    "replay": Lazy("replay:replay", "Replay incident sessions against a contract."),
    "score": Lazy("score:score", "Print one number: the robustness score, or an earlier run's."),
    "report": Lazy("report:report", "Show the report of an earlier run, or write it in another form."),
    "runs": Lazy("runs:runs", "List earlier runs."),
    "mock": Lazy("mock:mock", "Run the mock provider by itself."),
    "mcp-shim": Lazy("mcp_shim:mcp_shim", "Put an MCP server that speaks stdio on the wire."),
    "init": Lazy("init:init", "Write a commented faultwire.yaml."),
    "verify": Lazy("verify:verify", "Check a configuration for real: agent, proxy, model."),
    "profiles": Lazy("profiles:profiles", "List, show and check profiles."),
    "faults": Lazy("faults:faults", "List and show faults."),
    "schema": Lazy("schema:schema", "Print JSON Schemas for editors."),
    "checks": Lazy("checks:checks", "List and show checks."),
    "tape": Lazy("tape:tape", "List, show, verify, seal, export and import tapes."),
    "keys": Lazy("keys:keys", "Make, show and trust the keys that seal tapes."),
    "scan": Lazy("scan:scan", "Scan TEXT, a FILE, or standard input (-)."),
    "doctor": Lazy("doctor:doctor", "Say whether this machine, or a command, can be captured."),
    "ca": Lazy("ca:ca", "Show, renew or remove this project's certificate authority."),
}


def _version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from faultwire._core import __version__

    click.echo(f"faultwire {__version__}")
    context.exit()


class Main(Guarded, LazyGroup):
    """The whole command: lazy, and with one place that turns errors into text and an exit code."""


@click.group(
    cls=Main,
    lazy=COMMANDS,
    package="faultwire.cli",
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
    help="Prices of your own, as YAML, before the built-in ones.",
)
def main(prices: str | None) -> None:
    """Chaos engineering for AI agents, on the wire."""
    if prices is not None:
        from pathlib import Path

        from faultwire.wire.transcript.prices import choose

        choose(Path(prices))
