"""Files of commands, read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.workbench import written
from faultwire.workbench.written import Shape, Words, read


class Small(Shape):
    runs: int


class Spoken(Shape):
    text: str


def test_a_file_of_its_shape_is_read_and_what_a_later_release_adds_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"runs": 3, "added": {"later": true}}')
    assert read(tmp_path / "x.json", Small, "explore").runs == 3


def test_half_of_a_surrogate_pair_is_no_reason_to_refuse_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"runs": 3, "text": "\\ud800"}')
    assert read(tmp_path / "x.json", Small, "explore").runs == 3
    (tmp_path / "x.json").write_text('{"text": "a\\ud800b"}')
    assert read(tmp_path / "x.json", Spoken, "explore").text == "a\ufffdb"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"runs": "many"}', "{}", "[" * 100_000])
def test_a_file_of_another_shape_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UsageError, match=r"x\.json.*expected what `faultwire explore` writes") as found:
        read(tmp_path / "x.json", Small, "explore")
    assert found.value.code == "ui.analysis"


def test_a_file_that_is_too_long_or_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(UsageError):
        read(path, Small, "explore")
    path.write_text('{"runs": 3}')
    monkeypatch.setattr(written, "LARGEST", 10)
    with pytest.raises(UsageError):
        read(path, Small, "explore")


def test_texts_are_inert_short_and_without_secrets() -> None:
    words = Words()
    secret = "sk-proj-" + "A1b2C3d4E5" * 5
    assert secret not in words.line(f"the key is {secret}")
    assert "\x1b" not in words.line("\x1b[31mred")
    assert "\u202e" not in words.text("\u202etxt.exe\nnext")
    assert words.text("one\ntwo") == "one\ntwo"
    assert len(words.line("x" * 10_000)) < 600
