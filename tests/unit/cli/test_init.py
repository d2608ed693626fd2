from __future__ import annotations

import ast
import errno
import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from faultwire.agents.settings import CommandSettings
from faultwire.cli import main
from faultwire.cli._template import AGENT, AGENT_NAME, NAME, SCHEMA, TEMPLATE
from faultwire.cli.init import _not_written
from faultwire.config.load import load
from faultwire.config.schema import schema


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["init", *arguments])


def test_the_file_is_written_once_and_with_force_again(here: Path) -> None:
    assert run().stdout == f"{NAME}\n{AGENT_NAME}\n"
    (here / NAME).write_text("mine")
    again = run()
    assert again.exit_code == 2
    assert again.stderr.startswith("config.exists: found a file at `faultwire.yaml`, expected none\nhint: ")
    assert (here / NAME).read_text() == "mine"
    assert run("--force").exit_code == 0
    assert (here / NAME).read_text() == TEMPLATE


def test_an_agent_that_is_there_is_never_written_over(here: Path) -> None:
    (here / AGENT_NAME).write_text("mine")
    done = run("--force")
    assert (done.exit_code, done.stdout) == (0, f"{NAME}\n")
    assert (here / AGENT_NAME).read_text() == "mine"
    assert "agent.command" in done.stderr


def test_a_folder_gets_the_default_name_and_a_missing_one_is_reported(here: Path) -> None:
    (here / "sub").mkdir()
    assert run("sub").stdout == f"sub/{NAME}\nsub/{AGENT_NAME}\n"
    missing = run("nowhere/x.yaml")
    assert missing.exit_code == 2
    assert missing.stderr == "config.no_folder: found no folder `nowhere`, expected one\n"


def test_an_unwritable_path_is_reported(here: Path) -> None:
    (here / ".faultwire").write_text("a file where a folder goes")
    done = run()
    assert done.exit_code == 2
    assert done.stderr.startswith("config.not_written: cannot write `faultwire.yaml`: ")
    assert not (here / NAME).exists()


@pytest.mark.parametrize(
    ("number", "found"),
    [
        (errno.EROFS, "a read-only file system at `{}` (Read-only file system, EROFS), expected one that"),
        (errno.EACCES, "a folder that this user may not write to at `{}` (Permission denied, EACCES), "),
        (errno.ENOSPC, "a full disk at `{}` (No space left on device, ENOSPC), expected room for a file"),
    ],
)
def test_why_it_cannot_be_written_is_stated_with_the_remedy(here: Path, number: int, found: str) -> None:
    error = _not_written(Path(NAME), OSError(number, os.strerror(number)))
    assert error.message.startswith(f"cannot write `{NAME}`: found {found.format(here)}")
    assert error.hint
    other = _not_written(Path(NAME), OSError(errno.EIO, os.strerror(errno.EIO)))
    assert (other.message, other.hint) == (f"cannot write `{NAME}`: Input/output error, EIO", None)


def test_its_first_line_names_an_existing_schema(here: Path) -> None:
    run()
    first = (here / NAME).read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA}"
    assert json.loads((here / SCHEMA).read_text()) == schema()


def test_what_is_written_loads_without_a_warning(here: Path) -> None:
    run()
    found = load(here / NAME, environ={})
    assert found.warnings == ()
    assert isinstance(found.agent, CommandSettings)
    assert found.agent.command == ("python3", AGENT_NAME, "{prompt}")
    assert found.agent.cwd == str(here)
    assert found.proxy.mock
    names = [scenario.name for scenario in found.contract.scenarios]
    assert names == ["calm", "rate-limits", "short-outage", "outage"]


def test_the_commented_lines_are_valid_too(here: Path) -> None:
    lines = []
    for line in TEMPLATE.splitlines():
        bare = line.strip()
        if bare.startswith(("# - {", "# env: {")):
            line = line.replace("# ", "", 1).partition("  #")[0]
        elif bare.startswith(("# tools:", "#   search:")):
            line = line.replace("# ", "", 1)
        lines.append(line)
    (here / NAME).write_text("\n".join(lines))
    found = load(here / NAME, environ={"OPENAI_API_KEY": "any"})
    assert found.warnings == ()
    assert set(found.tools) == {"search"}
    assert isinstance(found.agent, CommandSettings)
    assert found.agent.env == {"OPENAI_API_KEY": "any"}
    assert {check.name for check in found.contract.invariants} >= {"contains", "regex"}
    assert found.contract.scenarios[-1].name == "broken-streams"


def test_the_agent_needs_nothing_but_python() -> None:
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(ast.parse(AGENT))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names
