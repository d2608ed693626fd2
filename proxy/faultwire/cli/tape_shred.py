"""`faultwire tape shred`: destroy the keys of encrypted bodies."""

from __future__ import annotations

import click

from faultwire.cli.output import say, show
from faultwire.text import counted


@click.command()
@click.argument("name")
@click.option("--session", metavar="S", help="The bodies of this session only.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; the record keeps it.")
@click.option("--by", required=True, metavar="WHO", help="Who shreds; the record keeps it.")
@click.option("--yes", is_flag=True, help="Shred. Without it the command prints what it would shred.")
def shred(name: str, session: str | None, reason: str, by: str, yes: bool) -> None:
    """Destroy the keys of bodies that were recorded with --encrypt-bodies.

    The tape is not touched: it and its copies verify as before, and nobody can read these bodies any more
    who has no copy of their keys. A signed record in .faultwire/keys/bodies keeps when, by whom and why.
    Without --session the keys of all sessions are destroyed.
    """
    from faultwire.cli.tape_keep import project_signer
    from faultwire.errors import TapeError
    from faultwire.tape.evidence.body_keys import BodyKeys
    from faultwire.tape.files import shred as shredding
    from faultwire.tape.files.find import find

    path, keys = find(name), BodyKeys()
    found = shredding.session_keys(path, session)
    plain = shredding.plain_bodies(path, session)
    left = [one for one in found if keys.shredded(one.key) is None]
    if not found:
        raise TapeError(
            f"tape `{path}` has no encrypted body" + (f" of session `{session}`" if session else ""),
            code="tape.no_body",
            hint="`faultwire tape erase` takes bodies off this tape; --encrypt-bodies is for new ones",
        )
    if yes:
        shredding.shred(left, reason, by, project_signer(), keys)
    for one in left:
        show(f"{path}: {one.key}  {one.session}: {counted(one.bodies, 'body', 'bodies')}")
    say(f"{'shredded' if yes else 'would shred'} {counted(len(left), 'key')}")
    if len(left) < len(found):
        say(f"{counted(len(found) - len(left), 'key was', 'keys were')} shredded before")
    if plain:
        say(f"{counted(plain, 'body is', 'bodies are')} not encrypted: `faultwire tape erase` takes them off")
    if left and not yes:
        say("nothing was shredded yet: the same command with --yes shreds")
