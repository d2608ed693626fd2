"""`faultwire ui`: traffic as it comes, or a tape, in the browser."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NoReturn

import click

from faultwire.cli._ui_options import UiOptions, place_options
from faultwire.cli.output import say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.workbench.serve import Served


@click.command("ui", short_help="Look at a run or a tape in the browser, live while it is recorded.")
@click.argument("name", default="last", metavar="[RUN|TAPE]")
@place_options
def ui(name: str, ui: UiOptions) -> None:
    """Look at a run or a tape in the browser: by default the newest run, live where it is being recorded.

    Prints a link that works once. Serves on 127.0.0.1 until Ctrl-C; nothing is loaded from elsewhere.
    """
    open_(name, ui, _print_link)


def open_(name: str, ui: UiOptions, ready: Callable[[Served], None], *, programs: bool = False) -> NoReturn:
    """Serve one tape until a signal, and exit. Raises TapeError, UsageError."""
    from faultwire.runner.folder import STATE
    from faultwire.tape.files.find import find
    from faultwire.workbench.controls import Controls
    from faultwire.workbench.serve import serve
    from faultwire.workbench.subject import Subject
    from faultwire.workbench.writer import urging

    listen = ui.place()
    path = find(name)
    control = _control(path)
    if control is None:
        subject = Subject(path)
    else:
        subject = Subject(path, urging(control), Controls(control, ui.on_gone))
    wanted = ui.program() or programs
    ended_by = serve(subject, listen, ready, base=STATE, programs=wanted, otel=ui.otel)
    raise SystemExit(130 if ended_by == signal.SIGINT else 0)


def _control(tape: Path) -> Path | None:
    """The control socket of the engine that writes this tape, where it is that of a run."""
    import json
    from pathlib import Path

    from faultwire.runner.folder import STATE, is_held

    for folder in sorted((STATE / "runs").glob("*"), reverse=True)[:50]:
        try:
            about = json.loads((folder / "run.json").read_bytes())
        except (OSError, ValueError):
            continue
        same = isinstance(about, dict) and Path(str(about.get("tape"))).absolute() == tape.absolute()
        if same and is_held(folder):
            return Path(str(about.get("control")))
    return None


def _print_link(served: Served) -> None:
    show(served.link)
    say("open the link in your browser; it works once. Ctrl-C ends")


@click.command("serve", short_help="Serve a tape as a page and as JSON.")
@click.argument("name")
@place_options
@click.option("--format", "format_", type=click.Choice(["terminal", "json"]), default="terminal")
def serve(name: str, ui: UiOptions, format_: str) -> None:
    """Serve the tape NAME (a path, a run, or `last`) as a page, and as JSON for programs.

    Prints the link for a browser, which works once, and a token for programs (`Authorization: Bearer`), which
    works as long as the command runs.
    """

    def ready(served: Served) -> None:
        if format_ == "json":
            show_json({"url": served.url, "link": served.link, "token": served.program})
        else:
            show(f"{served.link}\nGET {served.url}api/exchanges  Authorization: Bearer {served.program}")

    open_(name, ui, ready, programs=True)
