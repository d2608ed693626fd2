"""`faultwire token`: who may come into the team's service."""

from __future__ import annotations

import getpass
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from faultwire.cli._group import Group
from faultwire.cli._store_options import StoreOptions, project_option, with_store
from faultwire.cli.output import columns, format_option, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.cli.output import Format
    from faultwire.store.database import Database

_store = click.option(
    "--store", "url", required=True, metavar="URL", help="The service's database: sqlite:///FILE or postgresql://USER@HOST/NAME."
)  # fmt: skip


@click.group("token", cls=Group, short_help="Make, list and revoke tokens of the team's service.")
def token() -> None:
    """Make, list and revoke tokens of the team's service.

    They are kept as hashes, in the service's database, to which this goes directly: so the first admin's is
    made.
    """


@token.command()
@click.argument("name")
@_store
@project_option
@click.option(
    "--role", type=click.Choice(["viewer", "runner", "admin"]), required=True,
    help="viewer reads and comments, runner pushes and shares, too, admin promotes and makes tokens.",
)  # fmt: skip
@click.option("--days", type=float, default=90, show_default=True, help="How long it lets its bearer in.")
def add(name: str, url: str, project: str | None, role: str, days: float) -> None:
    """Make a token for NAME, a person or a pipeline, and print it once."""
    with with_store():
        from faultwire.store import tokens

    with _engine(url) as engine:
        made: tokens.Role = role  # type: ignore[assignment]
        project = StoreOptions(url, project).project
        secret, about = tokens.make(
            engine, project, name, made, made_by=f"user:{getpass.getuser()}", days=days
        )
    show(secret)
    say(f"{role} of `{project}` until {about.expires_at}; it cannot be shown again")


@token.command("list")
@_store
@project_option
@format_option
def list_(url: str, project: str | None, format_: Format) -> None:
    """List the tokens and links of a project: id, name, role, end."""
    with with_store():
        from faultwire.store import tokens

    with _engine(url) as engine:
        found = tokens.listed(engine, StoreOptions(url, project).project)
    if format_ == "json":
        show_json([one.as_json() for one in found])
        return
    if not found:
        show("no tokens")
        return
    rows = [
        (
            one.id,
            one.name,
            f"link to {one.run}" if one.run else one.role,
            one.expires_at,
            one.revoked_at or "-",
        )
        for one in found
    ]
    show(columns(("id", "name", "role", "until", "revoked"), rows))


@token.command()
@click.argument("ident", metavar="ID")
@_store
@project_option
def revoke(ident: str, url: str, project: str | None) -> None:
    """Let the bearer of a token, or of a link, in no more."""
    with with_store():
        from faultwire.store import tokens

    with _engine(url) as engine:
        tokens.revoke(engine, StoreOptions(url, project).project, ident)
    say(f"{ident} is revoked")


@contextmanager
def _engine(url: str) -> Iterator[Database]:
    from faultwire.store.database import open_engine

    engine = open_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()
