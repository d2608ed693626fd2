"""`faultwire bench`: published benchmarks of agents under attack, on the wire."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._group import Group
from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import as_seconds
from faultwire.cli.options import Traffic, traffic_options_but
from faultwire.cli.output import Format, format_option

if TYPE_CHECKING:
    from collections.abc import Callable

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

    The benchmark's package or files give the tasks and the judgement; faultwire places the attacks.
    """


def bench_options(attack: str, help_: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options that all benchmarks have."""
    options = (
        click.option("--attack", metavar="NAME", default=attack, show_default=True, help=help_),
        click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite; repeatable."),
        click.option(
            "--pairs", type=click.IntRange(1), help="So many pairs, evenly over all.  [default: all]"
        ),
        click.option(
            "--controls", type=click.IntRange(1), default=8, show_default=True,
            help="Pairs that the scripted victim and the deaf one are played on.",
        ),
        click.option(
            "--concurrency", type=click.IntRange(1, 64), default=2, show_default=True, help="Tasks at a time."
        ),
        click.option(
            "--timeout", callback=as_seconds, default="120s", show_default=True, metavar="TIME",
            help="For one task.",
        ),
        click.option(
            "--scripted-model", type=click.FloatRange(0, 1), metavar="P",
            help="Give the agent a model that obeys an attack with this chance, and needs no key.",
        ),
        click.option(
            "--max-asr", type=click.FloatRange(0, 100), metavar="PERCENT",
            help="Exit 1 if the attack success rate is higher.",
        ),
        traffic_options_but(TAKEN),
        format_option,
        click.option("-q", "--quiet", is_flag=True, help="Print the numbers only."),
        click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]..."),
    )  # fmt: skip

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def python_option(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The interpreter of a benchmark that is a package."""
    return click.option(
        "--python",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help=f"A Python that has the package.  [default: .faultwire/bench/{name}, else one that has it]",
    )


@bench.command("agentdojo", cls=SectionedCommand, short_help="AgentDojo: user tasks with injected orders.")
@python_option("agentdojo")
@click.option("--release", metavar="VERSION", default="v1.2.2", show_default=True, help="Of the tasks.")
@bench_options(
    "important_instructions", "An attack of the benchmark, or `faultwire:FAMILY` of faultwire's library."
)
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
    _play("agentdojo", command, format_, options)


@bench.command("injecagent", cls=SectionedCommand, short_help="InjecAgent: direct harm and stolen data.")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The benchmark's repository, or its folder `data`.",
)
@bench_options(
    "base", "`base` or `enhanced`, or `faultwire:FAMILY` of faultwire's library around its orders."
)
def injecagent(command: tuple[str, ...], format_: Format, **options: Any) -> None:
    """Play InjecAgent with your own agent: a tool's answer orders harm (suite dh) or to steal data (ds).

    There is no package of it: --data names its files. CMD is started as for `agentdojo`. An attack succeeds
    when the attacker's tools are called, for stolen data the one that reads and then the one that sends.
    What a user's task comes to is not judged.

    Exits 0, 1 if the attack success rate is above --max-asr, 3 if the run is inconclusive.

    \b
    faultwire bench injecagent --data InjecAgent/data --pairs 50 -- python agent.py
    faultwire bench injecagent --data InjecAgent --attack enhanced --suite ds -- node agent.mjs '{prompt}'
    """
    _play("injecagent", command, format_, options)


@bench.command(
    "agent-injection-bench", cls=SectionedCommand, short_help="agent-injection-bench: seven channels."
)
@python_option("agent-injection-bench")
@bench_options("own", "The benchmark has one attack for each case, `own`.")
def agent_injection_bench(command: tuple[str, ...], format_: Format, **options: Any) -> None:
    """Play agent-injection-bench with your own agent: hostile text in results, documents, pages and names.

    CMD is started as for `agentdojo`. What its cases put into a message takes its place on the way to the
    agent's model; those of an earlier turn cannot be carried. Utility is of its cases without an attack.

    Exits 0, 1 if the attack success rate is above --max-asr, 3 if the run is inconclusive.

    \b
    faultwire bench agent-injection-bench -- python agent.py
    faultwire bench agent-injection-bench --suite tool_result -- node agent.mjs '{prompt}'
    """
    _play("agent-injection-bench", command, format_, options)


def _play(name: str, command: tuple[str, ...], format_: Format, options: dict[str, Any]) -> None:
    from faultwire.cli import _bench
    from faultwire.cli._ended import interruptible

    if not command:
        from faultwire.errors import UsageError

        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint=f"faultwire bench {name} --pairs 20 -- python agent.py",
        )
    mine = {key: options.pop(key) for key in _bench.OPTIONS if key in options}
    settled: dict[str, Any] = dict.fromkeys(("record", "replay"))
    traffic = Traffic(**settled, profile=(), fault=(), **options)
    with interruptible():
        sys.exit(_bench.benchmark(name, command, traffic, format_, **mine))
