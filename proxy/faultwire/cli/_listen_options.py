"""`--listen`, `--cert` and `--key`: where a service listens, and by which certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def listen_options(demanded: str) -> Callable[[F], F]:
    """Add the three; `demanded` is what an address off loopback must have."""

    def added(command: F) -> F:
        for option in (
            click.option("--key", type=FILE, metavar="FILE", help="The certificate's private key (PEM)."),
            click.option(
                "--cert", type=FILE, metavar="FILE", help="Serve by TLS with this certificate (PEM)."
            ),
            click.option(
                "--listen", "place", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT",
                help=f"Where to listen; off loopback only with {demanded}.",
            ),
        ):  # fmt: skip
            command = option(command)
        return command

    return added
