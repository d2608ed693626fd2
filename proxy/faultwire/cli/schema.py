"""`faultwire schema`: JSON Schemas of the files that people write, for their editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from faultwire.cli.output import say, show, show_json

FOLDER = ".faultwire/schemas"
CATALOG = "catalog.json"
FILES = {
    "config": ("faultwire.yaml", ["faultwire.yaml", "faultwire.yml"]),
    "profile": ("faultwire profile", ["profiles/*.yaml", "profiles/*.yml"]),
    "report": ("faultwire report", ["report.json"]),
    "blame": ("faultwire blame", ["blame.json"]),
    "certificate": ("faultwire certificate", []),
    "load": ("faultwire load", ["load.json"]),
}
"""By the word for each schema: its title in a catalog, and the files that it is of."""


@click.group()
def schema() -> None:
    """Print JSON Schemas for editors."""


def made(name: str) -> dict[str, Any]:
    """The schema with this word."""
    if name == "profile":
        from faultwire.profile.schema import schema
    elif name == "config":
        from faultwire.config.schema import schema
    elif name == "certificate":
        from faultwire.certificate.shape import schema
    elif name == "blame":
        from faultwire.report._blame_shape import schema
    elif name == "load":
        from faultwire.load.shape import schema
    else:
        from faultwire.report.schema import schema
    return schema()


@schema.command(name="profile")
def profile() -> None:
    """Print the schema of a profile, with every fault that is installed here."""
    show_json(made("profile"))


@schema.command(name="config")
def config() -> None:
    """Print the schema of a faultwire.yaml."""
    show_json(made("config"))


@schema.command(name="certificate")
def certificate() -> None:
    """Print the schema of what a certificate states."""
    show_json(made("certificate"))


@schema.command(name="blame")
def blame() -> None:
    """Print the schema of a blame.json."""
    show_json(made("blame"))


@schema.command(name="load")
def load() -> None:
    """Print the schema of a load.json."""
    show_json(made("load"))


@schema.command(name="report")
def report() -> None:
    """Print the schema of a report.json."""
    show_json(made("report"))


@schema.command(name="write")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=FOLDER)
def write(folder: Path) -> None:
    """Write all of them into FOLDER (default .faultwire/schemas), with a catalog for editors.

    The catalog has the shape of schemastore.org's: it says which schema is for which files.
    """
    from faultwire.cli._placed import anywhere
    from faultwire.output_file import write_text

    where: dict[str, Any] = {"anywhere": anywhere(), "parents": True}
    entries = []
    for name, (title, files) in FILES.items():
        path = folder / f"{name}.schema.json"
        write_text(path, json.dumps(made(name), indent=1) + "\n", **where)
        url = path.resolve().as_uri()
        entries.append({"name": title, "description": title, "fileMatch": files, "url": url})
        show(str(path), whole=True)
    catalog = {"version": 1, "schemas": entries}
    write_text(folder / CATALOG, json.dumps(catalog, indent=1) + "\n", **where)
    show(str(folder / CATALOG), whole=True)
    where_profile = (folder / "profile.schema.json").resolve()
    say(f"first line of a profile: # yaml-language-server: $schema={where_profile}")
