"""Opens a private key as cosign writes it: PKCS #8 in a box of NaCl, whose key scrypt makes of a password.

The form is that of go-securesystemslib (`encrypted`): JSON in PEM with the settings of scrypt, a salt and a
nonce. `cryptography` has Poly1305 and no XSalsa20; opening one key of some hundred bytes is all that it is
needed for, so it stands here, after its specification ("Extending the Salsa20 nonce").
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import struct
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.poly1305 import Poly1305

MARKS = (b"ENCRYPTED SIGSTORE PRIVATE KEY", b"ENCRYPTED COSIGN PRIVATE KEY")
MOST_N = 1 << 17
"""Of scrypt; cosign writes 32768 or 65536. With `r` of 8 that is 128 MiB."""
_SIGMA = struct.unpack("<4I", b"expand 32-byte k")
_COLUMNS = ((0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11))
_ROWS = ((0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14))


class KeyFormError(ValueError):
    """A file is no such key, or its settings are none that cosign writes."""


class WrongPasswordError(ValueError):
    """The box does not open."""


def is_sealed(data: bytes) -> bool:
    """Is this a key in cosign's own form?"""
    return any(b"-----BEGIN " + mark + b"-----" in data for mark in MARKS)


def opened(data: bytes, password: str) -> bytes:
    """The key in PKCS #8 (DER). Raises KeyFormError and WrongPasswordError, which quote nothing of it."""
    salt, count, nonce, box = _parts(data)
    key = hashlib.scrypt(password.encode(), salt=salt, n=count, r=8, p=1, maxmem=1 << 28, dklen=32)
    subkey = _words_out(_hsalsa20(key, nonce[:16]))
    stream = _stream(subkey, nonce[16:], 32 + len(box) - 16)
    try:
        Poly1305.verify_tag(stream[:32], box[16:], box[:16])
    except InvalidSignature as error:
        raise WrongPasswordError("the password does not open it") from error
    return bytes(a ^ b for a, b in zip(box[16:], stream[32:], strict=True))


def _parts(data: bytes) -> tuple[bytes, int, bytes, bytes]:
    """Salt, scrypt's N, nonce and box."""
    try:
        body = data.split(b"PRIVATE KEY-----", 1)[1].split(b"-----END", 1)[0]
        found: Any = json.loads(base64.b64decode(b"".join(body.split()), validate=True))
        kdf, cipher = found["kdf"], found["cipher"]
        names, settings = (kdf["name"], cipher["name"]), kdf["params"]
        salt, nonce, box = (
            base64.b64decode(text, validate=True)
            for text in (kdf["salt"], cipher["nonce"], found["ciphertext"])
        )
        count = settings["N"]
    except (LookupError, TypeError, ValueError, RecursionError, binascii.Error) as error:
        raise KeyFormError("it does not have the form of such a key") from error
    known = names == ("scrypt", "nacl/secretbox") and settings == {"N": count, "r": 8, "p": 1}
    if not known or type(count) is not int or not 1 < count <= MOST_N or count & (count - 1):
        raise KeyFormError("it was sealed with other settings than cosign's")
    if len(nonce) != 24 or len(box) < 16 or len(salt) < 16:
        raise KeyFormError("it does not have the form of such a key")
    return salt, count, nonce, box


def _turned(value: int, by: int) -> int:
    value &= 0xFFFFFFFF
    return (value << by | value >> (32 - by)) & 0xFFFFFFFF


def _rounds(words: list[int]) -> list[int]:
    """Twenty rounds of Salsa20 over 16 words."""
    x = list(words)
    for _ in range(10):
        for a, b, c, d in (*_COLUMNS, *_ROWS):
            x[b] ^= _turned(x[a] + x[d], 7)
            x[c] ^= _turned(x[b] + x[a], 9)
            x[d] ^= _turned(x[c] + x[b], 13)
            x[a] ^= _turned(x[d] + x[c], 18)
    return x


def _block(key: bytes, middle: bytes) -> list[int]:
    """Constants on the diagonal, the key around them, and 16 bytes of nonce or of nonce and counter."""
    k, m = struct.unpack("<8I", key), struct.unpack("<4I", middle)
    return [_SIGMA[0], *k[:4], _SIGMA[1], *m, _SIGMA[2], *k[4:], _SIGMA[3]]


def _hsalsa20(key: bytes, nonce: bytes) -> list[int]:
    x = _rounds(_block(key, nonce))
    return [x[at] for at in (0, 5, 10, 15, 6, 7, 8, 9)]


def _words_out(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _stream(key: bytes, nonce: bytes, size: int) -> bytes:
    made = bytearray()
    for counter in range(-(-size // 64)):
        block = _block(key, nonce + counter.to_bytes(8, "little"))
        mixed = zip(block, _rounds(block), strict=True)
        made += _words_out([(a + b) & 0xFFFFFFFF for a, b in mixed])
    return bytes(made[:size])
