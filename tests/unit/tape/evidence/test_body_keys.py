"""Keys are kept whole and private; one that was destroyed is gone, with a record that nobody can forge."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faultwire.errors import TapeError, TapeIncomplete
from faultwire.tape.evidence import body_keys
from faultwire.tape.evidence.body_keys import BodyKeys, Shredded
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.signed_note import SignerKey

RECORD = Shredded("s1", 1_700_000_000_000, "ann", "request 17")


@pytest.fixture
def keys(tmp_path: Path) -> BodyKeys:
    return BodyKeys(tmp_path / "keys")


@pytest.fixture
def signer(keys: BodyKeys) -> SignerKey:
    return KeyRing(keys.folder).signer_or_new("shop")


def test_each_session_s_key_is_its_own_and_no_file_holds_one_in_the_clear(keys: BodyKeys) -> None:
    (one, first), (two, second) = keys.fresh("s1"), keys.fresh("s1")
    assert (one != two, first != second, len(first)) == (True, True, 32)
    assert (keys.key(one), keys.key(two)) == (first, second)
    for path in keys.folder.rglob("*"):
        if path.is_file():
            assert path.stat().st_mode & 0o777 == 0o600
            data = path.read_bytes()
            assert first not in data
            assert first.hex().encode() not in data
    assert keys.place(one).parent.stat().st_mode & 0o777 == 0o700


def test_a_key_that_is_not_here_is_an_error_that_says_encrypted(keys: BodyKeys) -> None:
    key_id, _ = keys.fresh("s1")
    keys.place(key_id).unlink()
    with pytest.raises(TapeIncomplete, match="is encrypted") as raised:
        keys.key(key_id)
    assert raised.value.code == "tape.body_encrypted"


def test_another_wrapping_key_opens_nothing(keys: BodyKeys) -> None:
    key_id, _ = keys.fresh("s1")
    for text in ("00" * 32, "00" * 16, "no key"):
        keys.wrapping.write_text(text)
        with pytest.raises(TapeError) as raised:
            keys.key(key_id)
        assert raised.value.code == "keys.unreadable"


@pytest.mark.parametrize("text", ["", "{}", '{"wrapped": 5}', '{"wrapped": "AA=="}', "[]"])
def test_a_key_file_of_another_shape_opens_nothing(keys: BodyKeys, text: str) -> None:
    key_id, _ = keys.fresh("s1")
    keys.place(key_id).write_text(text)
    with pytest.raises(TapeError):
        keys.key(key_id)


def test_a_key_that_others_may_read_is_refused(keys: BodyKeys) -> None:
    key_id, _ = keys.fresh("s1")
    keys.wrapping.chmod(0o640)
    with pytest.raises(TapeError, match="expected 600"):
        keys.key(key_id)


def test_a_shredded_key_is_gone_and_its_record_says_why(keys: BodyKeys, signer: SignerKey) -> None:
    key_id, _ = keys.fresh("s1")
    other, kept = keys.fresh("s2")
    wrapped = keys.place(key_id).read_bytes()
    with keys.place(key_id).open("rb") as before:
        keys.shred(key_id, RECORD, signer)
        assert set(before.read()) == {0}, "its bytes are overwritten"
    assert keys.shredded(key_id) == RECORD
    with pytest.raises(TapeIncomplete, match="by ann: request 17") as raised:
        keys.key(key_id)
    assert raised.value.code == "tape.body_shredded"
    assert keys.key(other) == kept
    assert all(wrapped not in path.read_bytes() for path in keys.folder.rglob("*") if path.is_file())


def test_what_was_never_here_is_not_said_to_be_shredded(keys: BodyKeys, signer: SignerKey) -> None:
    with pytest.raises(TapeIncomplete, match="is encrypted"):
        keys.shred("ab" * 16, RECORD, signer)
    assert keys.shredded("ab" * 16) is None


@pytest.mark.parametrize("at", ["draft", "destroyed"])
def test_a_shredding_that_was_killed_is_finished_by_the_next(
    keys: BodyKeys, signer: SignerKey, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    key_id, _ = keys.fresh("s1")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    if at == "draft":
        monkeypatch.setattr(BodyKeys, "_destroy", killed)
    else:
        monkeypatch.setattr(body_keys.os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        keys.shred(key_id, RECORD, signer)
    monkeypatch.undo()
    assert keys.has(key_id) is (at == "draft")
    assert keys.shredded(key_id) is None, "nothing is claimed before it is so"
    keys.shred(key_id, RECORD, signer)
    assert (keys.has(key_id), keys.shredded(key_id)) == (False, RECORD)


def test_a_record_by_a_key_that_is_not_trusted_says_nothing(keys: BodyKeys, signer: SignerKey) -> None:
    key_id, _ = keys.fresh("s1")
    keys.shred(key_id, RECORD, SignerKey.fresh("stranger"))
    assert keys.shredded(key_id) is None
    with pytest.raises(TapeIncomplete, match="is encrypted"):
        keys.key(key_id)


def test_a_record_that_was_bent_or_is_another_key_s_says_nothing(keys: BodyKeys, signer: SignerKey) -> None:
    (one, _), (two, _) = keys.fresh("s1"), keys.fresh("s2")
    keys.shred(one, RECORD, signer)
    text = keys.place(one, "shredded").read_text()
    keys.place(two).unlink()
    for changed in (text.replace("ann", "bob"), text, "", "x"):
        keys.place(two, "shredded").write_text(changed)
        os.chmod(keys.place(two, "shredded"), 0o600)
        assert keys.shredded(two) is None
    assert keys.shredded("../" + one) is None
