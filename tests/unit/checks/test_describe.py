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
    common = ["id", "severity", "when", "negate", "description"]
    assert found["completes"] == ["exit_codes", *common]
    assert found["no_retry_storm"] == ["max_attempts", "max_requests", "window_s", *common]


def test_what_each_judges():
    assert {check.name: describe(check).judges for check in BUILTIN} == {
        "completes": "history",
        "output_not_empty": "answer",
        "contains": "answer",
        "regex": "answer",
        "no_retry_storm": "history",
    }
