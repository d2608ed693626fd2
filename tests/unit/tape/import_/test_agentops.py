"""`faultwire.tape.import_.agentops`, `faultwire.tape.import_._agentops_chain`, `..._agentops_json`."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tape.import_ import made

from faultwire.errors import TapeError
from faultwire.tape.import_ import agentops
from faultwire.tape.import_._agentops_json import digests, redactions
from faultwire.tape.import_._api import Event, Found, Item

UNPROVEN = ["agentops_seal_unverified"]


def told(tmp_path: Path, data: bytes, key: bytes | None = None) -> list[Item]:
    path = tmp_path / "log"
    path.write_bytes(data)
    return list(agentops.read(path, key))


def codes(items: list[Item], *, notes: bool = True) -> list[str]:
    return [one.code for one in items if isinstance(one, Found) and (notes or not one.note)]


def test_sound_logs_of_both_generations(tmp_path: Path) -> None:
    items = told(tmp_path, made.lines(made.old_log(*made.OLD_EVENTS)))
    assert codes(items) == ["agentops_seal_missing"]
    events = [one for one in items if isinstance(one, Event)]
    assert [(one.kind, one.number) for one in events][:3] == [
        ("SESSION_START", 0),
        ("MODEL_REQUEST", 1),
        ("TOOL_CALL", 2),
    ]
    assert {(one.session, one.source) for one in events} == {("s-1", "agentops v0.6")}
    assert events[1].at_ms == 1767323041000
    items = told(tmp_path, made.lines(made.new_log(*made.NEW_EVENTS)))
    assert codes(items) == ["agentops_seal_missing"]
    assert codes(told(tmp_path, made.lines(made.old_log(*made.OLD_EVENTS, version="v0.5")))) == [
        "agentops_seal_missing"
    ]


def test_a_session_digest_in_each_form_that_its_verifier_takes(tmp_path: Path) -> None:
    log = made.old_log(*made.OLD_EVENTS)
    last = log[-1]["event_hash"]
    whole = made.sha(("s-1" + "".join(event["event_hash"] for event in log) + last).encode())
    for digest in (last, f"sha256:{last}", whole):
        assert codes(told(tmp_path, made.lines(made.sealed_old(log, session_digest=digest)))) == UNPROVEN
    for wrong in (log[-2]["event_hash"], f"sha256:{log[-2]['event_hash']}", f"sha512:{last}", f"{last} "):
        found = codes(told(tmp_path, made.lines(made.sealed_old(log, session_digest=wrong))))
        assert found == ["agentops_digest_mismatch", *UNPROVEN], wrong


def test_a_seal_without_a_key_proves_nothing(tmp_path: Path) -> None:
    log = made.sealed_old(made.old_log(*made.OLD_EVENTS), event_count=6)
    assert codes(told(tmp_path, made.lines(log))) == UNPROVEN
    hand_made = made.new_log(made.START, ("CHAIN_SEAL", {"final_hash": "f" * 64, "event_count": 999}))
    found = codes(told(tmp_path, made.lines(hand_made)))
    assert found == ["agentops_seal_invalid"] * 2 + UNPROVEN + ["agentops_session_open"]
    assert codes(told(tmp_path, made.lines(made.sealed_old(log[:-1], session_digest="0" * 64)))) == [
        "agentops_digest_mismatch",
        *UNPROVEN,
    ]
    text = "s-1" + "".join(event["event_hash"] for event in log[:-1]) + log[-2]["event_hash"]
    fits = made.sealed_old(log[:-1], session_digest=made.sha(text.encode()))
    assert codes(told(tmp_path, made.lines(fits))) == UNPROVEN


def old(change: Callable[[list[Any]], None]) -> bytes:
    log = made.old_log(*made.OLD_EVENTS)
    change(log)
    return made.lines(log)


def new(change: Callable[[list[Any]], None]) -> bytes:
    log = made.new_log(*made.NEW_EVENTS)
    change(log)
    return made.lines(log)


def put(number: int, **members: Any) -> Callable[[list[Any]], None]:
    return lambda log: log[number].update(members)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (old(put(2, payload={"tool_name": "other"})), ["payload_mismatch"]),
        (old(put(2, event_type="ERROR")), ["hash_mismatch"]),
        (old(put(3, timestamp_wall="2026-01-01T00:00:00Z")), ["hash_mismatch"]),
        (old(lambda log: log.pop(2)), ["chain_broken", "sequence_gap"]),
        (old(lambda log: log.pop(0)), ["genesis_invalid", "sequence_gap", "start_missing"]),
        (old(put(1, chain_authority="server")), ["authority_mixed"]),
        (old(put(1, schema_ver="v0.7")), ["schema_version"]),
        (old(lambda log: log[1].pop("event_id")), ["field_missing", "hash_mismatch"]),
        (old(put(1, event_hash="XYZ")), ["field_malformed", "hash_mismatch", "chain_broken"]),
        (old(lambda log: log.append(dict(log[5]))), ["chain_broken", "sequence_gap", "event_after_end"]),
        (old(lambda log: log.insert(1, [])), ["line_malformed"]),
        (old(lambda log: log.insert(1, {"x": 1})), ["line_malformed"]),
        (new(put(1, payload={"prompt": "other"})), ["hash_mismatch"]),
        (new(put(1, extra=1)), ["hash_mismatch"]),
        (new(lambda log: log.reverse()), None),
        (new(put(1, event_type="DREAM")), ["event_unknown", "hash_mismatch"]),
        (new(put(1, event_type=[])), ["event_unknown", "hash_mismatch"]),
        (new(put(1, seq=10**40)), ["hash_mismatch", "field_malformed", "sequence_gap"]),
        (new(put(1, seq=True)), ["hash_mismatch", "field_malformed", "sequence_gap"]),
        (new(put(1, payload=None)), ["field_malformed", "hash_mismatch"]),
        (new(put(1, session_id="other")), None),
    ],
)
def test_what_breaks_a_rule_is_reported(tmp_path: Path, data: bytes, expected: list[str] | None) -> None:
    found = codes(told(tmp_path, data), notes=False)
    if expected is None:
        assert len(found) > 2
    else:
        assert found == [f"agentops_{code}" for code in expected]


def test_drops_and_redactions(tmp_path: Path) -> None:
    hidden = {"args": {"q": "[REDACTED]", "q_hash": "a" * 64}, "key": "[REDACTED]"}
    log = made.old_log(
        made.START, ("LOG_DROP", {"dropped_count": 3}), ("LOG_DROP", {"dropped_count": 0}),
        ("TOOL_CALL", {"tool_name": "t", **hidden}), made.END,
    )  # fmt: skip
    items = told(tmp_path, made.lines(log))
    assert codes(items) == [
        "agentops_drop",
        "agentops_drop",
        "agentops_drop_malformed",
        "agentops_redaction_without_hash",
        "agentops_redaction",
        "agentops_seal_missing",
    ]
    assert redactions(hidden) == (2, ["`key`"])


def test_events_that_a_server_declares_and_two_sessions_in_a_log(tmp_path: Path) -> None:
    log = made.new_log(made.START, ("REDACTION", {}), made.END)
    items = told(tmp_path, made.lines(log))
    assert codes(items) == ["agentops_told", "agentops_seal_missing"]
    assert items[1] == Found("agentops_told", "event 1 of session `s-2` is a REDACTION", note=True)
    assert "agentops_told" not in codes(told(tmp_path, made.lines(made.new_log(*made.NEW_EVENTS))))
    twice = made.old_log(made.START, made.START, made.END)
    assert codes(told(tmp_path, made.lines(twice)), notes=False) == ["agentops_start_misplaced"]
    two = [*made.old_log(made.START, made.END), *made.old_log(made.START, made.END, session="s-9")]
    assert codes(told(tmp_path, made.lines(two)), notes=False) == ["agentops_session_mismatch"]


def test_its_numbers_are_not_those_of_rfc_8785(tmp_path: Path) -> None:
    """2.0 is `2` in RFC 8785, and `2.0` there: a log with either is sound, and the note says which."""
    for text, is_theirs in (('{"n":2}', False), ('{"n":2.0}', True), ('{"n":1e-07}', True)):
        (event,) = made.old_log(made.START)
        event["payload"] = json.loads(text)
        event["payload_hash"] = made.sha(text.encode())
        event["event_hash"] = made.sha(made.compact({name: event[name] for name in made.OLD_SIGNED}))
        data = made.lines([event]).replace(b'"payload": {"n": 1e-07}', b'"payload": {"n": 1e-07}')
        found = codes(told(tmp_path, data))
        assert ("agentops_numbers_not_rfc8785" in found) is is_theirs
        assert "agentops_payload_mismatch" not in found


def test_both_canonical_forms() -> None:
    def texts(value: Any, ours: str, theirs: str) -> None:
        assert digests(value) == (made.sha(ours.encode()), made.sha(theirs.encode()))

    texts({"b": 2.0, "a": 1e21, "é": -0.0}, '{"a":1e+21,"b":2,"é":0}', '{"a":1e21,"b":2.0,"é":-0}')
    texts([1e16, 1e-7, None, True], "[10000000000000000,1e-7,null,true]", "[1e16,1e-07,null,true]")
    texts({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}', '{"\U0001f600":1,"\ufb33":2}')
    assert digests({"x": "\ud800"}) == (None, None)
    assert digests(float("inf")) == (None, None)
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    assert digests(deep) == (None, None)


def export(events: list[Any], **changed: Any) -> bytes:
    document = {
        "export_version": "1.0",
        "evidence_class": "AUTHORITATIVE_EVIDENCE",
        "session_metadata": {"event_count": len(events), "total_drops": 0},
        "seal": {"present": False},
        "events": events,
    }
    return json.dumps({**document, **changed}, indent=1).encode()


def test_exports_and_plain_lists(tmp_path: Path) -> None:
    log = made.old_log(*made.OLD_EVENTS)
    assert codes(told(tmp_path, json.dumps(log).encode())) == ["agentops_seal_missing"]
    assert codes(told(tmp_path, export(log))) == ["agentops_seal_missing", "agentops_class_claimed"]
    lying = export(log, session_metadata={"event_count": 99, "total_drops": 1})
    assert codes(told(tmp_path, lying), notes=False) == ["agentops_count_mismatch"] * 2
    seal = {"present": True, "final_event_hash": "0" * 64, "event_count": 6}
    assert codes(told(tmp_path, export(log, seal=seal)), notes=False) == ["agentops_seal_invalid"]
    for event in log:
        event["payload"] = made.compact(event["payload"]).decode()
    assert codes(told(tmp_path, export(log)), notes=False) == []


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{}", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"events": 1}'])
def test_what_is_no_log(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(TapeError, match="no event"):
        told(tmp_path, data)


def test_a_line_that_is_too_long_is_skipped(tmp_path: Path) -> None:
    first, *rest = made.new_log(*made.NEW_EVENTS)
    data = made.lines([first]) + b'{"x":"' + b"y" * (agentops.MAX_LINE + 10) + b'"}\n' + made.lines(rest)
    assert codes(told(tmp_path, data), notes=False) == ["agentops_line_malformed"]


@pytest.mark.parametrize("name", ["hmac", "seal_hmac", "server_hmac"])
def test_an_hmac_is_judged_by_who_has_its_key(tmp_path: Path, name: str) -> None:
    before = made.new_log(*made.NEW_EVENTS)
    right = hmac.new(b"secret", before[-1]["event_hash"].encode(), hashlib.sha256).hexdigest()
    log = made.new_log(*made.NEW_EVENTS, ("CHAIN_SEAL", {"event_count": len(before), name: right}))
    assert codes(told(tmp_path, made.lines(log), b"secret")) == []
    assert codes(told(tmp_path, made.lines(log), b"other")) == ["agentops_hmac_mismatch"]
    assert codes(told(tmp_path, made.lines(log))) == UNPROVEN
    bare = made.new_log(*made.NEW_EVENTS, ("CHAIN_SEAL", {"event_count": len(before)}))
    assert codes(told(tmp_path, made.lines(bare), b"secret")) == UNPROVEN
    beside = [*before, made.new_log(*made.NEW_EVENTS, ("CHAIN_SEAL", {}))[-1]]
    beside[-1] |= {name: right}
    beside[-1]["event_hash"] = digests({k: v for k, v in beside[-1].items() if k != "event_hash"})[0]
    assert codes(told(tmp_path, made.lines(beside), b"secret")) == []


def test_what_neither_ended_nor_was_sealed_fails_in_the_second_generation_only(tmp_path: Path) -> None:
    for log, bad in (
        (made.old_log(*made.OLD_EVENTS[:-1]), []),
        (made.new_log(*made.NEW_EVENTS[:-1]), ["agentops_session_open"]),
        (made.new_log(*made.NEW_EVENTS[:-1], ("CHAIN_SEAL", {})), []),
    ):
        items = told(tmp_path, made.lines(log))
        assert "agentops_session_open" in codes(items)
        assert codes(items, notes=False) == bad


def test_a_servers_seal_states_whose_it_is(tmp_path: Path) -> None:
    log = made.sealed_old(made.old_log(*made.OLD_EVENTS), event_count=6)
    assert codes(told(tmp_path, made.lines(log)), notes=False) == []
    for event in log:
        event["chain_authority"] = "server"
    assert codes(told(tmp_path, made.lines(log)), notes=False) == ["agentops_seal_invalid"]


def test_a_drop_is_a_finding_and_no_note(tmp_path: Path) -> None:
    events = (made.START, ("LOG_DROP", {"dropped_count": 3}), made.END)
    assert codes(told(tmp_path, made.lines(made.old_log(*events))), notes=False) == ["agentops_drop"]
    whole = (made.START, made.END)
    assert codes(told(tmp_path, made.lines(made.old_log(*whole))), notes=False) == []
