"""`faultwire doctor`: check whether this machine, or a command, can be captured."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from faultwire.cli._examine import Finding

MARKS = {"ok": "ok  ", "note": "note", "fail": "FAIL"}


@click.command(
    "doctor",
    short_help="Check whether this machine, or a command, can be captured.",
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--listen", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help="The address to test."
)
@click.option("--allow-host", multiple=True, metavar="HOST", help="As with `exec`.")
@format_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD [ARG]...]")
def doctor(listen: str, allow_host: tuple[str, ...], format_: str, command: tuple[str, ...]) -> None:
    """Check whether this machine, or a command, can be captured.

    Without a command: checks versions, the CA and the port, and runs a tiny program in each runtime
    found that calls a provider's host name through the proxy, answered by the mock. With a command:
    runs it once without faults and lists the calls that arrived. Exits 3 if a check fails.
    """
    from faultwire.cli import _arrivals, _examine
    from faultwire.cli.output import say

    if command:
        say(f"running `{command[0]}` once without faults; its output goes to stderr")
        findings = _examine.command(command, listen=listen, allow_hosts=allow_host)
    else:
        findings = [*_examine.machine(), *_arrivals.last_run(), *_examine.capture(listen)]
    show_findings(findings, format_)
    if not command:
        show_table(findings, listen, format_)
    sys.exit(3 if any(finding.state == "fail" for finding in findings) else 0)


def show_table(findings: list[Finding], listen: str, format_: str) -> None:
    """Print the table of runtimes; as JSON it is a document of its own, one line."""
    from faultwire.cli import _runtime_table
    from faultwire.cli._examine import PROBES, UNPROBED
    from faultwire.cli.output import show

    if format_ == "json":
        return
    by_proxy = {one.subject: one.state == "ok" for one in findings if one.subject in PROBES}
    untried = [one.subject for one in findings if one.subject in UNPROBED]
    inside, why = _runtime_table.inside({name: PROBES[name] for name in by_proxy}, listen)
    show("")
    for line in _runtime_table.table(_runtime_table.rows(by_proxy, inside, untried)):
        show(line)
    if inside is None:
        show(f"no namespace: {why}")


def show_findings(findings: list[Finding], format_: str) -> None:
    """Print findings on stdout, as lines or as JSON."""
    from faultwire.cli.output import show, show_json

    if format_ == "json":
        show_json([asdict(finding) for finding in findings])
        return
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        show(f"{MARKS[finding.state]}  {finding.subject.ljust(width)}  {finding.text}")
        if finding.hint:
            show(f"{' ' * (width + 8)}hint: {finding.hint}")
