"""`faultwire tape diff | learn`: two tapes side by side."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from faultwire.cli.options import mock_except_option
from faultwire.cli.output import format_option, say, show, show_json
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.replay.match import Index
    from faultwire.runner.launch import LaunchSettings
    from faultwire.tape.read.reader import TapeReader

PROGRAM = "faultwire.program"


@click.command()
@click.argument("one")
@click.argument("other")
@click.option("--mask", "masks", multiple=True, metavar="[HOST/PATH ]$.PATH", help="Ignore this place.")
@format_option
def diff(one: str, other: str, masks: tuple[str, ...], format_: str) -> None:
    """Compare two tapes up to their first divergence.

    Requests are matched as in a replay. Compared are the requests as the agent sent them, as faults sent
    them on, and the answers. Exits 1 if the tapes diverge.
    """
    from faultwire.replay.compare import compare

    with _opened(one) as first, _opened(other) as second:
        sent_on = (first.all_forwarded(), second.all_forwarded())
        found = compare(_index(first, masks), second.exchanges(), sent_on)
    if format_ == "json":
        show_json(
            {"same": found.same, "divergence": found.divergence.as_json() if found.divergence else None}
        )
    else:
        show(f"{found.same} {'call is' if found.same == 1 else 'calls are'} the same")
        if found.divergence is not None:
            divergence = found.divergence
            show(safe(f"then: {divergence.kind}: {divergence.method} {divergence.url}: {divergence.reason}"))
            for place in divergence.differences:
                show(safe(f"  {place.path}"))
                show(safe(f"    - {place.recorded}"))
                show(safe(f"    + {place.asked}"))
    sys.exit(1 if found.divergence is not None else 0)


class WithProgram(click.Command):
    """A command with its own arguments and a program with arguments after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the arguments after the first `--` in `ctx.meta`."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[PROGRAM], args = tuple(args[at + 1 :]), args[:at]
        return super().parse_args(ctx, args)


@click.command(cls=WithProgram)
@click.argument("tapes", nargs=-1, metavar="[ONE OTHER] [-- CMD [ARG]...]")
@click.option("--mock", is_flag=True, help="With a program: answer it with the mock provider.")
@mock_except_option()
@click.option(
    "--allow-host", multiple=True, metavar="HOST", help="With a program: allow it to call this host."
)
@format_option
@click.pass_context
def learn(
    context: click.Context,
    tapes: tuple[str, ...],
    mock: bool,
    mock_except: tuple[str, ...],
    allow_host: tuple[str, ...],
    format_: str,
) -> None:
    """Propose masks for request fields that differ between two runs of the same agent.

    The runs are two tapes, or a program that is run twice. Review each proposal: a mask makes a replay
    ignore that place.
    """
    from faultwire.errors import UsageError
    from faultwire.replay.compare import learn as compared
    from faultwire.runner.launch import LaunchSettings

    program = context.meta.get(PROGRAM, ())
    if bool(program) == bool(tapes) or len(tapes) not in (0, 2):
        raise UsageError(
            f"found {counted(len(tapes), 'tape')} and {'a' if program else 'no'} program, "
            "expected two tapes or a program",
            code="usage.missing",
            hint="faultwire tape learn ONE OTHER, or faultwire tape learn -- CMD",
        )
    settings = LaunchSettings("learn", mock=mock, mock_except=mock_except, allow_hosts=allow_host)
    one, other = tapes or [str(recorded(program, settings)) for _ in range(2)]
    with _opened(one) as first, _opened(other) as second:
        found = compared(_index(first, ()), second.exchanges())
    if format_ == "json":
        about = ("mask", "calls", "recorded", "asked", "minted")
        show_json([{name: getattr(proposal, name) for name in about} for proposal in found])
        return
    for proposal in found:
        show(safe(f"--mask '{proposal.mask}'"))
        kind = "an id or a timestamp" if proposal.minted else "not an id or timestamp: check it first"
        count = f"{proposal.calls} {'call' if proposal.calls == 1 else 'calls'}"
        say(safe(f"  {count}, {kind}: `{proposal.recorded}` and `{proposal.asked}`"))
    if not found:
        say("no differing place can be masked")


def recorded(program: tuple[str, ...], settings: LaunchSettings) -> Path:
    """Run a program once behind the proxy, without faults; its tape. Its stdout goes to stderr.

    Raises CaptureError where nothing came through, AgentError if the program fails.
    """
    from faultwire.capture import child
    from faultwire.cli._examine import stdout_to_stderr
    from faultwire.cli.exec import SESSION, learn as proven
    from faultwire.errors import AgentError
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import start_run

    child.find(program, os.environ)
    with start_run(settings) as run:
        environment = run.open_session(SESSION, Profile(name="calm"), 0)
        with stdout_to_stderr():
            code = child.shell_code(child.run(program, environment))
        closed = run.close_session(SESSION)
        history = run.history(SESSION)
        proven(run, closed, history, program, code, closed.notes, allow_no_traffic=False)
        run.folder.end("finished", exit_code=code)
    if code:
        raise AgentError(f"`{program[0]}` exited with `{code}`, expected exit code 0")
    return run.tape


def _opened(name: str) -> TapeReader:
    from faultwire.replay.reader import open_tape
    from faultwire.tape.files.find import find

    return open_tape(find(name))


def _index(reader: TapeReader, masks: tuple[str, ...]) -> Index:
    from faultwire.replay.reader import index

    return index(reader, masks)
