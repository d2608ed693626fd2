"""The folder of a crash says all that repeats it, and no secret."""

from __future__ import annotations

import os

import pytest
from tests.unit.fuzz.simulated import CRASH, SOURCE

from faultwire.errors import UsageError
from faultwire.fuzz.case import Case, Part, Step, Target
from faultwire.fuzz.repro import About, exec_command, read, write
from faultwire.fuzz.search import Found
from faultwire.profile.load import load

PARTS = (
    Part(SOURCE.target, "seen", '{"total": null}', (Step("null", 0, "null at $.total"),)),
    Part(Target("prompt", "1"), "given", "sk-secret?"),
)
ABOUT = About(7, 5.0, ("python", "a b.py", "{prompt}"), ("hi",), ("--mock",))


def found(case):
    return Found(CRASH, case, case, 3, 1, 1, 1)


def test_a_folder_holds_the_case_its_profile_and_its_prompt(tmp_path):
    case = Case(PARTS)
    for _ in range(2):
        assert write(tmp_path / "c", found(case), ABOUT, "printed", str)
    again = read(tmp_path / "c")
    assert (again.case, again.about, again.key) == (case, ABOUT, CRASH.key)
    assert len(load(tmp_path / "c" / "profile.yaml").entries) == 1
    assert (tmp_path / "c" / "prompt.txt").read_text() == "sk-secret?"
    assert os.access(tmp_path / "c" / "run.sh", os.X_OK)
    assert os.stat(tmp_path / "c").st_mode & 0o077 == 0
    assert "null at $.total" in (tmp_path / "c" / "README.md").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["c"], "no draft is left"


def test_a_case_with_a_secret_is_written_without_and_is_refused(tmp_path):
    def redact(text):
        return text.replace("sk-secret", "[key]")

    assert not write(tmp_path / "c", found(Case(PARTS)), ABOUT, redact("sk-secret"), redact)
    for path in (tmp_path / "c").iterdir():
        assert "sk-secret" not in path.read_text()
    with pytest.raises(UsageError, match="whose texts were redacted"):
        read(tmp_path / "c")
    assert write(tmp_path / "d", found(Case(PARTS[:1])), ABOUT, "", redact), "the control"


def test_a_folder_that_is_none_is_refused(tmp_path):
    for text in (None, "{", '{"format": "other"}', "[]"):
        if text is not None:
            (tmp_path / "case.json").write_text(text)
        with pytest.raises(UsageError, match="found no readable"):
            read(tmp_path)


def test_the_command_by_hand_gives_the_prompt_where_it_goes():
    assert exec_command("d", ABOUT) == (
        "faultwire exec --seed 7 --mock --profile d/profile.yaml -- python 'a b.py' \"$(cat d/prompt.txt)\""
    )
    stdin = About(7, 5.0, ("a",), ("hi",))
    assert exec_command("d", stdin).endswith("-- a < d/prompt.txt")
    assert exec_command("d", About(7, 5.0, None)).endswith("--profile d/profile.yaml -- COMMAND")
