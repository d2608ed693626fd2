from pathlib import Path

import pytest

from faultwire.checks._describe import describe
from faultwire.checks._registry import BUILTIN


@pytest.mark.parametrize("check", BUILTIN, ids=lambda check: check.name)
def test_everything_is_said(check):
    found = describe(check)
    assert (found.name, found.module) == (check.name, check.__module__)
    assert found.summary.endswith(".")
    assert list(found.sections) == ["What it judges", "Why agents fail it", "What it cannot tell", "Example"]
    assert all(setting.description for setting in found.settings)


def test_own_settings_come_first():
    found = {check.name: [s.name for s in describe(check).settings] for check in BUILTIN}
    common = ["id", "severity", "when", "scenarios", "negate", "description", "probes"]
    assert found["completes"] == ["exit_codes", *common]
    assert found["no_retry_storm"] == ["max_attempts", "max_requests", "window_s", *common]


def test_what_each_judges():
    assert {check.name for check in BUILTIN if describe(check).judges == "answer"} == {
        "behavior_unchanged",
        "contains",
        "contains_any",
        "excludes_pattern",
        "excludes_pii",
        "excludes_secrets",
        "json_schema",
        "no_fabrication",
        "output_not_empty",
        "refusal_check",
        "regex",
        "similarity",
        "valid_json",
    }


def test_the_documentation_has_a_row_for_each_with_its_settings():
    text = (Path(__file__).parents[3] / "docs" / "reference" / "checks.md").read_text()
    common = {"id", "severity", "when", "scenarios", "negate", "description", "probes"}
    for check in BUILTIN:
        found = describe(check)
        row = next(line for line in text.splitlines() if line.startswith(f"| `{check.name}` |"))
        assert found.summary.rstrip(".") in row
        assert all(f"`{s.name}`" in row for s in found.settings if s.name not in common)
