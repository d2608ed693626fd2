from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.faults._registry import BUILTIN


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(main, ["faults", *arguments])


def test_list_has_a_line_for_each(run):
    result = run("list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["fault", "site", "what", "it", "does"]
    assert [line.split()[0] for line in lines[1:]] == [fault.name for fault in BUILTIN]


def test_list_as_json(run):
    listed = json.loads(run("list", "--format", "json").stdout)
    assert [fault["name"] for fault in listed] == [fault.name for fault in BUILTIN]
    assert all(fault.keys() == {"name", "site", "summary"} for fault in listed)


@pytest.mark.parametrize("fault", BUILTIN, ids=lambda fault: fault.name)
def test_show_has_every_section_and_setting(run, fault):
    result = run("show", fault.name)
    assert result.exit_code == 0
    titles = ["What it does", "Why agents break", "Real-world source", "Example"]
    for title in titles + (["Settings"] if fault.model_fields else []):
        assert f"\n{title}\n" in result.stdout
    for setting in fault.model_fields:
        assert f"\n  {setting} " in result.stdout


def test_show_as_json(run):
    shown = json.loads(run("show", "status", "--format", "json").stdout)
    assert shown["settings"][0] == {
        "name": "code",
        "expected": "an integer from 400 to 599",
        "default": None,
        "description": "the status",
    }
    assert shown["sections"]["Example"].startswith("faults:\n")


def test_an_unknown_fault(run):
    result = run("show", "late\x1b[2Jncy")
    assert result.exit_code == 2
    assert result.stderr == (
        "fault.unknown: found fault `late\\x1b[2Jncy`, expected a known one\nhint: did you mean `latency`?\n"
    )
    assert result.stdout == ""
