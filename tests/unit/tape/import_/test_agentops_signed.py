"""`faultwire.tape.import_._agentops_signed`, and `faultwire.tape.record.kept_members`."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.unit.tape.import_ import made

from faultwire.tape.import_ import agentops
from faultwire.tape.import_._api import Found, store
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.kept_members import hidden, shown

KEY, OTHER = (Ed25519PrivateKey.from_private_bytes(bytes([one]) * 32) for one in (1, 2))
SOUND = ["agentops_seal_missing", "agentops_key_untrusted"]


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def node(hashes: list[bytes]) -> bytes:
    """The tree head of RFC 6962 §2.1 over leaf hashes, by its recursion."""
    if len(hashes) == 1:
        return hashes[0]
    split = 1 << ((len(hashes) - 1).bit_length() - 1)
    return bytes.fromhex(made.sha(b"\x01" + node(hashes[:split]) + node(hashes[split:])))


def signed(*, key: Ed25519PrivateKey = KEY, count: int = 3, **end: Any) -> list[dict[str, Any]]:
    """A log whose events are signed with `key`, and whose first one names `KEY`."""
    start = ("SESSION_START", {"agent_id": "a", "sdk_public_key": text(KEY.public_key().public_bytes_raw())})
    before = made.new_log(start, *made.NEW_EVENTS[1:-1])
    leaves = [bytes.fromhex(made.sha(b"\x00" + bytes.fromhex(event["event_hash"]))) for event in before]
    finish = {"status": "success", "merkle_root": node(leaves).hex(), "merkle_leaf_count": count, **end}
    log = made.new_log(start, *made.NEW_EVENTS[1:-1], ("SESSION_END", finish))
    for event in log:
        event["signature"] = text(key.sign(event["event_hash"].encode()))
    return log


def codes(tmp_path: Path, log: list[Any]) -> list[str]:
    path = tmp_path / "log"
    path.write_bytes(made.lines(log))
    return [one.code for one in agentops.read(path) if isinstance(one, Found)]


def test_a_signed_log_is_sound(tmp_path: Path) -> None:
    assert codes(tmp_path, signed()) == SOUND


def test_a_signature_that_the_hash_covers_is_sound_too(tmp_path: Path) -> None:
    """Its main branch hashes every member but the hash."""
    log = made.new_log(*made.NEW_EVENTS[:1])
    log[0]["signature"] = "x"
    log[0]["event_hash"] = made.sha(made.compact({k: v for k, v in log[0].items() if k != "event_hash"}))
    assert "agentops_hash_mismatch" not in codes(tmp_path, log)


@pytest.mark.parametrize(
    ("number", "changed", "expected"),
    [
        (1, {"signature": text(b"0" * 64)}, "agentops_signature_invalid"),
        (1, {"signature": "%%%"}, "agentops_signature_invalid"),
        (1, {"signature": 7}, "agentops_signature_invalid"),
        (1, {"signature": None}, "agentops_signature_missing"),
        (1, {"payload": {"prompt": "other"}}, "agentops_hash_mismatch"),
    ],
)
def test_a_changed_event_is_found(tmp_path: Path, number: int, changed: Any, expected: str) -> None:
    log = signed()
    log[number] |= changed
    assert codes(tmp_path, log) == [expected, *SOUND]


def test_what_another_key_signed_is_found_in_each_event(tmp_path: Path) -> None:
    assert codes(tmp_path, signed(key=OTHER)) == ["agentops_signature_invalid"] * 4 + SOUND


@pytest.mark.parametrize("end", [{"merkle_root": "0" * 64}, {"merkle_leaf_count": 4}, {"merkle_root": 7}])
def test_another_tree_is_found(tmp_path: Path, end: dict[str, Any]) -> None:
    found = codes(tmp_path, signed(**end))
    assert found == ["agentops_seal_missing", "agentops_merkle_mismatch", "agentops_key_untrusted"]


def test_a_key_that_is_none(tmp_path: Path) -> None:
    log = made.new_log(("SESSION_START", {"sdk_public_key": "no key"}), made.END)
    for event in log:
        event["signature"] = text(KEY.sign(event["event_hash"].encode()))
    assert codes(tmp_path, log) == ["agentops_signature_invalid", *SOUND]


def test_signatures_without_a_key_are_a_note(tmp_path: Path) -> None:
    log = made.new_log(*made.NEW_EVENTS)
    log[1]["signature"] = "x"
    assert codes(tmp_path, log) == ["agentops_seal_missing", "agentops_signature_unchecked"]


def test_a_shortened_digest_and_a_seal_of_v0_5(tmp_path: Path) -> None:
    log = made.old_log(*made.OLD_EVENTS)
    last = log[-1]["event_hash"]
    for digest, code in ((last[:16], "agentops_digest_short"), (last[:15], "agentops_digest_mismatch")):
        found = codes(tmp_path, made.sealed_old(log, session_digest=digest))
        assert found == [code, "agentops_seal_unverified"]
    kinds = [*made.OLD_EVENTS, ("CHAIN_SEAL", {"final_event_hash": last})]
    for version, expected in (("v0.5", []), ("v0.6", ["agentops_seal_invalid"])):
        sealed = made.old_log(*kinds, version=version)
        for event in sealed:
            event["chain_authority"] = "server"
        assert codes(tmp_path, sealed) == [*expected, "agentops_seal_unverified"]


def held(tmp_path: Path, log: list[Any]) -> list[dict[str, Any]]:
    """The events of a log as they are on a tape."""
    (tmp_path / "log").write_bytes(made.lines(log))
    store(agentops.read(tmp_path / "log"), tmp_path / "t.tape", "agentops", "p/t")
    with TapeReader.open(tmp_path / "t.tape") as tape:
        return [json.loads(one.data) for one in tape.foreign()]


def test_redaction_keeps_what_the_chain_is_checked_with(tmp_path: Path) -> None:
    session = "0f076f86-63df-44ea-9eeb-11ffd6a808be"
    log = made.old_log(*made.OLD_EVENTS, session=session)
    log = made.sealed_old(log, session_digest=f"sha256:{log[-1]['event_hash']}")
    assert held(tmp_path, log) == log


def test_redaction_takes_other_sessions_and_secrets(tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 8
    stolen = {"session_id": "cookie-of-a-user", "session_digest": "no digest"}
    log = made.old_log(
        made.START, ("TOOL_CALL", {"tool_name": "t", "args": stolen}), made.END, session=secret
    )
    events = held(tmp_path, log)
    assert not {"cookie-of-a-user", "no digest"} & set(events[1]["payload"]["args"].values())
    assert all(event["session_id"].startswith("redacted:v1:") for event in events)
    assert secret.encode() not in (tmp_path / "t.tape").read_bytes()


def test_names_that_cannot_be_put_back_are_not_replaced() -> None:
    data = b'{"session_id": "s", "x": "\\"session_id\\": \\"s\\""}'
    replaced = hidden(data, "s")
    assert replaced == b'{"kept-identity": "s", "x": "\\"session_id\\": \\"s\\""}'
    assert shown(replaced) == data
    assert hidden(data, "t") is None
    assert hidden(data + b'"kept-identity"', "s") is None
