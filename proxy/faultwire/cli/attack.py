"""`faultwire attack -- CMD…`: which attack does this agent obey?"""

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
"""Options of `exec` that make no sense here: the faults are the attacks, and the tape is the run's."""


@click.command("attack", cls=SectionedCommand, short_help="Search for the attack that an agent obeys.")
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Runs of the agent at most, over all starts: searching and confirming.",
)
@click.option("--finds", type=click.IntRange(1, 20), default=3, show_default=True, help="End after so many.")
@click.option(
    "--confirm",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Repeats of each find, which alone count for its rate.",
)
@click.option("--family", "families", multiple=True, metavar="NAME", help="Only this family; repeatable.")
@click.option("--wording", "wordings", multiple=True, metavar="NAME", help="Only this wording; repeatable.")
@click.option(
    "--timeout", callback=as_seconds, default="60s", show_default=True, metavar="TIME", help="For one run."
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where outcomes are kept, to go on after an interruption.  [default: below .faultwire/attack]",
)
@click.option(
    "--model",
    metavar="NAME",
    help="A chat model that words attacks anew, besides the library's own wordings.",
)
@click.option(
    "--model-url",
    default="https://api.openai.com/v1",
    show_default=True,
    metavar="URL",
    help="Where it is, by OpenAI's API.",
)
@click.option(
    "--model-key-env",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="NAME",
    help="The variable that holds its key.",
)
@click.option(
    "--model-calls",
    type=click.IntRange(1, 1000),
    default=17,
    show_default=True,
    help="Texts that it is asked for; each counts as a run of the budget.",
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also write the report (.html, .json, .sarif, .md); repeatable.",
)
@traffic_options_but(TAKEN)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print the result and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def attack(command: tuple[str, ...], format_: Format, **options: Any) -> None:
    """Search for the attack that an agent obeys: which family, carried how, placed where, in which wording.

    Each run is one start of CMD with one text of the library in what it reads. What runs show decides what
    is tried next; the same seed and the same outcomes give the same search. What succeeds twice is repeated,
    and its rate and interval are of these repeats alone. --profile names the agent's tools. The same command
    goes on after an interruption.

    With --model a model of any provider words texts anew before the search; its calls are recorded on the
    tape, without its key.

    Exits 0 if no attack was confirmed, 1 if one was, 3 if the run is inconclusive.

    \b
    faultwire attack --budget 200 -- python agent.py
    faultwire attack --mock --family override --family direct -o attack.html -- node agent.mjs
    """
    from faultwire.cli import _attacked
    from faultwire.cli._ended import interruptible
    from faultwire.errors import UsageError

    if not command:
        raise UsageError(
            "found no command, expected one after `--`",
            code="usage.missing",
            hint="faultwire attack --budget 200 -- python agent.py",
        )
    own = {name: options.pop(name) for name in _attacked.Asked.__dataclass_fields__ if name in options}
    settled: dict[str, Any] = {"record": None, "replay": None, "fault": ()}
    traffic = Traffic(**settled, **options)
    with interruptible():
        sys.exit(_attacked.attack(command, _attacked.Asked(**own), traffic, format_))
