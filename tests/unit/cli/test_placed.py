"""Tapes stay in the working directory unless it is asked otherwise."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from faultwire.cli._placed import anywhere_option, placed
from faultwire.cli.tape_keep import target_of
from faultwire.errors import UsageError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    (place / "below").mkdir(parents=True)
    (place / "link").symlink_to(tmp_path)
    monkeypatch.chdir(place)
    return place


def test_a_place_in_the_project_is_taken_as_it_is(project: Path) -> None:
    for path in (
        Path("t.tape"),
        Path("below/t.tape"),
        Path("below/../t.tape"),
        project / "t.tape",
        Path("t"),
    ):
        assert placed(path) == path


@pytest.mark.parametrize("path", ["../evil.tape", "../../evil", "link/evil.tape", "/tmp/evil.tape"])
def test_a_place_outside_is_refused(path: str, project: Path) -> None:
    with pytest.raises(UsageError) as refused:
        placed(Path(path))
    by_link = path.startswith("link")
    assert refused.value.code == ("output.link" if by_link else "output.outside")
    assert by_link or "--output-anywhere" in (refused.value.hint or "")
    with pytest.raises(UsageError):
        target_of(path if path.endswith(".tape") else f"{path}.tape")


@pytest.mark.parametrize(("flags", "code"), [([], 1), (["--output-anywhere"], 0)])
def test_it_can_be_asked_for(flags: list[str], code: int, project: Path) -> None:
    @click.command()
    @anywhere_option()
    def command() -> None:
        click.echo(placed(Path("../evil.tape")))

    done = CliRunner().invoke(command, flags)
    assert done.exit_code == code
    assert (done.output == "../evil.tape\n") is (code == 0)
