"""The options of commands that play a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.cli._play import _target
from faultwire.cli._play_options import Play
from faultwire.contract.statistics import MOST_RUNS, Until
from faultwire.errors import UsageError


def options(**changes: Any) -> Play:
    given: dict[str, Any] = {
        "config": Path("faultwire.yaml"), "seed": None, "repeat": None, "until": None, "most": None,
        "concurrency": None, "min_score": None, "allow_unknown": False, "baseline": None, "output": None,
        "quiet": False, "format_": "terminal",
    }  # fmt: skip
    return Play(**given | changes)


def test_until_names_two_rates() -> None:
    assert options(until="0.5:0.9").sequential() == Until(0.5, 0.9, most=MOST_RUNS)
    assert options(until="0.2:0.8", most=9).sequential() == Until(0.2, 0.8, most=9)
    assert options().sequential() is None


@pytest.mark.parametrize("text", ["", ":", "0.5", "0.9:0.5", "a:b", "0.5:", "0:1", "nan:0.9", "0.5:0.9:1"])
def test_anything_else_is_told(text: str) -> None:
    with pytest.raises(UsageError):
        options(until=text).sequential()


def test_most_alone_means_nothing() -> None:
    with pytest.raises(UsageError, match="--until"):
        options(most=5).sequential()


@pytest.mark.parametrize("word", ["html", "json", "junit", "md", "terminal"])
def test_a_format_is_no_path(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="folder or a file"):
        _target(options(output=Path(word)))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / word).mkdir()
    assert _target(options(output=Path(word))) == (Path(word) / "report.html", "html")


def test_options_change_the_file(tmp_path: Path) -> None:
    file = tmp_path / "faultwire.yaml"
    file.write_text(
        'version: "2.0"\nagent: {type: command, command: [x, "{prompt}"]}\ngolden_prompts: [hi]\n'
        "invariants: [{type: completes}]\nadvanced: {seed: 1, concurrency: 2}\n"
    )
    assert (options(config=file).load().seed, options(config=file).load().advanced.concurrency) == (1, 2)
    changed = options(config=file, seed=5, repeat=3, concurrency=9).load().advanced
    assert (changed.seed, changed.repeat, changed.concurrency) == (5, 3, 9)
