"""`faultwire fuzz -- CMD…`: which generated input crashes the agent?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli._option_sections import SectionedCommand
from faultwire.cli._trial_options import as_seconds
from faultwire.cli.options import Traffic, traffic_options_but
from faultwire.cli.output import Format, format_option

TAKEN = frozenset(
    {
        "record", "replay", "on_miss", "mark", "reuse", "strict_order", "unverified", "timing", "mask",
        "fault", "record_policy", "on_tape_failure", "encrypt_bodies",
    }
)  # fmt: skip
"""Options of `exec` that make no sense here: what is generated takes the place of answers."""


@click.command("fuzz", cls=SectionedCommand, short_help="Search for generated input that crashes an agent.")
@click.option("--prompt", "prompts", multiple=True, metavar="TEXT", help="Also generate from it; repeatable.")
@click.option(
    "--budget",
    type=click.IntRange(4),
    default=300,
    show_default=True,
    help="Runs of the agent at most, over all starts.",
)
@click.option("--max-time", callback=as_seconds, metavar="TIME", help="Time of one start: 90s, 10m, 2h.")
@click.option("--finds", type=click.IntRange(1), default=20, show_default=True, help="End after so many.")
@click.option(
    "--confirm",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    help="Repeats of each crash, which must all crash alike.",
)
@click.option(
    "--shrink",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Runs that may make each crash's input smaller.",
)
@click.option(
    "--coverage",
    type=click.Choice(["none", "python", "node", "auto"]),
    default="none",
    show_default=True,
    help="Have the agent tell which of its code ran, and be led by it.",
)
@click.option(
    "--guidance",
    type=click.Choice(["behaviour", "none"]),
    default="behaviour",
    show_default=True,
    help="Change what showed new call shapes; or only what cases begin with, as a control.",
)
@click.option(
    "--timeout",
    callback=as_seconds,
    default="60s",
    show_default=True,
    metavar="TIME",
    help="For one run; one that takes longer hangs.",
)
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where state, corpus and crashes are kept.  [default: below .faultwire/fuzz]",
)
@click.option(
    "--rerun",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Run the case of a crash's folder instead of a search.",
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also write the report (.html, .json, .sarif, .md), or crashes as .jsonl or .yaml; repeatable.",
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def fuzz(command: tuple[str, ...], format_: Format, rerun: Path | None, **options: Any) -> None:
    """Search for generated prompts, tool results, messages of MCP and answers of models that crash an agent.

    Two runs as they are show what can be generated. Then each run of CMD gets one case on the wire: a result,
    a message or a model's answer in place of a call's, or a prompt. Cases that make the agent do something
    new are changed further. Crashes with one stack, or the same last calls, count as one; each is repeated,
    made smaller, and has a folder that repeats it by one command. The same command goes on after an
    interruption.

    Exits 0 if no crash was found, 1 if one was, 2 if the agent fails by itself, 3 if no case reached it.

    \b
    faultwire fuzz --profile tools.yaml --budget 500 -- python agent.py
    faultwire fuzz --mock --prompt 'Where is order 7?' --coverage auto -o crashes.sarif -- node agent.mjs
    """
    from faultwire.cli import _fuzzed, _fuzzed_again
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    own = {name: options.pop(name) for name in _fuzzed.Asked.__dataclass_fields__ if name in options}
    settled: dict[str, Any] = {"record": None, "replay": None, "fault": ()}
    traffic = Traffic(**settled, **options)
    with interruptible():
        if rerun is not None:
            sys.exit(_fuzzed_again.rerun(rerun, command, traffic))
        if not command:
            raise UsageError(
                "found no command, expected one after `--`",
                code="usage.missing",
                hint="faultwire fuzz --profile tools.yaml -- python agent.py",
            )
        sys.exit(_fuzzed.fuzz(command, _fuzzed.Asked(**own), traffic, format_))
