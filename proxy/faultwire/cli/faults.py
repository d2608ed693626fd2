"""`faultwire faults`: what there is to inject, documented by the code itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import Format, columns, fields, format_option, show, show_json

if TYPE_CHECKING:
    from faultwire.faults._describe import Description


@click.group()
def faults() -> None:
    """List and show faults."""


@faults.command(name="list")
@format_option
def list_(format_: Format) -> None:
    """List every fault, built-in ones first."""
    from faultwire.faults._describe import describe
    from faultwire.faults._registry import registry

    described = [describe(fault) for fault in registry().values()]
    if format_ == "json":
        show_json([{"name": d.name, "site": d.site, "summary": d.summary} for d in described])
    else:
        show(columns(("fault", "site", "what it does"), ((d.name, d.site, d.summary) for d in described)))


@faults.command(name="show")
@click.argument("name")
@format_option
def show_(name: str, format_: Format) -> None:
    """Show one fault: what it does, why agents break, its settings and an example."""
    from dataclasses import asdict

    from faultwire.faults._describe import describe
    from faultwire.faults._registry import find

    described = describe(find(name))
    if format_ == "json":
        show_json(asdict(described))
    else:
        show(_page(described))


def _page(fault: Description) -> str:
    from textwrap import indent

    head = fields((("fault", fault.name), ("site", fault.site), ("from", fault.module)))
    parts = [f"{fault.summary}\n\n{head}"]
    parts += [f"{title}\n{indent(text, '  ')}" for title, text in fault.sections.items()]
    rows = [(s.name, s.expected, _default(s.default), s.description) for s in fault.settings]
    if rows:
        table = columns(("setting", "takes", "default", "meaning"), rows)
        parts.insert(-1, f"Settings\n{indent(table, '  ')}")
    return "\n\n".join(parts)


def _default(default: str | None) -> str:
    return {None: "required", "null": "-"}.get(default, default or "")
