"""`faultwire schema`: JSON Schemas of the files that people write, for their editors."""

from __future__ import annotations

import click

from faultwire.cli.output import show_json


@click.group()
def schema() -> None:
    """Print JSON Schemas for editors."""


@schema.command(name="profile")
def profile() -> None:
    """Print the schema of a profile, with every fault that is installed here."""
    from faultwire.profile.schema import schema

    show_json(schema())


@schema.command(name="config")
def config() -> None:
    """Print the schema of a faultwire.yaml."""
    from faultwire.config.schema import schema

    show_json(schema())


@schema.command(name="certificate")
def certificate() -> None:
    """Print the schema of what a certificate states."""
    from faultwire.certificate.shape import schema

    show_json(schema())


@schema.command(name="blame")
def blame() -> None:
    """Print the schema of a blame.json."""
    from faultwire.report._blame_shape import schema

    show_json(schema())


@schema.command(name="load")
def load() -> None:
    """Print the schema of a load.json."""
    from faultwire.load.shape import schema

    show_json(schema())


@schema.command(name="report")
def report() -> None:
    """Print the schema of a report.json."""
    from faultwire.report.schema import schema

    show_json(schema())
