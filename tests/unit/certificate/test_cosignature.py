"""What a witness cosigns, and what it refuses with which status."""

from __future__ import annotations

import base64

import pytest
from tests.unit.certificate.witnessed_log import LOG, OTHER, leaves, request, text

from faultwire import _core
from faultwire.certificate.cosignature import (
    EMPTY,
    MAX_TIME,
    Asked,
    RefusedError,
    Seen,
    WitnessKey,
    cosign,
    judged,
)
from faultwire.tape.evidence.signed_note import NoteError, SignerKey, parse

KEYS = {LOG.name: LOG.verifier}
WITNESS = SignerKey("witness.example/w1", b"\x09" * 32)


def seen(size: int, fork: str = "") -> Seen:
    return Seen(size, _core.merkle_root(leaves(size, fork))) if size else EMPTY


def judge(body: str, known: Seen) -> Seen:
    return judged(Asked.parse(body.encode()), KEYS, known)


@pytest.mark.parametrize(("old", "size"), [(0, 0), (0, 1), (0, 7), (1, 2), (3, 7), (7, 7), (8, 100)])
def test_a_tree_that_grew_out_of_the_last_one_is_accepted(old: int, size: int) -> None:
    assert judge(request(old, size), seen(old)) == seen(size)


@pytest.mark.parametrize(
    ("body", "known", "status"),
    [
        (request(3, 7, origin="logs.example/none"), seen(3), 404),
        (request(3, 7, signer=OTHER), seen(3), 403),
        (request(8, 7), seen(8), 400),
        (request(0, 7), seen(3), 409),
        (request(3, 7), seen(5), 409),
        (request(7, 7, "fork"), seen(7), 409),
        (request(5, 7, "fork"), seen(5), 422),
        (request(3, 7).replace("\n\n", f"\n{base64.b64encode(bytes(32)).decode()}\n\n", 1), seen(3), 422),
        (request(0, 7).replace("old 0\n", f"old 0\n{base64.b64encode(bytes(32)).decode()}\n"), EMPTY, 422),
        (request(0, 0).replace("old 0\n", f"old 0\n{base64.b64encode(bytes(32)).decode()}\n"), EMPTY, 422),
    ],
    ids=[
        "origin", "signer", "old_larger", "old_zero", "old_other", "root_of_one_size", "fork", "proof_longer",
        "proof_at_first", "proof_of_nothing",
    ],
)  # fmt: skip
def test_what_does_not_go_on_from_the_last_tree_is_refused(body: str, known: Seen, status: int) -> None:
    with pytest.raises(RefusedError) as caught:
        judge(body, known)
    assert caught.value.status == status
    if status == 409:
        assert caught.value.text == f"{known.size}\n"


def test_each_byte_of_a_request_matters() -> None:
    body = request(3, 7).encode()
    for at in range(len(body)):
        bent = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        with pytest.raises(RefusedError):
            judged(Asked.parse(bent), KEYS, seen(3))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"old 03\n\n" + request(0, 7).encode().partition(b"\n\n")[2],
        b"old -1\n\n" + request(0, 7).encode().partition(b"\n\n")[2],
        b"old 99999999999999999999\n\n" + request(0, 7).encode().partition(b"\n\n")[2],
        b"old 3\n" + (base64.b64encode(bytes(32)) + b"\n") * 64 + b"\n" + request(0, 7).encode()[7:],
        b"old 3\nAAAA\n\n" + request(0, 7).encode()[7:],
        request(0, 7).encode().replace(b"\n7\n", b"\n07\n"),
        request(0, 7).encode()[:-1],
    ],
    ids=["empty", "no_text", "zero", "sign", "large", "proof", "hash", "size", "end"],
)
def test_what_is_no_request_is_refused_as_such(body: bytes) -> None:
    with pytest.raises(RefusedError) as caught:
        Asked.parse(body)
    assert caught.value.status == 400


def test_signatures_of_other_kinds_and_lines_of_extension_are_allowed() -> None:
    note = LOG.sign(text(7) + "an extension\n")
    body = f"old 0\n\n{note}{cosign(WITNESS, text(7), 1)}"
    assert judge(body, EMPTY) == seen(7)


def test_a_cosignature_holds_for_its_text_its_time_and_its_key() -> None:
    key, line = WitnessKey.of(WITNESS), cosign(WITNESS, text(7), 1_679_315_147)
    assert key.cosigned(text(7), line) == 1_679_315_147
    assert key.cosigned(text(7, "fork"), line) is None
    assert WitnessKey.of(SignerKey("witness.example/w2", b"\x09" * 32)).cosigned(text(7), line) is None
    assert WitnessKey.of(SignerKey(WITNESS.name, b"\x0a" * 32)).cosigned(text(7), line) is None
    for at in range(len(line) - 1):
        bent = line[:at] + chr(ord(line[at]) ^ 1) + line[at + 1 :]
        assert key.cosigned(text(7), bent) is None


def test_the_key_is_one_of_its_own_kind() -> None:
    name, key_id, data = str(WitnessKey.of(WITNESS)).split("+", 2)
    assert name == WITNESS.name
    assert base64.b64decode(data)[:1] == b"\x04"
    assert key_id != WITNESS.verifier.id.hex()


def test_a_key_is_read_back_and_only_its_own_kind_is_one() -> None:
    key = WitnessKey.of(WITNESS)
    assert WitnessKey.parse(str(key)) == key
    assert WitnessKey.parse(f" {key}\n") == key
    plain = base64.b64encode(b"\x04" + bytes(32)).decode()
    for given, problem in (
        (str(WITNESS.verifier), "it is a key that signs notes, expected a witness's key"),
        (str(key).replace(key.id.hex(), "00000000"), "the key id does not fit the key"),
        (str(WitnessKey("w", bytes(32))), "everybody can sign under this key"),
        (str(WitnessKey("w", b"\2" + bytes(31))), "no key of Ed25519 has these bytes"),
        (f"w+00000000+{plain}", "the key id does not fit the key"),
        (WITNESS.dump(), "that is not base64"),
        ("", "a key is `NAME"),
    ):
        with pytest.raises(NoteError, match=problem):
            WitnessKey.parse(given)


def test_a_note_is_cosigned_where_each_line_of_the_witness_holds() -> None:
    key, line = WitnessKey.of(WITNESS), cosign(WITNESS, text(7), 5)
    note = LOG.sign(text(7))
    stranger = cosign(SignerKey("w2", b"\x0a" * 32), text(7), 6)
    assert key.cosigned_on(parse(note + stranger + line)) == 5
    assert key.cosigned_on(parse(note + line + cosign(WITNESS, text(7), 9))) == 5
    assert key.cosigned_on(parse(note + stranger)) is None
    assert key.cosigned_on(parse(note + line + cosign(WITNESS, text(7, "fork"), 5))) is None
    for size in (8, 71, 73):
        short = base64.b64encode(key.id + bytes(size)).decode()
        assert key.cosigned_on(parse(f"{note}— {key.name} {short}\n")) is None


def test_a_time_that_no_date_has_is_no_cosignature() -> None:
    key = WitnessKey.of(WITNESS)
    assert key.cosigned(text(7), cosign(WITNESS, text(7), MAX_TIME)) == MAX_TIME
    assert key.cosigned(text(7), cosign(WITNESS, text(7), MAX_TIME + 1)) is None
