"""`faultwire tape report`: files and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.workbench.conftest import Deck, deck_at
from tests.unit.workbench.test_tape_page import bend

from faultwire.cli import main
from faultwire.cli.tape_page import verified


@pytest.fixture
def deck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deck:
    monkeypatch.chdir(tmp_path)
    made = deck_at(tmp_path / "t.tape")
    made.exchange()
    made.cut()
    return made


def faultwire(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_sound_tape_exits_0_and_is_named_after_the_tape(deck: Deck) -> None:
    deck.close()
    done = faultwire("tape", "report", "./t.tape")
    assert (done.exit_code, done.stdout) == (0, "t.html\n")
    assert verified(deck.path).ok
    assert "✓ verifies" in Path("t.html").read_text()


def test_one_that_does_not_verify_exits_1_and_its_page_is_written(deck: Deck) -> None:
    bend(deck.close(), 5)
    done = faultwire("tape", "report", "./t.tape", "-o", "x.html")
    assert done.exit_code == 1
    assert "the tape does not verify" in done.stderr
    assert "does not verify" in Path("x.html").read_text()


def test_one_of_another_version_exits_3(deck: Deck) -> None:
    import sqlite3

    path = deck.close()
    path.chmod(0o600)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    done = faultwire("tape", "report", "./t.tape")
    assert done.exit_code == 3
    assert "tape.version" in done.stderr
    assert not Path("t.html").exists()


def test_one_that_was_cut_off_is_named(deck: Deck) -> None:
    path = deck.close()
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    done = faultwire("tape", "report", "./t.tape")
    assert done.exit_code in (1, 3)
    assert "tape" in done.stderr


def test_a_tape_that_is_not_there_and_a_wrong_ending_exit_2(deck: Deck) -> None:
    deck.close()
    assert faultwire("tape", "report", "nowhere").exit_code == 2
    done = faultwire("tape", "report", "./t.tape", "-o", "x.pdf")
    assert done.exit_code == 2
    assert "expected `.html`" in done.stderr
