"""Keys in cosign's own form: opened by their password alone, and no other settings than cosign's."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from faultwire.certificate import cosign_key
from faultwire.certificate.cosign_key import KeyFormError, WrongPasswordError, is_sealed, opened

VECTORS = Path(__file__).parents[2] / "vectors" / "cosign"
SEALED = (VECTORS / "p256.key").read_bytes()
WORD = "open sesame"


def whole() -> dict[str, Any]:
    body = SEALED.split(b"-----")[2]
    found: dict[str, Any] = json.loads(base64.b64decode(b"".join(body.split())))
    return found


def sealed(document: object) -> bytes:
    body = base64.encodebytes(json.dumps(document).encode())
    mark = b"ENCRYPTED COSIGN PRIVATE KEY"
    return b"-----BEGIN %s-----\n%s-----END %s-----\n" % (mark, body, mark)


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_a_key_opens_to_the_half_of_its_public_one(kind: str) -> None:
    data = (VECTORS / f"{kind}.key").read_bytes()
    assert is_sealed(data)
    key = serialization.load_der_private_key(opened(data, WORD), None)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = key.public_key().public_bytes(serialization.Encoding.PEM, form)
    assert public == (VECTORS / f"{kind}.pub").read_bytes()


def test_the_older_mark_is_known_and_other_keys_are_none() -> None:
    assert is_sealed(sealed(whole()))
    assert opened(sealed(whole()), WORD) == opened(SEALED, WORD)
    assert not is_sealed(b"-----BEGIN PRIVATE KEY-----")
    assert not is_sealed((VECTORS / "p256.pub").read_bytes())


@pytest.mark.parametrize("password", ["", "open sesam", "Open sesame", "open sesame "])
def test_another_password_does_not_open_it(password: str) -> None:
    with pytest.raises(WrongPasswordError):
        opened(SEALED, password)


def test_a_changed_box_does_not_open() -> None:
    for part, name in (("kdf", "salt"), ("cipher", "nonce"), (None, "ciphertext")):
        found = whole()
        place = found[part] if part else found
        data = bytearray(base64.b64decode(place[name]))
        data[-1] ^= 1
        place[name] = base64.b64encode(data).decode()
        with pytest.raises(WrongPasswordError):
            opened(sealed(found), WORD)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("kdf", "name", "pbkdf2"),
        ("kdf", "params", {"N": 65536, "r": 8, "p": 2}),
        ("kdf", "params", {"N": 65536, "r": 16, "p": 1}),
        ("kdf", "params", {"N": 1 << 18, "r": 8, "p": 1}),
        ("kdf", "params", {"N": 65535, "r": 8, "p": 1}),
        ("kdf", "params", {"N": 1, "r": 8, "p": 1}),
        ("kdf", "params", {"N": True, "r": 8, "p": 1}),
        ("kdf", "params", {"N": 65536.0, "r": 8, "p": 1}),
        ("kdf", "params", []),
        ("kdf", "salt", "AAAA"),
        ("cipher", "name", "aes"),
        ("cipher", "nonce", "AAAA"),
        (None, "ciphertext", "AAAA"),
        (None, "ciphertext", "?"),
        (None, "ciphertext", 1),
        (None, "kdf", None),
    ],
    ids=range(16),
)
def test_other_settings_and_forms_are_refused(
    monkeypatch: pytest.MonkeyPatch, part: str | None, name: str, value: object
) -> None:
    def never(*_: object, **__: object) -> bytes:
        raise AssertionError("scrypt ran with settings that nobody checked")

    monkeypatch.setattr(cosign_key.hashlib, "scrypt", never)
    found = whole()
    (found[part] if part else found)[name] = value
    with pytest.raises(KeyFormError):
        opened(sealed(found), WORD)


@pytest.mark.parametrize("data", [b"", b"x", SEALED[:60], b"-----BEGIN PRIVATE KEY-----\nW10=\n-----END"])
def test_what_is_no_such_file_is_refused(data: bytes) -> None:
    with pytest.raises(KeyFormError):
        opened(data, WORD)
