"""A body comes back under its key alone, and nothing of how it is encrypted can be changed."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.errors import TapeTampered
from faultwire.tape.format.encryption import (
    Encryption,
    decrypted,
    encrypted,
    encryption_of,
    name_of,
    parsed,
)

KEY, OTHER, ID, NONCE = bytes(32), b"\1" * 32, "ab" * 16, "cd" * 12
DATA = b'{"a": 1}' * 9


@pytest.mark.parametrize("data", [b"", b"x", DATA])
def test_what_is_stored_is_as_long_and_comes_back_under_its_key_alone(data: bytes) -> None:
    stored, how = encrypted(data, ID, KEY, NONCE)
    assert len(stored) == len(data)
    assert not data or stored != data
    assert decrypted(stored, how, KEY) == data
    with pytest.raises(TapeTampered) as raised:
        decrypted(stored, how, OTHER)
    assert raised.value.code == "tape.body_key"


def test_whatever_is_changed_it_does_not_come_back() -> None:
    stored, how = encrypted(DATA, ID, KEY, NONCE)
    bent = stored[:-1] + bytes([stored[-1] ^ 1])
    for data, changed in (
        (bent, how),
        (stored[:-1], how),
        (stored, Encryption("ac" * 16, how.nonce, how.tag)),
        (stored, Encryption(how.key, "ce" * 12, how.tag)),
        (stored, Encryption(how.key, how.nonce, "00" * 16)),
    ):
        with pytest.raises(TapeTampered):
            decrypted(data, changed, KEY)


def test_the_name_holds_all_that_a_reader_needs() -> None:
    stored, how = encrypted(DATA, ID, KEY, NONCE)
    name = name_of({"blob": "ef" * 32, "size": len(stored), "encryption": how.member()})
    assert parsed(name) == ("ef" * 32, how)
    assert name_of({"blob": "ef" * 32}) == "ef" * 32
    assert encryption_of({"blob": "ef" * 32}) is None


@pytest.mark.parametrize(
    "member",
    [
        None, {}, [], "x", {"key": ID, "nonce": NONCE}, {"key": ID[1:], "nonce": NONCE, "tag": "ab" * 16},
        {"key": "../" + ID[3:], "nonce": NONCE, "tag": "ab" * 16},
        {"key": ID, "nonce": NONCE, "tag": 5}, {"key": ID.upper(), "nonce": NONCE, "tag": "ab" * 16},
    ],
)  # fmt: skip
def test_a_member_of_another_shape_is_none(member: Any) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        name_of({"blob": "ef" * 32, "encryption": member})
