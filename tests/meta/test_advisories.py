"""Advisories that are set aside: of each, no code of the core calls what it is about."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ABOUT = {
    # `skip` and `step_by` call `nth` themselves.
    "RUSTSEC-2026-0176": r"\.\s*(?:nth|nth_back|skip|step_by)\s*\(",
    "RUSTSEC-2026-0177": r"\bnew_closure",
}
"""Calls that an advisory is about, in the crate that uses pyo3."""


def calls(advisory: str, code: str) -> list[str]:
    """Where code calls what an advisory is about."""
    return re.findall(ABOUT[advisory], code)


def test_each_that_is_set_aside_is_known_here() -> None:
    config = tomllib.loads((ROOT / ".cargo" / "audit.toml").read_text())
    assert set(config["advisories"]["ignore"]) == set(ABOUT)


@pytest.mark.parametrize("advisory", ABOUT)
def test_nothing_calls_what_it_is_about(advisory: str) -> None:
    sources = [path.read_text() for path in (ROOT / "core_rs" / "py").rglob("*.rs")]
    assert sum("pyo3" in code for code in sources) > 5
    assert [found for code in sources for found in calls(advisory, code)] == []


@pytest.mark.parametrize(
    ("advisory", "code"),
    [
        ("RUSTSEC-2026-0176", "list.iter().nth(2)"),
        ("RUSTSEC-2026-0176", "tuple.iter()\n    .skip(1)"),
        ("RUSTSEC-2026-0177", "PyCFunction::new_closure(py, None, None, f)"),
    ],
)
def test_control_a_call_is_found(advisory: str, code: str) -> None:
    assert calls(advisory, code)
