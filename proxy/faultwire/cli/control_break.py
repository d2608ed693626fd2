"""`faultwire control break`, `held`, `resume`, `answer`, `cut`, `retry`: breakpoints on a running engine."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import click

from faultwire.cli.output import format_option

run_option = click.option("--run", "run", metavar="ID", help="The run; by default the newest that goes on.")
PLACES = ("request", "response", "event", "tool_call", "tool_result")


@click.command("break", short_help="Hold what matches until somebody decides.")
@run_option
@click.option("--at", type=click.Choice(PLACES), default="request", show_default=True, help="Where to hold.")
@click.option("--on", default="", metavar="WORDS", help="Which exchanges, in the words of `on:`.")
@click.option(
    "--event", type=click.IntRange(1), default=1, show_default=True, help="Which event, with `--at event`."
)
@click.option(
    "--times", type=click.IntRange(1), help="Hold so many calls at most, and none of their retries."
)
@click.option("--session", "sessions", multiple=True, metavar="GLOB", help="Only these sessions; repeatable.")
@click.option(
    "--on-gone",
    "--on-ui-gone",
    type=click.Choice(["resume", "cut"]),
    default="resume",
    show_default=True,
    help="What becomes of what is held if this command is killed.",
)
def break_(
    run: str | None, at: str, on: str, event: int, times: int | None, sessions: tuple[str, ...], on_gone: str
) -> None:
    """Hold exchanges of a running engine until somebody decides, for as long as this command runs.

    `faultwire control held` shows what is held, `resume`, `answer`, `cut` and `retry` decide. Ctrl-C resumes
    all that it holds.

    Exit codes: 1 if somebody else ended the breakpoint, 130 if this command was stopped, 3 if the engine
    has ended.

    \b
    faultwire control break --at tool_call --on 'tool: get_weather'
    """
    from faultwire.cli import _broken as broken, _controlled as controlled
    from faultwire.cli.output import say
    from faultwire.workbench.on_filter import parse

    found = parse(on)
    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: stops.append(got))
    place = controlled.find(run, broken.ENGINES)
    message: dict[str, Any] = {"at": at, "event": event, "sessions": sessions, "on_gone": on_gone}
    message["on"] = {} if found is None else found.model_dump(mode="json", exclude_defaults=True)
    message["trigger"] = {} if times is None else {"max_times": times, "attempts": "first"}
    with controlled.connected(place) as client:
        ident = controlled.ask(client, op="break", **message)["id"]
        say(f"set {ident} on the run {place.folder.name}; Ctrl-C ends it")
        why = broken.announced(client, ident, lambda: bool(stops), say)
    say(f"{ident} ended: {why}")
    sys.exit(130 if stops else 1)


@click.command("held", short_help="List what is held at breakpoints, or look at one.")
@run_option
@click.argument("ident", required=False, metavar="[ID]")
@format_option
def held(run: str | None, ident: str | None, format_: str) -> None:
    """List what is held at breakpoints; with an ID, show it: what the exchange says, secrets replaced."""
    from faultwire.cli import _broken as broken, _controlled as controlled
    from faultwire.cli.output import show, show_json

    with controlled.connected(controlled.find(run, broken.ENGINES)) as client:
        if ident is not None:
            one = controlled.ask(client, op="look", held=ident)
            if format_ == "json":
                show_json(one)
                return
            import json

            show(broken.line(one))
            show(json.dumps(one["shown"], indent=2, ensure_ascii=False), whole=True)
            return
        listed = controlled.ask(client, op="held")["held"]
    if format_ == "json":
        show_json(listed)
    else:
        show("\n".join(map(broken.line, listed)) or "nothing is held")


def _pairs(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if not value.partition("=")[0].strip() or "=" not in value:
            raise click.BadParameter(f"found `{value}`, expected `NAME=VALUE`")
    return {value.partition("=")[0].strip(): value.partition("=")[2] for value in values}


_RAW = click.option(
    "--raw", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="The whole body or event."
)
_STATUS = click.option("--status", type=click.IntRange(200, 599), help="The answer's status.")
_HEADERS = click.option(
    "--header", "headers", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="A header field."
)


@click.command("resume", short_help="Let what is held go on, edited or as it is.")
@run_option
@click.argument("ident", metavar="ID")
@click.option(
    "--argument", "members", multiple=True, metavar="NAME=VALUE", help="Another argument of the tool call."
)
@click.option("--arguments", metavar="JSON", help="Other arguments, all of them.")
@click.option("--call", type=click.IntRange(0), help="Which call of several, from 0.")
@click.option("--text", help="Another text: an event's, a tool result's, or one of the request.")
@click.option("--place", type=click.IntRange(0), help="Which text of several, from 0.")
@_RAW
@_STATUS
@_HEADERS
def resume(run: str | None, ident: str, **given: Any) -> None:
    """Let what is held go on, edited or as it is.

    \b
    faultwire control resume h1 --argument city=Rome
    """
    _decide(run, ident, "resume", given)


@click.command("answer", short_help="Answer what is held from here.")
@run_option
@click.argument("ident", metavar="ID")
@click.option("--text", help="What the model says; the answer is made in its protocol.")
@_RAW
@_STATUS
@_HEADERS
def answer(run: str | None, ident: str, **given: Any) -> None:
    """Answer what is held from here: the server is not asked, or the rest of its answer is dropped."""
    _decide(run, ident, "answer", given)


@click.command("cut", short_help="Cut what is held: its connection is closed.")
@run_option
@click.argument("ident", metavar="ID")
def cut(run: str | None, ident: str) -> None:
    """Close the connection of what is held, without a word."""
    _decide(run, ident, "cut", {})


@click.command("retry", short_help="Have the client make the call again.")
@run_option
@click.argument("ident", metavar="ID")
def retry(run: str | None, ident: str) -> None:
    """Have the client make the call again: it gets the provider's 503 with `x-should-retry: true`."""
    _decide(run, ident, "retry", {})


def _decide(run: str | None, ident: str, do: str, given: dict[str, Any]) -> None:
    from faultwire.cli import _broken as broken, _controlled as controlled
    from faultwire.cli.output import say
    from faultwire.text import safe

    with controlled.connected(controlled.find(run, broken.ENGINES)) as client:
        shown = controlled.ask(client, op="look", held=ident)["shown"]
        if do == "answer" and given["text"] is not None:
            from faultwire.workbench.spoken import spoken

            given = {**given, **spoken(shown, given.pop("text"))}
        message = broken.decision(do, given, shown)
        done = controlled.ask(client, held=ident, **message)
    say(safe(f"{done['id']} {done['done']}"))


COMMANDS = (break_, held, resume, answer, cut, retry)
