"""The options of `faultwire certificate` that are about witnesses, and what they mean."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._listen_options import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from faultwire.certificate.cosignature import WitnessKey
    from faultwire.certificate.submission import WitnessedLog
    from faultwire.tape.evidence.signed_note import SignerKey

F = TypeVar("F", bound="Callable[..., Any]")
LOG = Path(".faultwire") / "certificates"
"""Where a project's log of certificates is."""


def witness_key_option(text: str) -> Callable[[F], F]:
    """`--witness-key`, with what it does to the command."""
    return click.option("--witness-key", "witness_keys", multiple=True, metavar="KEY|FILE", help=text)


def witness_options(command: F) -> F:
    """`--witness`, `--witness-key` and `--witness-token`."""
    for option in (
        click.option(
            "--witness-token",
            type=FILE,
            metavar="FILE",
            help="Send the bearer token in this file to witnesses.",
        ),
        witness_key_option("By which the witness's answer must hold; one for each --witness, in order."),
        click.option(
            "--witness",
            "witnesses",
            multiple=True,
            metavar="URL",
            help="Put it into the project's log, and have this witness cosign that (repeatable).",
        ),
    ):
        command = option(command)
    return command


def witness_keys(given: Sequence[str]) -> list[WitnessKey]:
    """Raises UsageError for what is no witness's key."""
    from faultwire.certificate.keys import given_witness

    return list(map(given_witness, given))


def log_signer() -> SignerKey:
    """The key of this project's log, made on first use. Its name is the log's origin, and that of no other
    project. Raises FaultwireError."""
    from faultwire.dice import token
    from faultwire.runner.folder import state
    from faultwire.tape.evidence.keyring import KeyRing, name_for

    state()
    return KeyRing(kind="log").signer_or_named(f"{name_for(Path.cwd().name)}/certificates-{token(4)}")


@contextmanager
def witnessed_log(
    urls: Sequence[str], keys: Sequence[str], token: Path | None
) -> Iterator[WitnessedLog | None]:
    """The log that a certificate goes into, None where no witness was named. Raises FaultwireError."""
    from faultwire.errors import UsageError

    if len(urls) != len(keys) or (token is not None and not urls):
        raise UsageError(
            f"found {len(urls)} `--witness` and {len(keys)} `--witness-key`, expected a key for each witness",
            code="usage.witness",
            hint="the key is what `faultwire witness` prints as it starts",
        )
    if not urls:
        yield None
        return
    from faultwire.certificate.log import CertificateLog
    from faultwire.certificate.submission import WitnessAddress, WitnessedLog, token_in

    secret = None if token is None else token_in(token)
    pairs = zip(urls, witness_keys(keys), strict=True)
    addresses = [WitnessAddress.checked(url, key, secret) for url, key in pairs]
    with CertificateLog.held(LOG, log_signer()) as log:
        yield WitnessedLog(log, addresses)
