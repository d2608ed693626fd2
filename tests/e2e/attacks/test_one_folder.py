"""Engines that start in one new folder share its keys: of two programs that found none, one's key stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.tape.evidence import keyring
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.record.writer import TapeWriter


class Slow(KeyRing):
    """A program that looked for the key before the other one had made it."""

    def signer(self) -> SignerKey | None:
        if not hasattr(Slow, "looked"):
            Slow.looked = True  # type: ignore[attr-defined]
            return None
        return super().signer()


@pytest.fixture(autouse=True)
def unlooked() -> None:
    if hasattr(Slow, "looked"):
        del Slow.looked


def sealed(path: Path, key: SignerKey) -> Path:
    writer = TapeWriter.create(path, origin="p/t", settings={}, signer=key)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    writer.close_session("s")
    writer.close()
    return path


def both(folder: Path) -> list[bool]:
    """Two programs that find no key; whether the keys of the folder vouch for the tape of each."""
    first = KeyRing(folder / "keys").signer_or_new("p")
    second = Slow(folder / "keys").signer_or_new("p")
    tapes = [sealed(folder / "1.tape", first), sealed(folder / "2.tape", second)]
    trusted = KeyRing(folder / "keys").trusted()
    return [verify(tape, trusted, demanded=True).ok for tape in tapes]


def test_a_program_that_found_no_key_takes_the_one_that_was_made_meanwhile(tmp_path: Path) -> None:
    assert both(tmp_path) == [True, True]


def test_where_it_would_write_its_own_over_it_nobody_vouches_for_the_first_tape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = keyring._write
    monkeypatch.setattr(
        keyring, "_write", lambda path, text, mode, **how: write(path, text, mode, **{**how, "replace": True})
    )
    assert both(tmp_path) == [False, True]
