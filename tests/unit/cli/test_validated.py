"""What `validate` refuses before it runs anything, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.blame.test_planted import SURE, searched

from faultwire.blame.planted import Bars, Found
from faultwire.cli import main
from faultwire.cli._validated import Asked, report

ASKED = Asked(1, 42, 100, 60.0, False, True, True, "terminal", True)


def faultwire(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["validate", *arguments])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "true"], "expected --mock, --script or --live"),
        (["--mock"], "expected one after `--`"),
        (["--mock", "--cases", "0", "--", "true"], "--cases"),
        (["--mock", "--", "no-such-program-anywhere"], "no-such-program-anywhere"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = faultwire(*arguments)
    assert done.exit_code in (2, 127), done.output
    assert words in done.stderr
    assert not (tmp_path / ".faultwire" / "trials").exists()


def test_a_missed_bar_is_exit_1_with_check_only(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = Found("single"), Found("pair", cases=2, exact=1)
    good.add(SURE, searched(SURE))
    good.add_shrunk(SURE, frozenset({2}), 9)
    assert report([good], 80, Bars(), ASKED) == 0
    assert "below the bar" not in capsys.readouterr().out
    assert report([good, bad], 80, Bars(), ASKED) == 1
    assert "below the bar: pair: both were found in 1 of 2" in capsys.readouterr().out
    from dataclasses import replace

    assert report([good, bad], 80, Bars(), replace(ASKED, check=False)) == 0
    capsys.readouterr()
    assert report([good, bad], 80, Bars(), replace(ASKED, format_="json")) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["kinds"][0]["shrink_exact"], shown["missed"]) == (1, ["pair: both were found in 1 of 2"])
