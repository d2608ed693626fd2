"""`faultwire faults`: what there is to inject, documented by the code itself."""

from __future__ import annotations

import click

from faultwire.cli.output import Format, format_option


@click.group()
def faults() -> None:
    """List and show faults."""


@faults.command(name="list")
@format_option
def list_(format_: Format) -> None:
    """List every fault, built-in ones first."""
    from faultwire.cli._documented import show_list
    from faultwire.faults._describe import describe
    from faultwire.faults._registry import registry

    described = [describe(fault) for fault in registry().values()]
    show_list(described, "fault", "site", "what it does", format_)


@faults.command(name="show")
@click.argument("name")
@format_option
def show_(name: str, format_: Format) -> None:
    """Show one fault: what it does, why agents break, its settings and an example."""
    from faultwire.cli._documented import show_page
    from faultwire.faults._describe import describe
    from faultwire.faults._registry import find

    show_page(describe(find(name)), "fault", "site", format_)
