"""`--engines`: on how many engines the sessions of a run are placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.types import StringParamType

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
AUTO = "auto"
MOST = 64


class EngineCount(StringParamType):
    """A number from 1 to 64, or `auto`."""

    name = "engines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or `auto`. Fails as click's other types do."""
        text = str(value)
        if text == AUTO:
            return AUTO
        if not (
            text.isascii() and text.isdecimal() and len(text) <= len(str(MOST)) and 1 <= int(text) <= MOST
        ):
            self.fail(f"found `{text}`, expected a number from 1 to {MOST}, or `{AUTO}`", param, ctx)
        return int(text)


def engines_option(command: F, what: str = "Place invocations on") -> F:
    """Add `--engines`; `what` begins its help."""
    return click.option(
        "--engines",
        type=EngineCount(),
        default="1",
        show_default=True,
        metavar="N|auto",
        help=f"{what} N proxy processes; `auto`: one per usable core but one.",
    )(command)


def encrypt_bodies_option() -> Callable[[F], F]:
    """Add `--encrypt-bodies`."""
    return click.option(
        "--encrypt-bodies",
        is_flag=True,
        help="Encrypt bodies on the tape, by keys that are not on it; `faultwire tape shred` destroys them.",
    )
