"""The one form of notes, keys and checkpoints, to the last byte, and what is said of every other.

Covers faultwire.tape.evidence.signed_note and faultwire.tape.evidence.checkpoint.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from tests.unit.tape.evidence.resealed import label

from faultwire.errors import UsageError
from faultwire.tape.evidence import signed_note
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.signed_note import NoteError, SignerKey, VerifierKey

KEY, OTHER = SignerKey("example.com/log", bytes(range(32))), SignerKey("other", b"o" * 32)
ROOT = base64.b64encode(b"\1" * 32).decode()
HEX = "ab" * 32


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(NoteError) as error:
        action()
    return str(error.value)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# ---------------------------------------------------------------- keys

FORM = "a key is `NAME+ID+BASE64`"
NO_KEY = "the key is no Ed25519 key"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", FORM),
        ("a+b", FORM),
        ("+00000000+AQ==", FORM),
        (f"{'x' * 121}+00000000+AQ==", FORM),
        ("a\x7f+00000000+AQ==", FORM),
        ("\udcff+00000000+AQ==", FORM),
        ("a+00000000+?", "that is not base64"),
        ("a+00000000+ä", "that is not base64"),
        ("a+00000000+AR==", "that is not canonical base64"),
        ("a+00000000+AQ==", NO_KEY),
        (f"a+00000000+{b64(b'k' * 33)}", NO_KEY),
        (f"a+00000000+{b64(bytes([1]) + b'k' * 33)}", NO_KEY),
        (f"a+00000000+{b64(bytes([1]) + b'k' * 32)}", "the key id does not fit the key"),
    ],
    ids=label,
)
def test_the_error_of_a_text_that_is_no_key(text: str, message: str) -> None:
    assert refused(lambda: VerifierKey.parse(text)) == message
    assert refused(lambda: SignerKey.parse(f"PRIVATE+KEY+{text}")) == message
    assert refused(lambda: SignerKey.parse(text)) == "a signer key begins with `PRIVATE+KEY+`"


def test_keys_have_one_text() -> None:
    public = KEY.verifier
    assert str(public) == f"example.com/log+{public.id.hex()}+{b64(bytes([1]) + public.public)}"
    assert KEY.dump() == f"PRIVATE+KEY+example.com/log+{public.id.hex()}+{b64(bytes([1]) + KEY.seed)}"
    assert repr(KEY) == "SignerKey('example.com/log')"
    assert VerifierKey.parse(f" {public}\n") == public
    long = SignerKey("x" * 120, KEY.seed)
    assert (VerifierKey.parse(str(long.verifier)), SignerKey.parse(long.dump())) == (long.verifier, long)
    assert refused(lambda: SignerKey.parse(str(public))) == "a signer key begins with `PRIVATE+KEY+`"


def test_a_fresh_key_has_its_name_and_a_seed_of_its_own() -> None:
    one, two = SignerKey.fresh("x" * 120), SignerKey.fresh("x" * 120)
    assert one.name == "x" * 120
    assert one.seed != two.seed
    assert signed_note.parse(one.sign("a\n")).signed_by(one.verifier)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "x" * 121, "\udcff"], ids=label)
def test_the_error_of_a_name_that_no_key_has(name: str) -> None:
    with pytest.raises(UsageError) as error:
        SignerKey.fresh(name)
    assert error.value.message == (
        f"key name {name!r} is not allowed, expected 1 to 120 characters without spaces or `+`"
    )
    assert error.value.code == "keys.name"


# ---------------------------------------------------------------- notes

TEXT = "a note's text ends in a newline and has no empty line and no control character"
BETWEEN = "a note has an empty line between its text and its signatures"
LINE = "a signature is `— NAME BASE64` on a line of its own"


@pytest.mark.parametrize("text", ["", "x", "a\n\nb\n", "a\tb\n", "a\x1fb\n"], ids=label)
def test_the_error_of_a_text_that_no_note_can_hold(text: str) -> None:
    assert refused(lambda: KEY.sign(text)) == TEXT


def test_a_text_may_have_spaces_and_every_letter() -> None:
    note = KEY.sign("a b\nä\n")
    assert note.startswith("a b\nä\n\n— example.com/log ")
    assert signed_note.parse(note).signed_by(KEY.verifier)


def test_the_error_of_a_note_that_is_none() -> None:
    note = KEY.sign("one\n")
    line = note.split("\n\n")[1]
    for changed, message in (
        (note.replace("\n\n", "\n"), BETWEEN),
        (note[:-1], BETWEEN),
        ("", BETWEEN),
        (note.replace("one", "o\x01e"), TEXT),
        (f"one\n\ntwo\n\n{line}", TEXT),
        (note + "x\n", LINE),
        (f"{note}\n", BETWEEN),
        (note.replace("— ", "- "), LINE),
        (f"one\n\n— a {b64(bytes(4))}\n", "the signature has 4 bytes, expected an id of 4 and more"),
        ("one\n\n— a AAAAA\n", "that is not base64"),
        (note + line * 16, "the note has 17 signatures, expected at most 16"),
    ):
        assert refused(lambda changed=changed: signed_note.parse(changed)) == message
    assert len(signed_note.parse(note + line * 15).signatures) == 16


def test_a_note_of_the_longest_size_is_read_and_a_longer_one_is_not() -> None:
    room = signed_note.MAX_SIZE - len(KEY.sign("x\n")) + 1
    assert signed_note.MAX_SIZE == 65536
    longest = KEY.sign("x" * room + "\n")
    assert len(longest) == 65536
    assert signed_note.parse(longest).signed_by(KEY.verifier)
    longer = KEY.sign("x" * (room + 1) + "\n")
    said = "the note has 65537 characters, expected at most 65536"
    assert refused(lambda: signed_note.parse(longer)) == said


def test_a_signature_holds_under_its_name_its_id_and_its_key_only() -> None:
    text = "one\n"
    (name, key_id, signature), *_ = signed_note.parse(KEY.sign(text)).signatures
    assert (name, key_id, len(signature)) == (KEY.name, KEY.verifier.id, 64)

    def note(name: str, key_id: bytes, signature: bytes) -> signed_note.Note:
        return signed_note.parse(f"{text}\n— {name} {b64(key_id + signature)}\n")

    assert note(name, key_id, signature).signed_by(KEY.verifier)
    for changed in (
        note("another", key_id, signature),
        note(name, bytes(4), signature),
        note(name, key_id, bytes(64)),
        signed_note.parse(f"two\n\n— {name} {b64(key_id + signature)}\n"),
    ):
        assert not changed.signed_by(KEY.verifier)
    both = signed_note.parse(OTHER.sign(text) + KEY.sign(text).split("\n\n")[1])
    assert [both.signed_by(key.verifier) for key in (KEY, OTHER)] == [True, True]
    assert both.signers == [f"{key.name}+{key.verifier.id.hex()}" for key in (OTHER, KEY)]
    assert not VerifierKey("a", b"short").verifies(b"", signature)


def test_signatures_of_other_kinds_are_ignored_and_a_bad_one_of_a_known_key_is_not() -> None:
    note = KEY.sign("one\n")
    for size in (5, 67, 69, 76, 2432):
        other = signed_note.parse(f"{note}— another {b64(bytes(size))}\n")
        assert other.signed_by(KEY.verifier)
        assert not other.signed_by(OTHER.verifier)
    for size in (63, 64, 65):
        bad = f"— {KEY.name} {b64(KEY.verifier.id + bytes(size))}\n"
        assert not signed_note.parse(note + bad).signed_by(KEY.verifier)
        text, line = note.split("\n\n")
        assert not signed_note.parse(f"{text}\n\n{bad}{line}").signed_by(KEY.verifier)
    for name, key_id in ((KEY.name, bytes(4)), ("another", KEY.verifier.id)):
        shared = f"— {name} {b64(key_id + bytes(64))}\n"
        assert signed_note.parse(note + shared).signed_by(KEY.verifier), "it shares the name or the id only"


def test_a_key_of_another_kind_is_called_so() -> None:
    public = KEY.verifier.public
    data = b64(bytes([4]) + public)
    assert refused(lambda: VerifierKey.parse(f"w+00000000+{data}")) == (
        "it is a witness's key, expected a key that signs notes"
    )


# ---------------------------------------------------------------- checkpoints

BEGINS = "a checkpoint begins with origin, size and root, each on a line"
NOT_32 = "the root is not 32 bytes in canonical base64"
LINES = "the checkpoint has a line that no seal has"


@pytest.mark.parametrize(
    ("text", "point"),
    [
        (f"p/t\n0\n{ROOT}\n", Checkpoint("p/t", 0, b"\1" * 32)),
        (f"p\n{'9' * 16}\n{ROOT}\n", Checkpoint("p", 10**16 - 1, b"\1" * 32)),
        (f"p\n1\n{ROOT}\nprevious sha256:{HEX}\n", Checkpoint("p", 1, b"\1" * 32, HEX)),
        (f"p\n1\n{ROOT}\nfile sha256:{HEX} 7\n", Checkpoint("p", 1, b"\1" * 32, None, (HEX, 7))),
        (
            f"p\n1\n{ROOT}\nprevious sha256:{HEX}\nfile sha256:{'cd' * 32} {'9' * 19}\n",
            Checkpoint("p", 1, b"\1" * 32, HEX, ("cd" * 32, 10**19 - 1)),
        ),
    ],
    ids=label,
)
def test_a_checkpoint_has_one_text(text: str, point: Checkpoint) -> None:
    assert point.text() == text
    assert Checkpoint.parse(text) == point


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", BEGINS),
        ("p\n1\n", BEGINS),
        (f"\n1\n{ROOT}\n", BEGINS),
        (f"p\n01\n{ROOT}\n", BEGINS),
        (f"p\n-1\n{ROOT}\n", BEGINS),
        (f"p\n{'9' * 17}\n{ROOT}\n", BEGINS),
        ("p\n1\n?\n", "the root is not base64"),
        ("p\n1\nä\n", "the root is not base64"),
        (f"p\n1\n{b64(bytes(31))}\n", NOT_32),
        (f"p\n1\n{b64(bytes(33))}\n", NOT_32),
        (f"p\n1\n{ROOT[:-2]}F=\n", NOT_32),
        (f"p\n1\n{ROOT}\n\n", LINES),
        (f"p\n1\n{ROOT}\nmore\n", LINES),
        (f"p\n1\n{ROOT}\nprevious sha256:{HEX.upper()}\n", LINES),
        (f"p\n1\n{ROOT}\nprevious sha256:{HEX}\nprevious sha256:{HEX}\n", LINES),
        (f"p\n1\n{ROOT}\nfile sha256:{HEX} 07\n", LINES),
        (f"p\n1\n{ROOT}\nfile sha256:{HEX} 0\n", LINES),
        (f"p\n1\n{ROOT}\nfile sha256:{HEX} 1{'0' * 19}\n", LINES),
        (f"p\n1\n{ROOT}\nfile sha256:{HEX} 7\nprevious sha256:{HEX}\n", LINES),
        (f"p\n1\n{ROOT}\nfile sha256:{HEX} 7\nmore\n", LINES),
    ],
    ids=label,
)
def test_the_error_of_a_checkpoint_that_is_none(text: str, message: str) -> None:
    assert refused(lambda: Checkpoint.parse(text)) == message
