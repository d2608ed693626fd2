"""Where commands may write what they are told to: in the working directory, or anywhere with
`--output-anywhere`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

F = TypeVar("F", bound="Callable[..., Any]")
_ANYWHERE = "faultwire.output_anywhere"


def _note(context: click.Context, _option: click.Parameter, anywhere: bool) -> None:
    context.meta[_ANYWHERE] = anywhere


def anywhere_option() -> Callable[[F], F]:
    """`--output-anywhere`, which `anywhere` reads; commands get no argument for it."""
    return click.option(
        "--output-anywhere",
        is_flag=True,
        expose_value=False,
        callback=_note,
        help="Let output be written outside the working directory.",
    )


def anywhere() -> bool:
    """Was `--output-anywhere` given to the command that runs?"""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_ANYWHERE))


def placed(path: Path) -> Path:
    """A path for a new tape, which may lead outside the working directory only where that was asked for, and
    through no link. Raises UsageError."""
    from faultwire.output_file import permitted

    return permitted(path, anywhere=anywhere())
