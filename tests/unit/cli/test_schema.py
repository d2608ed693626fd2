"""`faultwire schema`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from faultwire.cli import main

TITLES = {"profile": "faultwire profile", "config": "faultwire.yaml", "report": "faultwire report"}
TITLES["blame"] = "faultwire blame"


@pytest.mark.parametrize(("what", "title"), TITLES.items())
def test_prints_one_json_document(what: str, title: str) -> None:
    result = CliRunner().invoke(main, ["schema", what])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == title
