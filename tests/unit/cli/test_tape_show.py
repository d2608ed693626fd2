"""faultwire.cli._tape_show, and `faultwire tape show` on what cannot be shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli._tape_show import ENDINGS
from faultwire.errors import TapeError
from faultwire.events import Exchange, Request, Response
from faultwire.tape.read import lazy_bodies
from faultwire.tape.record.writer import TapeWriter


@pytest.fixture
def tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "long.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    writer.open_session("s", profile="", profile_digest="", seed=1, agent="")
    request = Request("GET", "https", "shop.example", 443, "/", (), b"")
    recording = writer.record(Exchange("s", 1, request))
    recording.request(request)
    recording.upstream_head(Response(200, "", (("content-type", "text/plain"),)))
    recording.upstream_chunk(b"hello there")
    recording.end("complete", None, ())
    writer.close_session("s")
    writer.close()
    return path


def test_a_body_that_is_too_long_names_the_tape(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = CliRunner().invoke(main, ["tape", "show", "long.tape", "--exchange", "1"])
    assert shown.exit_code == 0, "the control"
    assert "hello there" in shown.stdout
    monkeypatch.setattr(lazy_bodies, "MAX_BODY", 4)
    done = CliRunner().invoke(main, ["tape", "show", "long.tape", "--exchange", "1"])
    assert done.exit_code == TapeError.exit_code
    assert "long.tape: tape.body_size: a body has 11 bytes, expected at most 4 to be read" in done.stderr


def test_errors_that_name_the_tape_name_it_once(tape: Path) -> None:
    done = CliRunner().invoke(main, ["tape", "show", str(tape), "--exchange", "2"])
    assert done.exit_code == TapeError.exit_code
    assert done.stderr.count("long.tape") == 1


def test_irregular_endings_have_words() -> None:
    assert {"cut", "reset", "refused"} <= ENDINGS.keys()
