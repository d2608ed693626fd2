"""What of a body is a batch, and what is refused with which reason."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tests.unit.ingestion.sdk_batches import SMALL, sdk_batch

from faultwire.ingestion.batch import MAX_EVENTS, OF_SERVER, batch_of
from faultwire.ingestion.refusal import Refused


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def refusal(data: bytes) -> Refused:
    with pytest.raises(Refused) as found:
        batch_of(data)
    return found.value


def test_a_batch_of_an_sdk_is_taken_as_it_is() -> None:
    batch = batch_of(encoded(sdk_batch("s-1", SMALL, seal=True)))
    assert (batch.session, batch.seal) == ("s-1", True)
    assert [(one.kind, one.number) for one in batch.events] == [
        ("SESSION_START", 1),
        ("LLM_CALL", 2),
        ("SESSION_END", 3),
    ]
    assert batch.events[1].claimed_before == batch.events[0].claimed


def test_hashes_and_the_seal_may_be_left_out() -> None:
    told = sdk_batch("s", SMALL)
    del told["seal"]
    for event in told["events"]:
        del event["event_hash"], event["prev_event_hash"], event["timestamp_monotonic"]
    batch = batch_of(encoded(told))
    assert (batch.seal, batch.events[0].claimed) == (False, None)


@pytest.mark.parametrize("kind", sorted(OF_SERVER))
def test_what_only_a_server_may_write_is_forbidden(kind: str) -> None:
    found = refusal(encoded(sdk_batch("s", [*SMALL[:1], (kind, {})])))
    assert (found.status, found.code, found.details) == (403, "SERVER_AUTHORITY_VIOLATION", {"event": 1})


BAD: dict[str, tuple[str, Any]] = {
    "event_type": ("INVALID_PAYLOAD", "SOMETHING"),
    "sequence_number": ("INVALID_PAYLOAD", True),
    "timestamp": ("INVALID_PAYLOAD", 12),
    "payload": ("INVALID_PAYLOAD", "text"),
    "event_hash": ("INVALID_PAYLOAD", "A" * 64),
    "prev_event_hash": ("INVALID_PAYLOAD", "0" * 63),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_member_is_named_and_its_event(name: str) -> None:
    told = sdk_batch("s", SMALL)
    code, value = BAD[name]
    told["events"][1][name] = value
    found = refusal(encoded(told))
    assert (found.status, found.code) == (400, code)
    assert f"`{name}` of event 1" in found.message


@pytest.mark.parametrize("name", ["event_type", "sequence_number", "timestamp", "payload"])
def test_a_missing_member_is_named(name: str) -> None:
    told = sdk_batch("s", SMALL)
    del told["events"][2][name]
    found = refusal(encoded(told))
    assert (found.status, found.code) == (400, "MISSING_REQUIRED_FIELD")
    assert found.message == f"event 2 of the batch has no `{name}`"


@pytest.mark.parametrize(
    "session", ["", "../up", "a b", ".hidden", "-x", "x" * 65, 7, None, "a\n", "ä"], ids=repr
)
def test_a_session_needs_a_name_that_a_tape_can_have(session: Any) -> None:
    told = sdk_batch("s", SMALL)
    told["session_id"] = session
    assert refusal(encoded(told)).status == 400


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"session_id":"s","events":[],"seal":false}',
        b'{"session_id":"s","events":{}}',
        b'{"session_id":"s","session_id":"t","events":[1]}',
        b'{"session_id":"s","events":[NaN]}',
        b"[" * 100_000,
        b'{"session_id":"s","events":[1],"seal":"yes"}',
    ],
    ids=lambda data: repr(data[:30]),
)
def test_what_is_no_batch_is_refused_and_never_an_error_of_ours(data: bytes) -> None:
    assert refusal(data).status == 400


def test_a_name_twice_in_an_object_is_no_canonical_json() -> None:
    text = json.dumps(sdk_batch("s", SMALL))
    twice = text.replace('{"model_id": "m"}', '{"model_id": "m", "model_id": "m"}')
    assert twice != text
    assert refusal(twice.encode()).code == "INVALID_PAYLOAD"


def test_too_many_events_are_too_large() -> None:
    told = sdk_batch("s", SMALL[:1])
    told["events"] = [copy.copy(told["events"][0])] * (MAX_EVENTS + 1)
    found = refusal(encoded(told))
    assert (found.status, found.code) == (413, "BATCH_TOO_LARGE")


def test_a_refusal_repeats_no_long_value_that_may_be_a_secret() -> None:
    told = sdk_batch("s", SMALL)
    told["events"][0]["timestamp"] = "sk-" + "a1B2" * 20
    assert "a1B2" not in refusal(encoded(told)).message
