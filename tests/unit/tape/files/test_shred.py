"""Keys of chosen sessions are destroyed, all of them or none, and the tape is not touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import TapeError, TapeIncomplete, TapeTampered
from faultwire.tape.evidence.body_keys import BodyKeys
from faultwire.tape.evidence.keyring import KEYS, KeyRing
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export.personal_data import report
from faultwire.tape.files.copy import merge, share, split
from faultwire.tape.files.shred import plain_bodies, session_keys, shred
from faultwire.tape.format import events
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.body_cipher import BodyCipher
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.scan import scan

LOGGED = b'{"who": "lena.okafor@firm.org"}'


@pytest.fixture
def signer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SignerKey:
    monkeypatch.chdir(tmp_path)
    return KeyRing().signer_or_new("shop")


def written(name: str, signer: SignerKey, *, encrypts: bool = True) -> Path:
    path = Path(name).absolute()
    cipher = BodyCipher(BodyKeys(KEYS).fresh) if encrypts else None
    settings = {"encryption": {"bodies": "AES-256-GCM"}} if encrypts else {}
    writer = TapeWriter.create(path, origin="shop/a", settings=settings, signer=signer, cipher=cipher)
    for session in ("one", "two"):
        writer.open_session(session, profile="p", profile_digest="", seed=1)
        for number in range(2):
            writer.foreign(events.foreign(session, "x", "y", number, 0), LOGGED)
        writer.close_session(session)
    writer.close()
    assert writer.failed is None
    return path


def bodies(path: Path, session: str) -> list[bytes | None]:
    with TapeReader.open(path) as reader:
        return [one.data for one in reader.foreign(session)]


def test_bodies_are_read_with_their_keys_and_no_file_has_them_in_the_clear(signer: SignerKey) -> None:
    tape, plain = written("a.tape", signer), written("p.tape", signer, encrypts=False)
    assert bodies(tape, "one") == [LOGGED, LOGGED]
    assert b"lena.okafor" in plain.read_bytes(), "the control"
    assert b"lena.okafor" not in tape.read_bytes()
    assert [(one.session, one.bodies) for one in session_keys(tape)] == [("one", 2), ("two", 2)]
    assert (plain_bodies(tape), plain_bodies(plain), plain_bodies(plain, "one")) == (0, 4, 2)
    assert session_keys(plain) == []


def test_one_session_s_bodies_go_and_the_tape_stays_as_it_was(signer: SignerKey) -> None:
    tape = written("a.tape", signer)
    before = tape.read_bytes(), verify(tape, [signer.verifier])
    shred(session_keys(tape, "one"), "request 17", "ann", signer, BodyKeys())
    with pytest.raises(TapeIncomplete) as raised:
        bodies(tape, "one")
    assert raised.value.code == "tape.body_shredded"
    assert bodies(tape, "two") == [LOGGED, LOGGED]
    report_ = verify(tape, [signer.verifier])
    assert (tape.read_bytes(), report_.root, report_.findings) == (before[0], before[1].root, [])


def test_where_one_key_is_elsewhere_none_is_destroyed(signer: SignerKey) -> None:
    tape = written("a.tape", signer)
    first, second = session_keys(tape)
    BodyKeys().place(second.key).unlink()
    with pytest.raises(TapeIncomplete, match="is encrypted"):
        shred([first, second], "r", "ann", signer, BodyKeys())
    assert BodyKeys().has(first.key)
    assert bodies(tape, "one") == [LOGGED, LOGGED]


def test_copies_are_reached_as_well(signer: SignerKey) -> None:
    tape = written("a.tape", signer)
    merge([tape, tape], Path("m.tape"), "shop/m", signer)
    split(tape, "one", Path("s.tape"), "shop/s", signer)
    assert bodies(Path("m.tape"), "one-2") == bodies(Path("s.tape"), "one") == [LOGGED, LOGGED]
    shred(session_keys(tape, "one"), "r", "ann", signer, BodyKeys())
    for path, session in (("m.tape", "one"), ("m.tape", "one-2"), ("s.tape", "one")):
        with pytest.raises(TapeIncomplete, match="shredded"):
            bodies(Path(path), session)
    assert bodies(Path("m.tape"), "two") == [LOGGED, LOGGED]
    with TapeReader.open("m.tape") as reader:
        assert reader.info().settings["encryption"] == {"bodies": "AES-256-GCM"}


def test_who_cannot_read_bodies_does_not_say_that_they_are_harmless(signer: SignerKey) -> None:
    tape, plain = written("a.tape", signer), written("p.tape", signer, encrypts=False)
    assert report(plain)["found"], "the control"
    found = report(tape)
    assert (found["found"], len(found["not_text"])) == ([], 4)
    assert scan(plain) == []
    with pytest.raises(TapeError, match="cannot be looked through"):
        scan(tape)
    with pytest.raises(TapeIncomplete, match="cannot be replaced"):
        share(tape, Path("h.tape"), "shop/h", signer)
    share(plain, Path("h2.tape"), "shop/h", signer)


def test_a_body_under_another_key_is_no_body(signer: SignerKey) -> None:
    tape = written("a.tape", signer)
    one, two = session_keys(tape)
    BodyKeys().place(one.key).write_bytes(BodyKeys().place(two.key).read_bytes())
    with pytest.raises(TapeTampered) as raised:
        bodies(tape, "one")
    assert raised.value.code == "tape.body_key"
