"""A click group whose commands are imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class Lazy(NamedTuple):
    """Where a command is, as `module:attribute` below the group's package, and its line in `--help`."""

    target: str
    summary: str


class LazyGroup(click.Group):
    """Knows names and summaries of its commands without importing them."""

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy], package: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        entry = self.lazy.get(cmd_name)
        if entry is None:
            return None
        module, attribute = entry.target.split(":")
        command = getattr(import_module(f"{self.package}.{module}"), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section of commands from the table: nothing is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.lazy.items()])
