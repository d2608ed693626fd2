"""`faultwire schema`."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli.schema import CATALOG, FILES, FOLDER, schema

TITLES = {"profile": "faultwire profile", "config": "faultwire.yaml", "report": "faultwire report"}
TITLES["blame"] = "faultwire blame"
PRINTED = sorted(schema.commands.keys() - {"write"})


@pytest.mark.parametrize(("what", "title"), TITLES.items())
def test_prints_one_json_document(what: str, title: str) -> None:
    result = CliRunner().invoke(main, ["schema", what])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == title


@pytest.mark.parametrize("what", PRINTED)
def test_each_is_valid_by_the_rules_of_2020_12(what: str) -> None:
    found = json.loads(CliRunner().invoke(main, ["schema", what]).stdout)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema.validators.validator_for(found) is jsonschema.Draft202012Validator
    jsonschema.Draft202012Validator.check_schema(found)


def test_control_what_is_no_schema_is_found() -> None:
    with pytest.raises(jsonschema.SchemaError):
        jsonschema.Draft202012Validator.check_schema({"type": "objekt"})


def test_all_are_written_with_a_catalog_that_leads_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["schema", "write"])
    assert done.exit_code == 0, done.output
    folder = Path(FOLDER)
    assert set(FILES) == set(PRINTED), "each schema is in the catalog"
    catalog = json.loads((folder / CATALOG).read_text())
    assert catalog["version"] == 1
    for name, entry in zip(FILES, catalog["schemas"], strict=True):
        written = json.loads(Path(urlsplit(entry["url"]).path).read_text())
        assert written == json.loads(CliRunner().invoke(main, ["schema", name]).stdout)
    matched = {name: entry["name"] for entry in catalog["schemas"] for name in entry["fileMatch"]}
    assert matched["faultwire.yaml"] == "faultwire.yaml"
    assert matched["profiles/*.yaml"] == "faultwire profile"
    assert f"$schema={tmp_path / FOLDER / 'profile.schema.json'}" in done.stderr


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(main, ["schema", "write", "file/below"])
    assert done.exit_code != 0
    assert (tmp_path / "file").read_text() == ""
