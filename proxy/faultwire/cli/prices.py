"""`faultwire prices`: which prices of models are used, and a table of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from faultwire.cli.output import Format, columns, format_option, show, show_json
from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.wire.transcript.prices import Prices


@click.group(invoke_without_command=True)
@click.pass_context
def prices(context: click.Context) -> None:
    """Show or update the prices of models.

    Costs are computed from them. Without a command it shows the tables in use.
    """
    if context.invoked_subcommand is None:
        context.invoke(show_)


@prices.command(name="show")
@format_option
def show_(format_: Format = "terminal") -> None:
    """Show the tables in use with their dates; the first that lists a model gives its price."""
    from faultwire.wire.transcript.prices import builtin, current, load

    tables = [
        (origin, path, builtin() if origin == "built-in" else load(path)) for origin, path in _origins()
    ]
    models = _models(current())
    if format_ == "json":
        rows: list[dict[str, Any]] = [
            {
                "table": origin,
                "path": str(path),
                "as_of": table.as_of,
                "models": _models(table),
                "providers": len(table.models),
            }
            for origin, path, table in tables
        ]
        show_json({"tables": rows, "models": models})
        return
    show(
        columns(
            ("table", "as of", "models", "providers", "path"),
            (
                (origin, table.as_of, str(_models(table)), str(len(table.models)), str(path))
                for origin, path, table in tables
            ),
        )
    )
    show(f"{counted(models, 'model')} with a price. Dollars are for a million tokens of the standard tier.")


@prices.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Install it even if it is older than the table it replaces.")
def update(file: str, force: bool) -> None:
    """Check a table of prices and use it from now on.

    It goes to `faultwire/prices.yaml` in your configuration folder (XDG_CONFIG_HOME, else ~/.config). Its
    prices take precedence over the built-in ones, which stay for models that it does not list.
    """
    from pathlib import Path

    from faultwire.wire.transcript.price_update import install

    target, found = install(Path(file), force=force)
    models, providers = counted(_models(found), "model"), counted(len(found.models), "provider")
    show(f"{target}: prices of {found.as_of}, {models} of {providers}")


def _origins() -> list[tuple[str, Path]]:
    from faultwire.wire.transcript.prices import BUILTIN, installed, layers

    names = {BUILTIN: "built-in", installed(): "installed"}
    return [(names.get(path, "--prices"), path) for path in layers()]


def _models(table: Prices) -> int:
    return sum(len(listed) for listed in table.models.values())
