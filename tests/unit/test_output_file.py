"""Files that a user orders are written in the working directory, and through no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from faultwire import output_file
from faultwire.errors import UsageError

Write = Callable[..., object]


def _create(path: Path, **how: bool) -> None:
    with output_file.create(path, **how) as file:
        file.write(b"new")


def _replace(path: Path, **how: bool) -> None:
    output_file.write_text(path, "new", **how)


WRITERS = pytest.mark.parametrize(
    "write", [_create, _replace, output_file.check, output_file.permitted], ids=lambda one: one.__name__
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    (place / "below").mkdir(parents=True)
    (tmp_path / "victim").write_text("kept")
    monkeypatch.chdir(place)
    return place


@WRITERS
def test_a_link_at_the_target_is_refused(write: Write, project: Path) -> None:
    for where in (Path("a.txt"), Path("below/a.txt"), project / "b.txt"):
        where.symlink_to(project.parent / "victim")
        with pytest.raises(UsageError) as refused:
            write(where)
        assert refused.value.code == "output.link"
        assert refused.value.hint
        assert (project.parent / "victim").read_text() == "kept"
        where.write_text("followed")  # the control: this is what a plain open does
        assert (project.parent / "victim").read_text() == "followed"
        (project.parent / "victim").write_text("kept")


@WRITERS
@pytest.mark.parametrize("where", ["out/a.txt", "out/deep/a.txt", "below/in/a.txt"])
def test_a_link_in_place_of_a_folder_is_refused(write: Write, where: str, project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    Path("out").symlink_to(elsewhere)
    Path("below/in").symlink_to(project)
    with pytest.raises(UsageError) as refused:
        write(Path(where))
    assert refused.value.code == "output.link"
    assert not [path for path in elsewhere.rglob("*") if path.is_file()]
    Path(where).write_text("followed")
    assert elsewhere.rglob("a.txt") if where.startswith("out") else project.rglob("a.txt"), "the control"


@WRITERS
@pytest.mark.parametrize("where", ["../a.txt", "../../a.txt", "below/../../a.txt", "/a.txt", "{}/a.txt"])
def test_a_place_outside_is_refused(write: Write, where: str, project: Path) -> None:
    with pytest.raises(UsageError) as refused:
        write(Path(where.format(project.parent)))
    assert refused.value.code == "output.outside"
    assert refused.value.hint == "add `--output-anywhere` to write it there"
    assert not (project.parent / "a.txt").exists()


@pytest.mark.parametrize("write", [_create, _replace])
def test_what_is_in_the_project_is_written(write: Write, project: Path) -> None:
    for number, where in enumerate(
        ("a{}", "below/a{}", "below/../b{}", f"{project}/c{{}}", "../project/d{}")
    ):
        path = Path(where.format(number))
        write(path)
        assert path.read_text() == "new"


@pytest.mark.parametrize("write", [_create, _replace])
def test_the_users_own_links_above_the_project_are_followed(
    write: Write, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.symlink_to(tmp_path)
    write(home / "project" / "a.txt")
    assert (project / "a.txt").read_text() == "new"
    monkeypatch.setenv("HOME", str(home))
    write(home / "b.txt", anywhere=True)
    assert (tmp_path / "b.txt").read_text() == "new"


def test_anywhere_still_follows_no_planted_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "planted").symlink_to(tmp_path / "real")
    (tmp_path / "target.txt").symlink_to(tmp_path / "victim")
    for where in (tmp_path / "planted" / "a.txt", tmp_path / "target.txt"):
        with pytest.raises(UsageError) as refused:
            _replace(where, anywhere=True)
        assert refused.value.code == "output.link"
    _replace(tmp_path / "real" / "a.txt", anywhere=True)
    _replace(Path("../b.txt"), anywhere=True)
    assert (tmp_path / "victim").read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"victim", "b.txt", "target.txt"}


def test_missing_folders_are_made_where_that_is_asked_for(project: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _create(Path("new/deep/a.txt"))
    _create(Path("new/deep/a.txt"), parents=True)
    assert Path("new/deep/a.txt").read_text() == "new"
    assert output_file.permitted(Path("not/there/a.txt")) == Path("not/there/a.txt")
    assert not Path("not").exists()


def test_a_new_file_is_never_written_over_and_half_a_one_is_removed(project: Path) -> None:
    _create(Path("a.txt"))
    with pytest.raises(FileExistsError):
        _create(Path("a.txt"))
    half = output_file.create(Path("b.txt"))
    half.__enter__().write(b"half")
    assert half.__exit__(KeyError, KeyError(), None) is False
    assert not Path("b.txt").exists()


def test_a_file_is_replaced_whole(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text("old")
    os.link("a.txt", "hard.txt")
    _replace(Path("a.txt"))
    assert (Path("a.txt").read_text(), Path("hard.txt").read_text()) == ("new", "old")
    with pytest.raises(UnicodeEncodeError):
        output_file.write_text(Path("a.txt"), "\ud800")
    assert Path("a.txt").read_text() == "new"
    assert sorted(os.listdir()) == ["a.txt", "below", "hard.txt"], "no draft is left"


def test_a_check_changes_nothing(project: Path) -> None:
    Path("a.txt").write_text("old")
    assert output_file.check(Path("a.txt")) == Path("a.txt")
    assert output_file.check(Path("b.txt")) == Path("b.txt")
    assert Path("a.txt").read_text() == "old"
    assert not Path("b.txt").exists()


@pytest.mark.parametrize("write", [_create, _replace, output_file.check])
def test_what_is_no_file_is_refused(write: Write, project: Path) -> None:
    os.mkfifo("pipe")
    for name, kind in (("below", "a folder"), ("pipe", "something else")):
        with pytest.raises(UsageError, match=f"found {kind} at `{name}`, expected a file"):
            write(Path(name))
    Path("file").write_text("")
    with pytest.raises(NotADirectoryError):
        write(Path("file/a.txt"))


def test_the_mode_is_the_one_that_is_asked_for(project: Path) -> None:
    with output_file.create(Path("a.txt"), mode=0o600):
        pass
    assert stat.S_IMODE(Path("a.txt").stat().st_mode) == 0o600


def test_a_folder_that_turns_into_a_link_is_not_followed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the opening: the kernel refuses it by `O_NOFOLLOW`."""
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    real = os.stat

    def swapped(path: str, **how: object) -> os.stat_result:
        found = real(path, **how)  # type: ignore[arg-type]
        if path == "below" and not Path("below").is_symlink():
            Path("below").rmdir()
            Path("below").symlink_to(elsewhere)
        return found

    monkeypatch.setattr("faultwire.output_file.os.stat", swapped)
    with pytest.raises(UsageError) as refused:
        _replace(Path("below/a.txt"))
    assert refused.value.code == "output.link"
    assert not list(elsewhere.iterdir())
