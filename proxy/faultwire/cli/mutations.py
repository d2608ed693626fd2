"""`faultwire mutations`: the types of mutation, packs among them."""

from __future__ import annotations

from typing import Any

import click

from faultwire.cli.output import Format, format_option


@click.group()
def mutations() -> None:
    """List and show mutations of prompts."""


@mutations.command(name="list")
@format_option
def list_(format_: Format) -> None:
    """List every type, built-in ones first, then packs of domains and locales, then those of packages."""
    from faultwire.cli.output import columns, show, show_json
    from faultwire.mutations._registry import registry

    rows = [_row(name) for name in registry()]
    if format_ == "json":
        show_json(rows)
    else:
        head = ("mutation", "kind", "weight", "what it does")
        show(
            columns(head, [(one["name"], one["kind"], f"{one['weight']:g}", one["summary"]) for one in rows])
        )


@mutations.command(name="show")
@click.argument("name")
@click.option("--prompt", default="Where is order 1234567 of 2026-03-01?", show_default=True, metavar="TEXT")
@click.option("--seed", type=int, default=42, show_default=True, help="Random seed.")
@format_option
def show_(name: str, prompt: str, seed: int, format_: Format) -> None:
    """Show one type, with some mutants of a prompt."""
    from faultwire.cli.output import fields, show, show_json
    from faultwire.mutations._registry import find
    from faultwire.mutations.custom import Custom
    from faultwire.mutations.engine import mutate
    from faultwire.text import safe

    find(name)
    row = _row(name)
    templates = {"example": "Quick: {prompt}"} if name == Custom.name else None
    made = mutate(prompt, [name], 5, seed=seed, templates=templates).mutants
    if format_ == "json":
        show_json({**row, "mutants": [{"text": one.text, "how": one.how} for one in made]})
        return
    about = [(key, f"{value:g}" if isinstance(value, float) else str(value)) for key, value in row.items()]
    show(fields(about))
    for one in made:
        text = one.text if len(one.text) <= 400 else f"{one.text[:400]}…"
        show(f"\n{safe(one.how)}\n  {safe(text)}")


def _row(name: str) -> dict[str, Any]:
    from faultwire.mutations._packs import Packed
    from faultwire.mutations._registry import find

    found = find(name)
    pack = found.pack if issubclass(found, Packed) else None
    kind = "built-in" if found.__module__.startswith("faultwire.") else "package"
    row: dict[str, Any] = {"name": name, "kind": pack.kind if pack is not None else kind}
    if pack is not None:
        row["version"] = pack.version
    return {**row, "weight": found.weight, "summary": found.summary}
