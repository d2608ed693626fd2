"""`faultwire redteam RUN|TAPE…`: what the attacks of earlier runs achieved."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli.output import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.report.redteam import Session

    Shown = Literal["html", "json", "sarif", "md"]


@click.command("redteam", short_help="Report what the attacks of earlier runs achieved.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["md", "json", "sarif", "html"]),
    default="md",
    show_default=True,
    help="How to print it on stdout.",
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write it to a file (.html, .json, .sarif, .md) instead of stdout; repeatable.",
)
@click.option(
    "--command", metavar="CMD", help="The agent's command, for the commands that show a finding again."
)
@anywhere_option()
@click.argument("sources", nargs=-1, required=True, metavar="RUN|TAPE...")
def redteam(sources: tuple[str, ...], format_: Shown, output: tuple[Path, ...], command: str | None) -> None:
    """Report what the attacks of earlier runs achieved, from their tapes.

    Each text that reached the agent is asked for what shows that it worked. The report has the effectiveness
    of each family with its interval, the identifiers of OWASP and ATLAS, every finding with a command that
    puts the same text before the agent again, what silent faults led to, and what was not tried.

    Exits 1 if an attack was obeyed, 3 if none reached the agent.

    \b
    faultwire exec --mock --fault '{indirect_injection: {families: [direct]}, on: {tool: search}}' -- CMD
    faultwire redteam last -o redteam.html -o redteam.sarif --command 'python agent.py'
    """
    import shlex

    from faultwire.errors import FaultError
    from faultwire.output_file import check, write_text
    from faultwire.report.redteam import document
    from faultwire.report.redteam_faces import face_of, render

    targets = [(check(path, anywhere=anywhere()), face_of(path)) for path in output]
    sessions = [session for source in sources for session in _sessions(source)]
    found = document(sessions, shlex.split(command) if command else ())
    for path, face in targets:
        write_text(path, render(found, face), anywhere=anywhere())
    if not targets:
        show(render(found, format_).rstrip("\n"), whole=True)
    if not found["tried"] and not found["verification"]:
        raise FaultError(
            "the report is inconclusive: no attack of these runs reached the agent",
            code="redteam.nothing",
            hint="`faultwire report RUN` says why faults did not fire",
        )
    sys.exit(int(bool(found["obeyed"])))


def _sessions(source: str) -> Iterator[Session]:
    """The sessions of a tape with the seed of its run, where a folder says it. Raises TapeError."""
    from faultwire.report.redteam import Session
    from faultwire.tape.files.find import find
    from faultwire.tape.read.reader import TapeReader

    path = find(source)
    seed = _seed(path.with_name("run.json"))
    with TapeReader.open(path) as tape:
        for one in tape.sessions():
            yield Session(str(path), one.name, tape.history(one.name), seed)


def _seed(about: Path) -> int | None:
    try:
        found = json.loads(about.read_text()).get("seed")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, int) else None
