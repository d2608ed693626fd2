"""`faultwire keys`: the keys that seal tapes, and trusted keys."""

from __future__ import annotations

import click

from faultwire.cli.output import Format, fields, format_option, show, show_json


@click.group()
def keys() -> None:
    """Create, show and trust the keys that seal tapes.

    The first recorded run creates the project's key below `.faultwire/keys/`. Others need its verifier
    key to check your tapes; the private key never leaves the machine.
    """


@keys.command()
@click.option("--name", help="The key's name; the folder's name by default.")
@click.option("--force", is_flag=True, help="Replace the existing key; its seals stay trusted.")
def new(name: str | None, force: bool) -> None:
    """Create a new key that seals tapes, and print its verifier key."""
    from pathlib import Path

    from faultwire.errors import UsageError
    from faultwire.runner.folder import state
    from faultwire.tape.evidence.keyring import KeyRing, name_for

    ring = KeyRing()
    if ring.signer() is not None and not force:
        raise UsageError(
            f"found a key in `{ring.private}`, expected none",
            code="keys.exists",
            hint="`faultwire keys show` prints it; `--force` replaces it",
        )
    state()
    show(str(ring.renew(name or name_for(Path.cwd().name)).verifier))


@keys.command(name="show")
@format_option
def show_(format_: Format) -> None:
    """Print this project's verifier key and the keys it trusts."""
    from faultwire.tape.evidence.keyring import KeyRing

    ring = KeyRing()
    own = ring.signer()
    others = [str(key) for key in ring.trusted() if own is None or key != own.verifier]
    if format_ == "json":
        show_json({"own": str(own.verifier) if own else None, "trusted": others})
        return
    rows = [("own", str(own.verifier) if own else "none yet: the first recorded run creates it")]
    show(fields([*rows, *(("trusted", key) for key in others)]))


@keys.command()
@click.argument("key", metavar="KEY|FILE")
def trust(key: str) -> None:
    """Trust the seals of a verifier key, given as text or in a file."""
    from faultwire.runner.folder import state
    from faultwire.tape.evidence.keyring import KeyRing, given_key

    found = given_key(key)
    state()
    added = KeyRing().trust(found)
    show(f"{found} is {'now trusted' if added else 'already trusted'}")
