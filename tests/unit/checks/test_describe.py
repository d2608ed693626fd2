from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from faultwire.checks._describe import describe
from faultwire.checks._markdown import filled
from faultwire.checks._registry import BUILTIN
from faultwire.checks.completes import Completes
from faultwire.errors import FaultwireError

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "checks.md"


@pytest.mark.parametrize("check", BUILTIN, ids=lambda check: check.name)
def test_everything_is_reported(check):
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


def test_the_documentation_is_what_the_checks_say():
    """faultwire.checks._markdown and faultwire.checks.__main__, which writes the page."""
    page = PAGE.read_text()
    assert filled(page, BUILTIN) == page
    rows = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert {check.name for check in BUILTIN} <= rows


def test_another_check_changes_the_page():
    class Polite(Completes):
        """The agent says please."""

        name = "polite"
        evidence = "tools"
        word: Annotated[str, Field(description="the word")]

    page = filled(PAGE.read_text(), [*BUILTIN, Polite])
    tools = page.partition("## On the wire: tools")[2].partition("## ")[0]
    assert "| `polite` | The agent says please | `exit_codes`, `word` (needed) |\n" in tools
    assert filled(page, BUILTIN) == PAGE.read_text()


def test_a_page_without_a_place_for_them_is_refused():
    with pytest.raises(FaultwireError, match="found no place"):
        filled("# Checks\n", BUILTIN)
