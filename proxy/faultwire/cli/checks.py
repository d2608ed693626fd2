"""`faultwire checks`: what can be judged, documented by the code itself."""

from __future__ import annotations

import click

from faultwire.cli.output import Format, format_option


@click.group()
def checks() -> None:
    """List and show checks."""


@checks.command(name="list")
@format_option
def list_(format_: Format) -> None:
    """List every check, built-in ones first."""
    from faultwire.checks._describe import describe
    from faultwire.checks._registry import registry
    from faultwire.cli._documented import show_list

    described = [describe(check) for check in registry().values()]
    show_list(described, "check", "judges", "what must hold", format_)


@checks.command(name="show")
@click.argument("name")
@format_option
def show_(name: str, format_: Format) -> None:
    """Show one check: what it judges, why agents fail it, its settings and an example."""
    from faultwire.checks._describe import describe
    from faultwire.checks._registry import find
    from faultwire.cli._documented import show_page

    show_page(describe(find(name)), "check", "judges", format_)
