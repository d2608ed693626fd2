"""`faultwire replay`: replay recorded incidents to check that they stay fixed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from faultwire.cli._option_sections import RenamedOption, SectionedCommand
from faultwire.cli._placed import anywhere_option
from faultwire.cli._play_options import DEFAULT, Play, play_options
from faultwire.cli._trial_options import as_seconds
from faultwire.cli.options import traffic_options_but
from faultwire.cli.replay_options import as_timing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config


NOT_DRIVEN = frozenset({"replay", "fault", "mark"})
"""Options of `exec` that make no sense for an agent that the tape drives."""
FROM_TRAFFIC = "faultwire tape import FILE -o TAPE, then faultwire replay export --from-tape TAPE"
"""What replaces `replay import --har` and `--flows`."""


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
    help="Timing of recorded answers.",
)
@click.option("--from-langsmith", "runs", multiple=True, metavar="RUN", help="A LangSmith run; repeatable.")
def run(paths: tuple[Path, ...], timing: float, runs: tuple[str, ...], **options: Any) -> None:
    """Replay incident sessions from the files, folders and tapes at PATH, or from the configuration.

    The agent gets the recorded input, every tool returns its recorded results, and the session's
    contract judges the agent. Exits 0 if every verdict is a pass, 1 if one fails or is unknown (see
    --allow-unknown), 2 if a contract is not found, 3 if the run is inconclusive.

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
    help="Export every failure of a report: a run's id, `last`, or a file.",
)
@click.option("--from-tape", "tape", metavar="TAPE", help="Export the sessions of a tape.")
@click.option("--session", metavar="NAME", help="Only this session of the tape.")
@click.option("--input", "input_", metavar="TEXT", help="The agent's input, if the tape does not show it.")
@click.option(
    "--contract", default="default", metavar="NAME|PATH", help="The contract that judges the sessions."
)
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=None,
    help="A faultwire.yaml that defines the `tools`.",
)
@click.option("--no-tape", is_flag=True, help="Do not reference the tape: model calls will go live.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The output folder.",
)
@anywhere_option()
def export(**options: Any) -> None:
    """Write one replayable session for each failure of a report, or for each session of a tape.

    A session holds the failed input (mutated, not the original), every tool result, the tape, and a
    contract. Exits 2 if there is nothing to export.
    """
    from faultwire.cli._replay_export import export_all

    export_all(**options)


@replay.command("agent", cls=SectionedCommand)
@click.argument("tape")
@click.option(
    "--agent", "name", required=True, metavar="NAME", help="The agent; a profile has its url and mark."
)
@click.option(
    "--at", required=True, metavar="URL", help="Where the command serves it; the paths are the recorded ones."
)
@click.option("--session", metavar="NAME", help="The session of the tape whose requests are sent.")
@click.option(
    "--live-model", is_flag=True, help="Its models answer anew (the mock with --mock), not the tape."
)
@click.option(
    "--timeout", callback=as_seconds, default="30s", show_default=True, metavar="TIME", help="For one answer."
)
@traffic_options_but(NOT_DRIVEN)
@click.option("-q", "--quiet", is_flag=True, help="Print differences and errors only.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARG]...")
def agent(
    tape: str,
    name: str,
    at: str,
    session: str | None,
    live_model: bool,
    timeout: float,
    quiet: bool,
    command: tuple[str, ...],
    **options: Any,
) -> None:
    """Send the recorded requests to one agent of a system again, and compare its answers.

    The command serves the agent at --at. The tape is its callers, and answers its own calls to models, tools
    and other agents. Ids and instants that the agent makes anew are no difference. Exits 0 if it answers
    as recorded, 1 if an answer differs or a call of its own is not on the tape, 2 if the tape asks nothing of
    it, 3 if the run is inconclusive.

    \b
    faultwire replay agent monday --agent billing --at http://127.0.0.1:8000 --profile p.yaml -- python b.py
    """
    from faultwire.cli._driven import drive
    from faultwire.cli.options import Traffic
    from faultwire.errors import UsageError

    if not command:
        raise UsageError("found no command, expected one after `--`", code="usage.missing")
    url = urlsplit(at)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise UsageError(
            f"found `--at {at}`, expected a URL such as `http://127.0.0.1:8000`", code="usage.bad_value"
        )
    settled: dict[str, Any] = {"fault": (), "replay": tape, "live_agent": name, "live_model": live_model}
    sys.exit(
        drive(command, Traffic(**settled, **options), at, session=session, timeout_s=timeout, quiet=quiet)
    )


@replay.command("import")
@click.option("--har", cls=RenamedOption, use=FROM_TRAFFIC, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--flows", cls=RenamedOption, use=FROM_TRAFFIC, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--langsmith", metavar="RUN", help="One LangSmith run, with its child runs.")
@click.option("--langsmith-project", metavar="PROJECT", help="The root runs of a LangSmith project.")
@click.option(
    "--filter-status",
    type=click.Choice(["error", "warning", "all"]),
    default="error",
    show_default=True,
    help="Which runs: with an error, successful with a failed child run (warning), or all.",
)
@click.option("--since", metavar="WHEN", help="Only runs started since then: 7d, 24h, 30m, or a date.")
@click.option("--min-latency-ms", type=click.IntRange(min=0), help="Only runs that took at least this long.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=200, show_default=True, help="Maximum number of runs."
)
@click.option(
    "--contract", default="default", metavar="NAME|PATH", help="The contract that judges the sessions."
)
@click.option("--input", "input_", metavar="TEXT", help="The agent's input, if the source does not show it.")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=None,
    help="A faultwire.yaml that defines the `tools`, and `replays.sources` if no other source is given.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The output folder.",
)
@anywhere_option()
def import_(**options: Any) -> None:
    """Write sessions from LangSmith runs.

    LangSmith is read with its own client, configured by LANGSMITH_API_KEY and LANGSMITH_ENDPOINT.
    Exits 1 if a run could not be converted and prints why; the other sessions are written.
    """
    from faultwire.cli._replay_import import import_all

    import_all(**options)


__all__ = ["DEFAULT", "replay"]
