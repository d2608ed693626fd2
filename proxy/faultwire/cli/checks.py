"""`faultwire checks`: what can be judged, documented by the code itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import Format, columns, fields, format_option, show, show_json

if TYPE_CHECKING:
    from faultwire.checks._describe import Description


@click.group()
def checks() -> None:
    """List and show checks."""


@checks.command(name="list")
@format_option
def list_(format_: Format) -> None:
    """List every check, built-in ones first."""
    from faultwire.checks._describe import describe
    from faultwire.checks._registry import registry

    described = [describe(check) for check in registry().values()]
    if format_ == "json":
        show_json([{"name": d.name, "judges": d.judges, "summary": d.summary} for d in described])
    else:
        rows = ((d.name, d.judges, d.summary) for d in described)
        show(columns(("check", "judges", "what must hold"), rows))


@checks.command(name="show")
@click.argument("name")
@format_option
def show_(name: str, format_: Format) -> None:
    """Show one check: what it judges, why agents fail it, its settings and an example."""
    from dataclasses import asdict

    from faultwire.checks._describe import describe
    from faultwire.checks._registry import find

    described = describe(find(name))
    if format_ == "json":
        show_json(asdict(described))
    else:
        show(_page(described))


def _page(check: Description) -> str:
    from textwrap import indent

    head = fields((("check", check.name), ("judges", check.judges), ("from", check.module)))
    parts = [f"{check.summary}\n\n{head}"]
    parts += [f"{title}\n{indent(text, '  ')}" for title, text in check.sections.items()]
    rows = [(s.name, s.expected, _default(s.default), s.description) for s in check.settings]
    table = columns(("setting", "takes", "default", "meaning"), rows)
    parts.insert(-1, f"Settings\n{indent(table, '  ')}")
    return "\n\n".join(parts)


def _default(default: str | None) -> str:
    return {None: "required", "null": "-"}.get(default, default or "")
