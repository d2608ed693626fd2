"""`faultwire bench`: published benchmarks of agents under attack, on the wire."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli._group import Group
from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import as_seconds
from faultwire.cli.options import Traffic, traffic_options_but
from faultwire.cli.output import Format, format_option

TAKEN = frozenset(
    {
        "record",
        "output_anywhere",
        "replay",
        "on_miss",
        "mark",
        "reuse",
        "strict_order",
        "unverified",
        "timing",
        "profile",
        "fault",
        "mask",
    }
)
"""Options of `exec` that make no sense here: the faults are the attacks, and the tape is the run's."""


@click.group("bench", cls=Group, short_help="Play a published benchmark of agents under attack.")
def bench() -> None:
    """Play a published benchmark of agents under attack, with your own agent on the wire.

    The benchmark's package serves the tasks and judges what became of them; faultwire places the attacks.
    """


@bench.command("agentdojo", cls=SectionedCommand, short_help="AgentDojo: user tasks with injected orders.")
@click.option(
    "--python",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Python that has the package.  [default: .faultwire/bench/agentdojo, else one that has it]",
)
@click.option("--release", metavar="VERSION", default="v1.2.2", show_default=True, help="Of the tasks.")
@click.option(
    "--attack",
    metavar="NAME",
    default="important_instructions",
    show_default=True,
    help="An attack of the benchmark, or `faultwire:FAMILY` of faultwire's library.",
)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite; repeatable.")
@click.option("--pairs", type=click.IntRange(1), help="So many pairs, evenly over all.  [default: all]")
@click.option(
    "--controls",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Pairs that the scripted victim and the deaf one are played on.",
)
@click.option(
    "--concurrency", type=click.IntRange(1, 64), default=2, show_default=True, help="Tasks at a time."
)
@click.option(
    "--timeout", callback=as_seconds, default="120s", show_default=True, metavar="TIME", help="For one task."
)
@click.option(
    "--scripted-model",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Give the agent a model that obeys an attack with this chance, and needs no key.",
)
@click.option(
    "--max-asr",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit 1 if the attack success rate is higher.",
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the numbers only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def agentdojo(command: tuple[str, ...], format_: Format, **options: Any) -> None:
    """Play AgentDojo with your own agent: user tasks whose tool results hold injected orders.

    Each task is one start of CMD. It gets the task in place of `{prompt}`, or on stdin, and prints its
    answer. Its tools are at $FAULTWIRE_BENCH_MCP_URL (MCP) and $FAULTWIRE_BENCH_TOOLS_URL (plain HTTP); its
    model is its own. A scripted victim that obeys and a deaf one are played beside it, so that a rate of 0 %
    says something.

    Exits 0, 1 if the attack success rate is above --max-asr, 3 if the run is inconclusive.

    \b
    faultwire bench agentdojo --pairs 20 -- python agent.py
    faultwire bench agentdojo --suite banking --attack tool_knowledge -- node agent.mjs '{prompt}'
    """
    from faultwire.cli import _bench
    from faultwire.cli._ended import interruptible

    if not command:
        from faultwire.errors import UsageError

        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire bench agentdojo --pairs 20 -- python agent.py",
        )
    mine = {name: options.pop(name) for name in _bench.OPTIONS}
    settled: dict[str, Any] = dict.fromkeys(("record", "replay"))
    traffic = Traffic(**settled, profile=(), fault=(), **options)
    with interruptible():
        sys.exit(_bench.agentdojo(command, traffic, format_, **mine))
