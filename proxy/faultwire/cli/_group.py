"""Click groups whose commands are imported lazily, listed under headings, and renamed with notice."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Lazy(NamedTuple):
    """Where a command is, as `module:attribute` below the group's package, and its line in `--help`."""

    target: str
    summary: str


def warn_renamed(old: str, new: str) -> None:
    """Print the one line that an old word gets, on stderr."""
    from faultwire.cli.output import say

    say(f"deprecated: `{old}` will be removed in the next release; use `{new}`")


class Group(click.Group):
    """A group that lists its commands under headings and keeps old command names working.

    `sections` maps a heading to command names; without it there is one section, `Commands`. `renamed`
    maps an old name to the command line that replaces it: the old name works and prints one line on
    stderr, but it is not listed.
    """

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[str]] | None = None,
        renamed: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections or {}
        self.renamed = renamed or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The visible names, in the order of `sections` or else sorted."""
        if self.sections:
            return [name for names in self.sections.values() for name in names]
        return [name for name in super().list_commands(ctx) if name not in self.renamed]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; warn where its name is an old one."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in self.renamed and not ctx.resilient_parsing:
            warn_renamed(f"{ctx.command_path} {name}", self.renamed[name])
        return name, command, rest

    def summary(self, ctx: click.Context, name: str) -> str:
        """The line of one command in `--help`."""
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=120) if command is not None else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section of `--help` for each heading, with all summaries in one column."""
        sections = self.sections or {"Commands": self.list_commands(ctx)}
        if not any(sections.values()):
            return
        width = max(len(name) for names in sections.values() for name in names)
        for heading, names in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self.summary(ctx, name)) for name in names])


class LazyGroup(Group):
    """Knows names and summaries of its commands without importing them."""

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy], package: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The visible names, in the order of the sections or of the table."""
        if self.sections:
            return super().list_commands(ctx)
        return [name for name in self.lazy if name not in self.renamed]

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

    def summary(self, ctx: click.Context, name: str) -> str:
        """The line from the table: nothing is imported for it."""
        return self.lazy[name].summary
