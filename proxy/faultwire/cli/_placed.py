"""Where commands may put tapes: in the project, or anywhere with `--output-anywhere`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
_ANYWHERE = "faultwire.output_anywhere"


def _note(context: click.Context, _option: click.Parameter, anywhere: bool) -> None:
    context.meta[_ANYWHERE] = anywhere


def anywhere_option() -> Callable[[F], F]:
    """`--output-anywhere`, which `placed` reads; commands get no argument for it."""
    return click.option(
        "--output-anywhere",
        is_flag=True,
        expose_value=False,
        callback=_note,
        help="Let the tape be written outside the working directory.",
    )


def placed(path: Path) -> Path:
    """A path for a new tape, which may lead outside the working directory only where that was asked for: by
    `..`, as an absolute path, or through a link. Raises UsageError."""
    from faultwire.errors import UsageError

    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(_ANYWHERE):
        return path
    project = Path.cwd().resolve()
    target = path.parent.resolve() / path.name
    if target.is_relative_to(project):
        return path
    raise UsageError(
        f"`{path}` is outside `{project}`, expected a place in it",
        code="tape.outside",
        hint="add `--output-anywhere` to write it there",
    )
