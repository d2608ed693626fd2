"""`faultwire ca`: this project's certificate authority."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.mitm.network.ca import Authority


@click.group("ca", short_help="Show, renew or remove this project's certificate authority.")
def ca() -> None:
    """Show, renew or remove this project's certificate authority.

    It is made at the first run, lives at most 30 days, and is trusted only by the programs that
    faultwire starts: it never enters a store of the system.
    """


@ca.command(short_help="Show its location, fingerprint and expiry date.")
@format_option
def show(format_: str) -> None:
    """Where the authority is, its fingerprint, and until when it is valid."""
    from faultwire.errors import UsageError
    from faultwire.mitm.network.ca import describe

    found = describe(_folder())
    if found is None:
        raise UsageError(
            f"found no CA in `{_folder()}`",
            code="ca.missing",
            hint="the first run creates one, and so does `faultwire ca renew`",
        )
    _print(found, format_)


@ca.command(short_help="Replace it with a new one.")
@click.option("--days", type=click.IntRange(1, 30), default=14, show_default=True, help="Validity in days.")
@click.option(
    "--host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="Limit it to this host and what is below it, or to this address; repeatable.",
)
@format_option
def renew(days: int, hosts: tuple[str, ...], format_: str) -> None:
    """Replace the authority by a new one; programs that trust the old one must be started again.

    With --host the new one can vouch for these hosts alone, whoever gets hold of its key; calls to others
    are refused. Without it, it can vouch for every host, since an agent may call any.
    """
    from faultwire.capture.bundle import remove_trust
    from faultwire.mitm.network.ca import renew as renew_ca
    from faultwire.runner.folder import state

    state()
    remove_trust(_folder())
    _print(renew_ca(_folder(), days=days, hosts=hosts), format_)


@ca.command(short_help="Delete it and its key.")
def remove() -> None:
    """Delete the authority with its key, and the bundles made from it."""
    from faultwire.capture.bundle import remove_trust
    from faultwire.cli.output import say
    from faultwire.mitm.network.ca import remove as remove_ca

    own, frozen = _folder(), _folder().with_name("ca-frozen")
    removed = []
    for folder in (own, frozen):  # the second is of runs with --freeze-time
        remove_trust(folder)
        if remove_ca(folder):
            removed.append(folder)
    for folder in removed:
        say(f"removed the CA in `{folder}`")
    if not removed:
        say(f"found no CA in `{own}`: nothing to remove")


def _folder() -> Path:
    from faultwire.runner.folder import STATE

    return STATE / "ca"


def _print(authority: Authority, format_: str) -> None:
    from faultwire.cli import output

    about = {
        "certificate": str(authority.certificate),
        "sha256": authority.fingerprint,
        "not_before": authority.not_before.isoformat(),
        "not_after": authority.not_after.isoformat(),
        "expired": authority.expired,
        "hosts": list(authority.hosts),
    }
    if format_ == "json":
        output.show_json(about)
        return
    state = "expired: renew it with `faultwire ca renew`" if authority.expired else "valid"
    hosts = ", ".join(authority.hosts) or "any"
    text = {key: str(value) for key, value in about.items() if key not in ("expired", "hosts")}
    output.show(output.fields({**text, "hosts": hosts, "state": state}))
