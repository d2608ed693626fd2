from __future__ import annotations

import hashlib
import json

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.profile.find import builtin
from faultwire.profile.load import dump, load

MINE = "name: mine\ndescription: Mine.\nfaults:\n  - rate_limit:\n    trigger: {first: 1}\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text(MINE)
    return lambda *arguments: CliRunner().invoke(main, ["profiles", *arguments])


def test_validate_names_the_place_of_an_entry_that_never_fires(run, tmp_path):
    text = "faults:\n  - reset:\n    on: {kind: llm}\n  - dns_failure:\n    on: {header: {x-team: blue}}\n"
    (tmp_path / "profiles" / "never.yaml").write_text(text)
    result = run("validate", "profiles/never.yaml")
    assert result.exit_code == 2
    assert result.stderr == (
        "profiles/never.yaml:5:10: profile.never_fires: found `header` for `dns_failure`, which acts when a "
        "connection is made, before there is a request\n"
        "hint: match it with `kind`, `provider`, `host` or `session`\n"
    )
    (tmp_path / "profiles" / "never.yaml").write_text(text.replace("header: {x-team: blue}", "host: a.test"))
    assert run("validate", "profiles/never.yaml").exit_code == 0, "the control"


def test_list_names_the_built_in_ones_and_those_here(run):
    result = run("list")
    assert result.exit_code == 0
    rows = [line.split(maxsplit=2) for line in result.stdout.splitlines()[1:]]
    assert ["mine", "local", "Mine."] in rows
    assert ["calm", "built-in", "Nothing is broken."] in rows


def test_list_is_not_stopped_by_other_yaml(run, tmp_path):
    (tmp_path / "profiles" / "other.yaml").write_text("services: {}")
    listed = {p["name"]: p for p in json.loads(run("list", "--format", "json").stdout)}
    assert listed["other"]["description"] == "(invalid profile: profile.bad_value)"
    assert listed["mine"] == {
        "name": "mine",
        "origin": "local",
        "path": "profiles/mine.yaml",
        "description": "Mine.",
    }


def test_show_gives_the_text_with_its_digest(run):
    result = run("show", "mine")
    assert result.exit_code == 0
    assert f"sha256   {hashlib.sha256(MINE.encode()).hexdigest()}\n" in result.stdout
    assert result.stdout.endswith(f"\n\n{MINE}")


def test_show_as_json_is_the_dump(run):
    shown = json.loads(run("show", "degraded_llm", "--format", "json").stdout)
    assert shown == dump(load(builtin() / "degraded_llm.yaml"))


def test_show_escapes_control_characters(run, tmp_path):
    (tmp_path / "profiles" / "odd.yaml").write_text("# \u202e\ndescription: \u200b\nfaults: []\n")
    result = run("show", "odd")
    assert result.exit_code == 0
    assert "# \\u202e\n" in result.stdout
    assert "\u202e" not in result.stdout
    assert "\u200b" not in run("list").stdout


@pytest.mark.parametrize("name", ["mine", "profiles/mine.yaml"])
def test_validate_prints_the_profile_in_words(run, name):
    result = run("validate", name)
    assert result.exit_code == 0
    assert result.stdout == (
        "profiles/mine.yaml: valid, 1 fault\n  4: rate_limit, on every exchange it can act on, when first=1\n"
    )


def test_validate_writes_conditions_as_a_profile_does(run, tmp_path):
    trigger = "{stages: [{for_calls: 3, probability: 0}, {probability: 0.5}], no_sdk_retry: true}"
    text = "faults:\n  - rate_limit:\n    on: {status: [500, 503], stream: true}\n    trigger: "
    (tmp_path / "said.yaml").write_text(text + trigger)
    told = run("validate", "said.yaml").stdout
    assert "on stream=true status=[500, 503]" in told
    assert "when stages=[{for_calls: 3, probability: 0}, {probability: 0.5}] no_sdk_retry=true\n" in told


NOTE = (
    "note: 2: {}: `{}` counts calls, and an SDK's own retries of a call get the fault, too; with "
    "`attempts: first` they come through\n"
)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{status: {code: 503}, trigger: {first: 1}}", ("status", "first")),
        ("{status: {code: 429}, trigger: {calls: [1]}}", ("status", "calls")),
        ("{reset: {}, trigger: {first: 2}}", ("reset", "first")),
        ("{status: {code: 503}, trigger: {first: 1, attempts: first}}", None),
        ("{status: {code: 503}, trigger: {first: 1, no_sdk_retry: true}}", None),
        ("{status: {code: 400}, trigger: {first: 1}}", None),
        ("{early_end: {after_events: 2}, trigger: {first: 1}}", None),
        ("{status: {code: 503}, trigger: {probability: 0.5}}", None),
    ],
)
def test_validate_says_that_retries_of_a_call_are_no_calls(run, tmp_path, entry, told):
    (tmp_path / "said.yaml").write_text(f"faults:\n  - {entry}\n")
    result = run("validate", "said.yaml")
    assert result.exit_code == 0
    assert result.stderr == (NOTE.format(*told) if told else "")
    notes = json.loads(run("validate", "said.yaml", "--format", "json").stdout)["notes"]
    assert len(notes) == (told is not None)


def test_validate_as_json(run):
    told = json.loads(run("validate", "mine", "--format", "json").stdout)
    assert told["valid"] is True
    assert told["profile"]["entries"][0]["id"] == "rate_limit"


def test_validate_reports_every_problem(run, tmp_path):
    (tmp_path / "bad.yaml").write_text("faults:\n  - rate_limt\n  - status: {code: 5}\n")
    result = run("validate", "bad.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "bad.yaml:2:5: profile.unknown_fault: found fault `rate_limt`, expected a known one\n"
        "hint: did you mean `rate_limit`?\n"
        "bad.yaml:3:20: profile.bad_value: found `5` for `status.code`, expected an integer from 400 to 599\n"
    )


@pytest.mark.parametrize("command", ["show", "validate"])
def test_an_unknown_profile(run, command):
    result = run(command, "mien")
    assert result.exit_code == 2
    assert result.stderr == (
        "profile.not_found: found no profile `mien`, expected a name or a path\nhint: did you mean `mine`?\n"
    )


def test_validate_holds_several_profiles_against_each_other(run, tmp_path):
    (tmp_path / "profiles" / "down.yaml").write_text("faults:\n  - status: {code: 503}\n")
    (tmp_path / "profiles" / "cut.yaml").write_text("faults:\n  - cut_stream: {after_events: 3}\n")
    for name in ("down", "cut"):
        assert run("validate", name).exit_code == 0, "each on its own"
    result = run("validate", "down", "cut")
    assert result.exit_code == 2
    assert result.stderr.startswith("profiles/cut.yaml:2: profile.never_fires: found `cut_stream`")
    assert run("validate", "mine", "cut").exit_code == 0, "the control"
