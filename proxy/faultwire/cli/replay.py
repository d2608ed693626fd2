"""`faultwire replay`: did we really fix that incident, and will it stay fixed?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli._play_options import DEFAULT, Play, play_options
from faultwire.cli.replay_options import as_timing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config


@click.group("replay", short_help="Replay incident sessions against a contract.")
def replay() -> None:
    """Replay incident sessions against a contract; export and import them."""


@replay.command("run")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH|TAPE]...")
@play_options
@click.option(
    "--timing",
    default="recorded",
    show_default=True,
    callback=as_timing,
    metavar="none|recorded|scaled:F",
    help="How late recorded answers come.",
)
@click.option(
    "--from-langsmith", "runs", multiple=True, metavar="RUN", help="A run of LangSmith; repeatable."
)
def run(paths: tuple[Path, ...], timing: float, runs: tuple[str, ...], **options: Any) -> None:
    """Replay incident sessions: the files, folders and tapes at PATH, else those of the configuration.

    The agent is asked what it was asked then, every tool answers what it answered then, and the
    session's contract judges what the agent does. Exits 0 where every verdict is a pass, 1 where one
    fails or is unknown (--allow-unknown), 2 where a contract is not found, 3 where nothing was learned.

    \b
    faultwire replay run replays/incident_001.yaml
    faultwire replay run replays/ --timing scaled:0.01
    """
    from faultwire.cli._play import play
    from faultwire.cli._replay_run import parts_of

    def parts(config: Config) -> tuple[Sequence[Part], Mapping[str, str]]:
        return parts_of(config, paths, runs, timing=timing), {}

    play("replay", Play(**options), parts)


@replay.command("export")
@click.option(
    "--from-report",
    "report",
    metavar="RUN|FILE",
    help="Every failure of a report: a run's id, `last`, or a file.",
)
@click.option("--from-tape", "tape", metavar="TAPE", help="What was recorded on a tape.")
@click.option("--session", metavar="NAME", help="Only this session of the tape.")
@click.option(
    "--input", "input_", metavar="TEXT", help="What the agent was asked, where the tape does not tell."
)
@click.option(
    "--contract", default="default", metavar="NAME|PATH", help="What judges them; of a tape: `default`."
)
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=None,
    help="A faultwire.yaml whose `tools` are meant.",
)
@click.option("--no-tape", is_flag=True, help="Do not name the tape: model calls will go live.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to.",
)
def export(**options: Any) -> None:
    """Write sessions that can be replayed: one for each failure of a report, or each session of a tape.

    A session holds the input that failed (the mutated one, not the original), what every tool answered,
    the tape, and a contract that is found. Exits 2 where there is nothing to export.
    """
    from faultwire.cli._replay_export import export_all

    export_all(**options)


@replay.command("import")
@click.option("--har", type=click.Path(path_type=Path, dir_okay=False), help="A HAR file.")
@click.option("--flows", type=click.Path(path_type=Path, dir_okay=False), help="Flows of mitmproxy.")
@click.option("--langsmith", metavar="RUN", help="One run of LangSmith, with its child runs.")
@click.option("--langsmith-project", metavar="PROJECT", help="The root runs of a project of LangSmith.")
@click.option(
    "--filter-status",
    type=click.Choice(["error", "warning", "all"]),
    default="error",
    show_default=True,
    help="Which runs: those with an error, those that succeeded although a child run failed, or all.",
)
@click.option("--since", metavar="WHEN", help="Only runs begun since then: 7d, 24h, 30m, or a date.")
@click.option("--min-latency-ms", type=click.IntRange(min=0), help="Only runs that took at least so long.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=200, show_default=True, help="At most so many."
)
@click.option("--contract", default="default", metavar="NAME|PATH", help="What judges the sessions.")
@click.option(
    "--input", "input_", metavar="TEXT", help="What the agent was asked, where the file does not tell."
)
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=None,
    help="A faultwire.yaml: its `tools`; and without another origin, its `replays.sources`.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to.",
)
def import_(**options: Any) -> None:
    """Make sessions of what others recorded: HAR, mitmproxy flows, or runs of LangSmith.

    LangSmith is read with its own client: LANGSMITH_API_KEY is its key, LANGSMITH_ENDPOINT its address.
    Exits 1 where a run could not be made a session, and says why; the others are written.
    """
    from faultwire.cli._replay_import import import_all

    import_all(**options)


__all__ = ["DEFAULT", "replay"]
