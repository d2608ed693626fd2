from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from faultwire.checks._registry import make, registry
from faultwire.cli import main
from faultwire.cli._schema import schema
from faultwire.cli.init import NAME, SCHEMA, TEMPLATE
from faultwire.profile.load import find, load
from faultwire.profile.yaml import read


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["init", *arguments])


def test_the_file_is_written_once_and_with_force_again(here: Path) -> None:
    assert run().stdout == f"{NAME}\n"
    (here / NAME).write_text("mine")
    again = run()
    assert again.exit_code == 2
    assert again.stderr.startswith("config.exists: found a file at `faultwire.yaml`, expected none\nhint: ")
    assert (here / NAME).read_text() == "mine"
    assert run("--force").exit_code == 0
    assert (here / NAME).read_text() == TEMPLATE


def test_a_folder_gets_the_usual_name_and_a_missing_one_is_told(here: Path) -> None:
    (here / "sub").mkdir()
    assert run("sub").stdout == f"sub/{NAME}\n"
    missing = run("nowhere/x.yaml")
    assert missing.exit_code == 2
    assert missing.stderr == "config.no_folder: found no folder `nowhere`, expected one\n"


def test_its_first_line_leads_editors_to_a_schema_that_is_there(here: Path) -> None:
    run()
    first = (here / NAME).read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA}"
    assert json.loads((here / SCHEMA).read_text())["title"] == NAME


def test_our_strict_reader_takes_it_and_every_check_and_profile_in_it_exists() -> None:
    read(TEMPLATE, NAME)
    contract = yaml.safe_load(TEMPLATE)["contract"]
    for invariant in contract["invariants"]:
        settings = dict(invariant)
        assert make(settings.pop("type"), settings)
    for scenario in contract["chaos_matrix"]:
        assert "profile" not in scenario or load(find(scenario["profile"])).entries


def test_the_commented_lines_are_valid_too() -> None:
    lines = [line.strip("# ") for line in TEMPLATE.splitlines() if line.strip().startswith("# - {")]
    assert len(lines) == 2
    for line in lines:
        (settings,) = yaml.safe_load(line)
        assert make(settings.pop("type"), settings)


def test_the_schema_knows_every_key_of_the_file_and_every_check() -> None:
    told = schema()
    _matches(yaml.safe_load(TEMPLATE), told, "")
    invariants = told["properties"]["contract"]["properties"]["invariants"]["items"]["oneOf"]
    assert {check["properties"]["type"]["const"] for check in invariants} == set(registry())


def _matches(value: Any, told: dict[str, Any], path: str) -> None:
    """As much of JSON Schema as is needed to compare keys."""
    if isinstance(value, dict) and "properties" in told:
        assert set(value) <= set(told["properties"]), path
        assert set(told.get("required", ())) <= set(value), path
        for key, inner in value.items():
            _matches(inner, told["properties"][key], f"{path}.{key}")
    if isinstance(value, list) and "properties" in told.get("items", {}):
        for inner in value:
            _matches(inner, told["items"], f"{path}[]")
