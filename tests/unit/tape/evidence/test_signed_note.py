"""Signed notes and checkpoints: one spelling each, and no signature that does not hold."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from faultwire.errors import UsageError
from faultwire.tape.evidence.checkpoint import Checkpoint, note_digest
from faultwire.tape.evidence.signed_note import NoteError, SignerKey, VerifierKey, parse

SEED = bytes(range(32))
KEY = SignerKey("example.com/log", SEED)
POINT = Checkpoint("p/t", 3, b"\1" * 32)


def test_a_note_is_read_back_and_its_signature_holds() -> None:
    note = KEY.sign("one\ntwo\n")
    assert note.startswith("one\ntwo\n\n— example.com/log ")
    found = parse(note)
    assert found.text == "one\ntwo\n"
    assert found.signed_by(KEY.verifier)
    assert not found.signed_by(SignerKey("example.com/log", b"x" * 32).verifier)
    assert not found.signed_by(VerifierKey("other", KEY.verifier.public))


def test_the_key_id_is_what_c2sp_says() -> None:
    key = KEY.verifier
    assert key.id == sha256(b"example.com/log\n\x01" + key.public).digest()[:4]
    assert VerifierKey.parse(str(key)) == key
    assert SignerKey.parse(KEY.dump()) == KEY
    assert base64.b64encode(SEED).decode()[4:20] not in repr(KEY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a+b",
        "a+00000000+AQ==",
        "+00000000+" + base64.b64encode(b"\1" + b"k" * 32).decode(),
        "a+00000000+" + base64.b64encode(b"\1" + b"k" * 32).decode(),  # another key's id
        "a b+00000000+" + base64.b64encode(b"\1" + b"k" * 32).decode(),
        str(KEY.verifier).replace("AQ", "Ag", 1),
    ],
)
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(NoteError):
        VerifierKey.parse(text)
    with pytest.raises(NoteError):
        SignerKey.parse(text)


@pytest.mark.parametrize(
    "public",
    [
        b"\2" + bytes(31),  # on no curve
        b"\xee" + b"\xff" * 30 + b"\x7f",  # 1 beyond the field: the neutral point, written another way
        b"\1" + bytes(30) + b"\x80",  # the neutral point with a sign
    ],
)
def test_a_key_that_is_no_point(public: bytes) -> None:
    with pytest.raises(NoteError, match=r"^no key of Ed25519 has these bytes$"):
        VerifierKey.parse(str(VerifierKey("a", public)))


@pytest.mark.parametrize("public", [bytes(32), b"\x01" + bytes(31), bytes(31) + b"\x80"], ids=bytes.hex)
def test_a_key_under_which_everybody_can_sign_is_refused_for_that(public: bytes) -> None:
    with pytest.raises(NoteError) as refused:
        VerifierKey.parse(str(VerifierKey("k", public)))
    assert str(refused.value) == "everybody can sign under this key: its point has a small order"


def test_a_signer_key_that_does_not_fit_its_id_is_refused_without_being_quoted() -> None:
    text = KEY.dump().replace(KEY.verifier.id.hex(), "00000000")
    with pytest.raises(NoteError) as error:
        SignerKey.parse(text)
    assert base64.b64encode(b"\1" + SEED).decode() not in str(error.value)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\n", "x" * 121])
def test_a_name_that_no_key_has(name: str) -> None:
    with pytest.raises(UsageError):
        SignerKey.fresh(name)


@pytest.mark.parametrize(
    "change",
    [
        lambda note: note.replace("\n\n", "\n"),
        lambda note: note[:-1],
        lambda note: note.replace("— ", "- "),
        lambda note: note + "x\n",
        lambda note: note.replace("one", "o\x01e"),
        lambda note: note.replace("one\n", "one\n\n", 1),
        lambda note: note[:-2] + "\n",
        lambda note: note + note.split("\n\n")[1] * 16,
        lambda note: "x" * 70_000 + note,
    ],
)
def test_what_is_no_note(change) -> None:
    note = KEY.sign("one\ntwo\n")
    assert parse(note)
    with pytest.raises(NoteError):
        parse(change(note))


@pytest.mark.parametrize("text", ["", "x", "a\n\nb\n", "a\tb\n"])
def test_a_text_that_no_note_can_hold_is_not_signed(text: str) -> None:
    with pytest.raises(NoteError):
        KEY.sign(text)


@pytest.mark.parametrize(
    "point",
    [
        POINT,
        Checkpoint("p/t", 0, b"\0" * 32, previous="ab" * 32),
        Checkpoint("p/t", 3, b"\1" * 32, file=("cd" * 32, 17)),
        Checkpoint("p/t", 3, b"\1" * 32, previous="ab" * 32, file=("cd" * 32, 17)),
    ],
)
def test_a_checkpoint_is_read_back(point: Checkpoint) -> None:
    assert Checkpoint.parse(point.text()) == point
    assert note_digest(KEY.sign(point.text())) == sha256(KEY.sign(point.text()).encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text.replace("\n3\n", "\n03\n"),
        lambda text: text.replace("\n3\n", "\n-3\n"),
        lambda text: text.replace("\n3\n", "\n3.0\n"),
        lambda text: text.replace("p/t", ""),
        lambda text: text.replace("AQEB", "AQ=B"),
        lambda text: text[:-2] + "\n",
        lambda text: text + "something else\n",
        lambda text: text + "previous sha256:AB\n",
        lambda text: text + f"file sha256:{'ab' * 32} 0\n",
        lambda text: text + f"file sha256:{'ab' * 32} 9\nprevious sha256:{'ab' * 32}\n",
    ],
)
def test_what_is_no_checkpoint(change) -> None:
    with pytest.raises(NoteError):
        Checkpoint.parse(change(POINT.text()))
