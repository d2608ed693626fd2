"""Services name where they listen by the same three options, and what another address demands."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from faultwire.cli._listen_options import listen_options


@click.command()
@listen_options("TLS")
def service(place: str, cert: Path | None, key: Path | None) -> None:
    click.echo(f"{place} {cert} {key}")


def test_they_default_to_a_free_port_of_this_machine(tmp_path: Path) -> None:
    assert CliRunner().invoke(service).output == "127.0.0.1:0 None None\n"
    assert "off loopback only with TLS." in " ".join(CliRunner().invoke(service, ["--help"]).output.split())


@pytest.mark.parametrize("option", ["--cert", "--key"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, option: str) -> None:
    assert CliRunner().invoke(service, [option, str(tmp_path / "none")]).exit_code == 2
    (tmp_path / "there").touch()
    assert CliRunner().invoke(service, [option, str(tmp_path / "there")]).exit_code == 0
