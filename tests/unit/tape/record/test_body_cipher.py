"""Each session has a key of its own, and no nonce comes twice."""

from __future__ import annotations

import pytest

from faultwire.errors import TapeError
from faultwire.tape.format.encryption import decrypted, encryption_of
from faultwire.tape.record.body_cipher import BodyCipher


def test_sessions_share_no_key_and_bodies_no_nonce() -> None:
    made: dict[str, tuple[str, bytes]] = {}

    def fresh(session: str) -> tuple[str, bytes]:
        assert session not in made, "a key is made once"
        return made.setdefault(session, (f"{len(made):032x}", bytes([len(made)]) * 32))

    cipher = BodyCipher(fresh)
    seen = set()
    for number in range(200):
        session = f"s{number % 2}"
        stored, more = cipher.stored(session, b"the same body")
        how = encryption_of({"blob": "", **more})
        assert how is not None
        assert how.key == made[session][0]
        assert decrypted(stored, how, made[session][1]) == b"the same body"
        seen |= {how.nonce, stored}
    assert len(seen) == 400


def test_without_a_key_nothing_is_stored() -> None:
    def fresh(_: str) -> tuple[str, bytes]:
        raise TapeError("the disk is full", code="keys.write")

    with pytest.raises(TapeError):
        BodyCipher(fresh).stored("s", b"x")


def test_a_session_that_has_ended_is_forgotten() -> None:
    made: list[str] = []
    cipher = BodyCipher(lambda session: (made.append(session), (f"{len(made):032x}", bytes(32)))[1])
    cipher.stored("s", b"x")
    cipher.forget("s")
    cipher.forget("none")
    cipher.stored("s", b"x")
    assert made == ["s", "s"]
