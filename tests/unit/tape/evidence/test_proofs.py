"""Proofs of one event, refused with the reason, and the canonical bytes that they are about.

Covers faultwire.tape.evidence.inclusion_proof and faultwire.tape.format.hash_chain.
"""

from __future__ import annotations

import sqlite3
from base64 import b64decode, b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.unit.tape.conftest import KEY as REDACTION, Deck

from faultwire import _core
from faultwire.errors import TapeIncomplete, TapeTampered
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.inclusion_proof import HEAD, SUFFIX, Proven, check, prove
from faultwire.tape.evidence.signed_note import SignerKey, parse
from faultwire.tape.format import hash_chain
from faultwire.tape.record.writer import TapeWriter

KEY, STRANGER = SignerKey("p", b"s" * 32), SignerKey("other", b"o" * 32)
TRUSTED = (KEY.verifier,)
DOES_NOT_HOLD = "the proof does not hold: "


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape with a seal after each of two exchanges, and one at its end."""
    path = tmp_path_factory.mktemp("tapes") / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=REDACTION, signer=KEY, seal_every=1)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    deck = Deck(path, writer)
    for _ in range(2):
        deck.exchange()
        writer.flush()
    writer.close_session("s")
    writer.close()
    assert writer.failed is None
    return path


def records(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT record FROM events ORDER BY seq")]


@pytest.fixture
def copy(sealed: Path, tmp_path: Path) -> Path:
    path = tmp_path / "copy.tape"
    path.write_bytes(sealed.read_bytes())
    return path


def change(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


def lines(path: Path, seq: int) -> tuple[list[str], str]:
    head, _, note = prove(path, seq).partition("\n\n")
    return head.split("\n"), note


def refused(text: str, *trusted: SignerKey) -> str:
    with pytest.raises(TapeTampered) as caught:
        check(text, [key.verifier for key in trusted or (KEY,)])
    assert caught.value.code == "tape.proof"
    assert caught.value.message.startswith(DOES_NOT_HOLD)
    return caught.value.message.removeprefix(DOES_NOT_HOLD)


def test_a_proof_has_its_event_its_index_and_the_first_seal_over_it(sealed: Path) -> None:
    found = records(sealed)
    seals = [at for at, record in enumerate(found) if orjson.loads(record)["type"] == "seal"]
    assert len(seals) >= 2
    for seq in (0, seals[0] - 1, seals[0], seals[-1] - 1):
        head, note = lines(sealed, seq)
        seal = next(at for at in seals if at > seq)
        leaves = [hash_chain.leaf(record) for record in found[:seal]]
        path = [b64encode(one).decode() for one in _core.inclusion_proof(leaves, seq)]
        assert head == [HEAD, f"extra {b64encode(found[seq]).decode()}", f"index {seq}", *path]
        assert note == orjson.loads(found[seal])["note"]
        point = Checkpoint.parse(parse(note).text)
        assert check(prove(sealed, seq), TRUSTED) == Proven(
            seq, orjson.loads(found[seq]), point, KEY.verifier
        )
    assert (HEAD, SUFFIX) == ("c2sp.org/tlog-proof@v1", ".tlog-proof")


def test_an_event_that_cannot_be_proven_is_named(sealed: Path) -> None:
    count = len(records(sealed))
    with pytest.raises(TapeIncomplete) as none:
        prove(sealed, count)
    assert none.value.message == f"tape `{sealed}` has {count} events, found no event {count}"
    assert none.value.code == "tape.no_event"
    with pytest.raises(TapeIncomplete) as unsealed:
        prove(sealed, count - 1)
    assert unsealed.value.message == f"tape `{sealed}` has no seal over event {count - 1}"
    assert (unsealed.value.code, unsealed.value.hint) == ("tape.unsealed", f"faultwire tape seal {sealed}")


def test_a_tape_that_was_changed_proves_nothing(copy: Path) -> None:
    record = records(copy)[1]
    change(copy, "UPDATE events SET record = ? WHERE seq = 1", record.replace(b'"seq":1', b'"seq":7'))
    with pytest.raises(TapeTampered) as changed:
        prove(copy, 2)
    assert changed.value.message == f"the events of tape `{copy}` do not have the root that was sealed"
    change(copy, "DELETE FROM events WHERE seq = 1")
    with pytest.raises(TapeTampered) as missing:
        prove(copy, 2)
    assert missing.value.message == f"event 1 of tape `{copy}` is missing"


def test_a_seal_that_is_none_is_named_and_what_else_is_none_has_another_root(copy: Path) -> None:
    found = records(copy)
    seal = next(at for at, record in enumerate(found) if orjson.loads(record)["type"] == "seal")
    assert seal > 2
    change(copy, "UPDATE events SET record = ? WHERE seq = ?", b'{"type":"seal"}', seal)
    with pytest.raises(TapeTampered) as malformed:
        prove(copy, 0)
    assert malformed.value.message.startswith(f"event {seal} of tape `{copy}` is none that a tape has: ")
    assert malformed.value.code == "tape.record_malformed"
    change(copy, "UPDATE events SET record = ? WHERE seq = ?", found[seal], seal)
    change(copy, "UPDATE events SET record = ? WHERE seq = ?", b"{}", 2)
    with pytest.raises(TapeTampered) as other:
        prove(copy, 0)
    assert other.value.message == f"the events of tape `{copy}` do not have the root that was sealed"


def test_a_tape_that_cannot_be_read_is_damaged(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
    copy.chmod(0o600)
    with copy.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(TapeTampered) as caught:
        prove(copy, 0)
    assert caught.value.code == "tape.damaged"
    assert caught.value.message.startswith(f"tape `{copy}` is damaged: ")


def test_an_event_that_speaks_of_a_seal_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={"x": "seal"}, key=REDACTION, signer=KEY)
    writer.open_session("s", profile="seal", profile_digest="d", seed=7)
    Deck(path, writer).exchange()
    writer.close_session("s")
    writer.close()
    assert b'"seal"' in records(path)[1]
    assert check(prove(path, 0), TRUSTED).index == 0


# ---------------------------------------------------------------- what is refused, and why


def test_a_text_that_is_no_proof_is_refused(sealed: Path) -> None:
    text = prove(sealed, 2)
    head, note = lines(sealed, 2)
    begins = f"it does not begin with `{HEAD}`"
    assert refused("") == refused(text.replace("@v1", "@v2", 1)) == refused(text[1:]) == begins
    assert refused("\n".join(head)) == refused("\n".join(head[:2]) + "\n\n" + note) == begins
    assert refused(text.replace("extra ", "other ", 1)) == "it does not carry its event"
    for index in ("index 02", "index -2", "index 2x", "index 2 ", "index", "Index 2", "index " + "1" * 17):
        assert refused(text.replace("index 2", index, 1)) == "it has no index, or too many hashes"


def test_a_proof_of_too_many_hashes_or_bytes_is_refused(
    sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, note = lines(sealed, 2)
    hashes = b64encode(bytes(32)).decode()
    long = [*head[:3], *[hashes] * 64]
    leads = "its hashes do not lead from the event to the checkpoint's root"
    assert refused("\n".join(long) + "\n\n" + note) == leads
    assert refused("\n".join([*long, hashes]) + "\n\n" + note) == "it has no index, or too many hashes"
    text = prove(sealed, 2)
    monkeypatch.setattr("faultwire.tape.evidence.inclusion_proof.MAX_SIZE", len(text))
    assert check(text, TRUSTED)
    monkeypatch.setattr("faultwire.tape.evidence.inclusion_proof.MAX_SIZE", len(text) - 1)
    assert refused(text) == f"it does not begin with `{HEAD}`"


def test_hashes_must_lead_from_the_event_to_the_root(sealed: Path) -> None:
    head, note = lines(sealed, 2)
    leads = "its hashes do not lead from the event to the checkpoint's root"
    other = b64encode(records(sealed)[3]).decode()
    for changed in (
        [*head[:3], *head[4:]],
        [*head[:2], "index 3", *head[3:]],
        [head[0], f"extra {other}", *head[2:]],
    ):
        assert refused("\n".join(changed) + "\n\n" + note) == leads


@pytest.mark.parametrize("at", [1, 3])
def test_base64_has_one_spelling(sealed: Path, at: int) -> None:
    head, note = lines(sealed, 0)
    word, _, data = head[at].rpartition(" ")
    ahead = f"{word} " if word else ""
    for bad in ("*" + data[1:], "*" + data, "é" + data, data + " " + data):
        changed = [*head[:at], ahead + bad, *head[at + 1 :]]
        assert refused("\n".join(changed) + "\n\n" + note) == "a line of it is not base64"
    hashed = head[3]  # 32 bytes: its last letter has two bits that say nothing
    assert hashed.endswith("=")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    again = hashed[:-2] + letters[letters.index(hashed[-2]) + 1] + "="
    assert b64decode(again) == b64decode(hashed)
    changed = [*head[:3], again, *head[4:]]
    assert refused("\n".join(changed) + "\n\n" + note) == "a line of it is not canonical base64"


def test_a_checkpoint_of_no_trusted_key_is_refused_with_its_names(sealed: Path) -> None:
    text = prove(sealed, 2)
    said = "no trusted key signed its checkpoint (it names `p`)"
    assert refused(text, STRANGER) == said
    assert check(text, [STRANGER.verifier, KEY.verifier]).key == KEY.verifier
    both = text + STRANGER.sign(parse(lines(sealed, 2)[1]).text).rpartition("\n\n")[2]
    assert refused(both, SignerKey("third", b"t" * 32)) == (
        "no trusted key signed its checkpoint (it names `p, other`)"
    )


def test_a_log_of_one_event_needs_no_hashes() -> None:
    text = signed(b'{"seq":0}', 0, of=1)
    assert len(text.partition("\n\n")[0].split("\n")) == 3
    assert check(text, TRUSTED).event == {"seq": 0}


def signed(record: bytes, at: int, *, of: int = 2) -> str:
    """A proof of one record in a log of so many, whose checkpoint the trusted key signed."""
    leaves = [hash_chain.leaf(record)] * of
    point = Checkpoint("p/t", of, hash_chain.root(leaves))
    note = KEY.sign(point.text())
    path = [b64encode(one).decode() for one in _core.inclusion_proof(leaves, at)]
    return "\n".join([HEAD, f"extra {b64encode(record).decode()}", f"index {at}", *path]) + "\n\n" + note


@pytest.mark.parametrize("record", [b'{"seq":2}', b'{"seq":true}', b'{"seq":"1"}', b"{}", b"[1]", b"1"])
def test_a_record_that_is_not_the_event_at_its_index_is_refused(record: bytes) -> None:
    assert check(signed(b'{"seq":1}', 1), TRUSTED).event == {"seq": 1}, "the control"
    assert refused(signed(record, 1)) == "the event is not the one at that index"


def test_a_record_that_is_no_json_is_refused() -> None:
    assert refused(signed(b"{", 1))


# ---------------------------------------------------------------- canonical bytes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\udc80é", "a\\udc80é"),
        ({"k": ["\ud800", ("x", 1, None)]}, {"k": ["\\ud800", ["x", 1, None]]}),
        ({"\udc80": 1}, {"\udc80": 1}),
        (True, True),
        (1.5, 1.5),
    ],
)
def test_what_no_json_can_hold_is_written_as_an_escape(value: Any, expected: Any) -> None:
    assert hash_chain.storable(value) == expected


def test_a_number_is_that_integer_and_no_truth() -> None:
    assert hash_chain.is_number(1, 1)
    for found in (True, 1.0, "1", None, 2):
        assert not hash_chain.is_number(found, 1)


@pytest.mark.parametrize(
    ("record", "may"),
    [
        (b'{"a":1.5}', True), (b'{"a":[0,1e5]}', True), (b'{"a":[-1E5]}', True), (b'{"a":-0.5}', True),
        (b'{"a":15}', False), (b'{"a":"1.5"}', False), (b'{"1.5":1}', False),
    ],
)  # fmt: skip
def test_a_fraction_is_looked_for_where_a_number_may_stand(record: bytes, may: bool) -> None:
    assert hash_chain.may_have_fraction(record) is may


@pytest.mark.parametrize(
    ("record", "canonical"),
    [
        (b'{"a":1,"b":[true,null,"x"]}', True),
        (b'{"b":1,"a":2}', False),
        (b'{"a": 1}', False),
        (b'{"a":1.5}', False),
        (b'{"a":[{"b":[1.5]}]}', False),
        (b'{"a":1e+30}', False),
        (b'{"a":":1.5"}', True),
        (b'{"a":9007199254740993}', False),
        ('{"é":1,"z":2}'.encode(), False),
        ('{"z":1,"é":"ü"}'.encode(), True),
        (b"[" * 63 + b"]" * 63, True),
        (b"[" * 64 + b"]" * 64, True),
        (b'{"a":' * 64 + b"1" + b"}" * 64, True),
    ],
)
def test_a_record_is_canonical_or_not_whoever_is_asked(record: bytes, canonical: bool) -> None:
    fraction = hash_chain.may_have_fraction(record)
    event = orjson.loads(record)
    assert hash_chain.is_canonical_event(record, event, fraction=fraction) is canonical


def test_leaves_and_roots_are_those_of_rfc_6962() -> None:
    from hashlib import sha256

    one, two = hash_chain.leaf(b"a"), hash_chain.leaf(b"b")
    assert one == sha256(b"\x00a").digest()
    assert hash_chain.root([one, two]) == sha256(b"\x01" + one + two).digest()
    assert hash_chain.record_bytes({"b": 1, "a": [True]}) == b'{"a":[true],"b":1}'
    with pytest.raises(TypeError):
        hash_chain.record_bytes({"a": 2**53})
    assert (hash_chain.GENESIS, hash_chain.MAX_INT) == ("0" * 64, 2**53 - 1)
