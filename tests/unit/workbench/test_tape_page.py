import re
import sqlite3
from pathlib import Path

import pytest
from tests.unit.report.hostile import EVERY
from tests.unit.workbench.conftest import Deck, answered, asked

from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench import tape_page as page


def made(path: Path) -> page.TapePage:
    with TapeReader.open(path) as reader:
        return page.tape_page(reader, verify(path))


def bend(path: Path, seq: int) -> None:
    path.chmod(0o600)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET record = CAST(record || ' ' AS BLOB) WHERE seq = ?", (seq,))


def test_what_a_sound_tape_shows(tape: Path) -> None:
    done = made(tape)
    assert done.stopped is None
    assert "✓ verifies" in done.text
    assert len(re.findall(r'<details class="ex"', done.text)) == 4
    assert "the server sent 2 events, the agent got 1" in done.text


def test_it_has_no_script_and_names_nothing_to_load(deck: Deck) -> None:
    for text in EVERY:
        deck.exchange(asked(text), answered(text))
    text = made(deck.close()).text
    assert re.findall(r"<(script|img|iframe|link|base|object|form)", text) == []
    assert re.findall(r'\b(?:src|href)="(?!#)', text) == []
    assert "default-src 'none'" in text


def test_a_tampered_tape_says_so_and_shows_what_comes_before(tape: Path) -> None:
    bend(tape, 6)
    done = made(tape)
    assert "✗ does not verify" in done.text
    assert "hash_mismatch" in done.text
    assert done.stopped is not None
    assert "Reading stopped here" in done.text


def test_a_sound_tape_never_says_that_reading_stopped(tape: Path) -> None:
    assert "Reading stopped here" not in made(tape).text


def test_a_large_tape_is_shown_in_short_and_then_counted(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(8):
        deck.exchange()
    monkeypatch.setattr(page, "FULL", 5_000)
    monkeypatch.setattr(page, "ALL", 7_000)
    text = made(deck.close()).text
    full, short = len(re.findall('<details class="ex"', text)), len(re.findall('<div class="row"', text))
    assert full >= 1
    assert short >= 1
    assert f"… {8 - full - short} more exchanges did not fit" in text


def test_a_small_one_is_shown_whole(tape: Path) -> None:
    assert "did not fit" not in made(tape).text
