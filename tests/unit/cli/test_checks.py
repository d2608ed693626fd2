"""`faultwire checks`, printed by `faultwire.cli._documented`."""

import json

import pytest
from click.testing import CliRunner

from faultwire.checks._registry import BUILTIN
from faultwire.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["checks", *arguments])


def test_list_has_one_line_for_each():
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["check", "judges", "what", "must", "hold"]
    assert [line.split()[0] for line in lines[1:]] == [check.name for check in BUILTIN]


def test_list_as_json():
    listed = json.loads(run("list", "--format", "json").stdout)
    assert [(c["name"], c["judges"]) for c in listed][:2] == [
        ("completes", "history"),
        ("output_not_empty", "answer"),
    ]


@pytest.mark.parametrize("check", BUILTIN, ids=lambda check: check.name)
def test_show_has_every_section(check):
    shown = run("show", check.name).stdout
    for title in ("What it judges", "Why agents fail it", "What it cannot tell", "Settings", "Example"):
        assert f"\n{title}\n" in shown
    assert json.loads(run("show", check.name, "--format", "json").stdout)["name"] == check.name


def test_an_unknown_check_gets_a_hint():
    result = run("show", "no_retry_strom")
    assert result.exit_code == 2
    assert result.stderr == (
        "config.unknown_check: found check `no_retry_strom`, expected a known one\n"
        "hint: did you mean `no_retry_storm`?\n"
    )
