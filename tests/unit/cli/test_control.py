"""The options of `faultwire control`, before any proxy is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli.control import _line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--header", "x-tier"), "expected `NAME=GLOB`"),
        (("--abort-cost", "cheap"), "expected dollars"),
        (("--abort-cost", "NaN"), "expected dollars"),
        (("--abort-cost", "-1"), "expected dollars"),
        (("--share", "0"), "--share"),
        (("--share", "1.1"), "--share"),
        (("--for", "0"), "--for"),
        (("--abort-error-rate", "1"), "--abort-error-rate"),
    ],
)
def test_bad_values_are_refused(words: tuple[str, ...], told: str) -> None:
    done = CliRunner().invoke(main, ["control", "arm", "--fault", "status: {code: 503}", *words])
    assert done.exit_code == 2
    assert told in done.output


def test_a_fault_that_there_is_not_is_refused_before_a_proxy_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["control", "arm", "--fault", "statuss: {code: 503}"])
    assert "did you mean `status`?" in done.stderr
    assert "running" not in done.stderr


ONE = {
    "id": "a1",
    "state": "armed",
    "why": None,
    "faults": ["a1/status"],
    "fired": 2,
    "touched": 1,
    "seen": 9,
    "left_s": 12.2,
}


def test_a_line_says_what_is_armed_and_what_it_did() -> None:
    assert _line(ONE) == "a1 (status) armed, 12 s left; fired on 2 calls, touched 1 of 9 sessions"
    over = {**ONE, "state": "disarmed", "why": "enough \x1b[31m"}
    assert _line(over).startswith("a1 (status) disarmed: enough \\x1b[31m; fired on")
    assert _line({"id": "a1", "why": "it was forgotten"}) == "a1 disarmed: it was forgotten"
