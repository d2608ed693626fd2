from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.runner.hosts import allowed
from faultwire.runner.launch import LaunchSettings, fresh_tape, start_run


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((), ()),
        (("example.test",), ("example.test",)),
        (("localhost",), ("localhost", "127.0.0.1", "::1")),
        (("127.0.0.1:11434",), ("localhost:11434", "127.0.0.1:11434", "::1:11434")),
        (("[::1]:80",), ("localhost:80", "127.0.0.1:80", "::1:80")),
        (("::1",), ("localhost", "127.0.0.1", "::1")),
        (("10.0.0.7:8080", "*.internal"), ("10.0.0.7:8080", "*.internal")),
        (("fd00::7",), ("fd00::7",)),
        (("LOCALHOST", "localhost"), ("localhost", "127.0.0.1", "::1")),
    ],
)
def test_allowing_this_machine_allows_all_its_names(given: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    assert allowed(given) == wanted


def test_a_bare_name_is_a_tape_below_tapes_and_a_path_is_itself(tmp_path: Path) -> None:
    base = tmp_path / ".faultwire"
    assert fresh_tape(Path("first"), base) == base / "tapes" / "first.tape"
    assert fresh_tape(tmp_path / "x.tape", base) == tmp_path / "x.tape"
    assert fresh_tape(Path("x.tape"), base) == Path("x.tape")


def test_a_tape_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "x.tape").write_text("evidence")
    with pytest.raises(UsageError) as caught:
        fresh_tape(tmp_path / "x.tape", tmp_path)
    assert caught.value.code == "tape.exists"
    with pytest.raises(UsageError) as caught:
        fresh_tape(tmp_path / "nowhere" / "x.tape", tmp_path)
    assert caught.value.code == "tape.no_folder"


@pytest.mark.parametrize("field", ["upstream_ca", "script"])
def test_a_missing_file_is_reported_and_leaves_no_run(tmp_path: Path, field: str) -> None:
    base = tmp_path / ".faultwire"
    settings = LaunchSettings("exec", base=base, mock=field == "script", **{field: tmp_path / "absent"})
    with pytest.raises(UsageError) as caught, start_run(settings):
        raise AssertionError("it must not start")
    assert caught.value.code == "usage.file"
    assert list((base / "runs").iterdir()) == []


def test_exceptions_to_a_mock_that_is_not_there_are_refused(tmp_path: Path) -> None:
    settings = LaunchSettings("exec", base=tmp_path, mock_except=("a.example",))
    with pytest.raises(UsageError) as caught, start_run(settings):
        raise AssertionError("it must not start")
    assert caught.value.code == "usage.mock_except"


class Pressed(Mapping[str, str]):
    """Settings during whose reading somebody presses Ctrl-C."""

    def __getitem__(self, key: str) -> str:
        raise KeyboardInterrupt

    def __iter__(self) -> Iterator[str]:
        raise KeyboardInterrupt

    def __len__(self) -> int:
        return 1


def test_a_run_that_is_interrupted_while_it_starts_is_not_running_for_ever(tmp_path: Path) -> None:
    settings = LaunchSettings("run", base=tmp_path, reverse=Pressed())
    with pytest.raises(KeyboardInterrupt), start_run(settings):
        raise AssertionError("it must not start")
    (folder,) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "interrupted"
