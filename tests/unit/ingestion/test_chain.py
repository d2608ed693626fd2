"""What may follow in a session, its hashes, and what its seal says."""

from __future__ import annotations

import hashlib
import hmac
import json
from functools import partial
from typing import Any

import pytest
from tests.unit.ingestion.sdk_batches import GENESIS, SMALL, WHEN, sdk_batch, sdk_hash

from faultwire.ingestion.batch import Batch, batch_of
from faultwire.ingestion.chain import AUTHORITATIVE, OPEN, PARTIAL, Chain, restored
from faultwire.ingestion.refusal import Refused


def batch(told: Any = SMALL, **options: Any) -> Batch:
    return batch_of(json.dumps(sdk_batch("s", told, **options)).encode())


def added(chain: Chain, made: Batch) -> list[dict[str, Any]]:
    chain.check(made)
    return chain.add(made, [event.payload for event in made.events])


def refused(chain: Chain, made: Batch) -> tuple[int, str]:
    with pytest.raises(Refused) as found:
        chain.check(made)
    return found.value.status, found.value.code


def test_our_hashes_are_those_of_the_sdk_where_nothing_was_changed() -> None:
    chain, made = Chain("s"), batch()
    events = added(chain, made)
    assert [event["event_hash"] for event in events] == [event.claimed for event in made.events]
    assert events[0]["prev_hash"] == GENESIS
    assert chain.last == events[-1]["event_hash"]
    assert not list(Chain("s").mismatches(made))


def test_numbers_are_hashed_as_its_verifier_writes_them() -> None:
    made = batch([("SESSION_START", {"t": 2.0, "big": 1e21})])
    event = Chain("s").add(made, [made.events[0].payload], {1})[0]
    text = (
        '{"event_type":"SESSION_START","payload":{"big":1e21,"t":2.0},'
        f'"prev_hash":"{GENESIS}","seq":1,"session_id":"s","timestamp":"{WHEN}"}}'
    )
    assert event["event_hash"] == hashlib.sha256(text.encode()).hexdigest()


def test_an_event_that_was_changed_on_its_way_does_not_fit_and_the_others_do() -> None:
    told = sdk_batch("s", SMALL)
    told["events"][1]["payload"]["model_id"] = "another"
    assert [number for number, _ in Chain("s").mismatches(batch_of(json.dumps(told).encode()))] == [2]


@pytest.mark.parametrize(
    ("told", "options", "expected"),
    [
        (SMALL, {"first": 2}, (409, "SEQUENCE_GAP")),
        (SMALL, {"first": 0}, (409, "DUPLICATE_SEQUENCE")),
        (SMALL[1:], {}, (400, "INVALID_GENESIS")),
        (SMALL, {"before": "1" * 64}, (400, "INVALID_GENESIS")),
        ([SMALL[0], SMALL[0]], {}, (400, "INVALID_PAYLOAD")),
        ([SMALL[0], SMALL[2], SMALL[1]], {}, (400, "INVALID_PAYLOAD")),
        (SMALL[:2], {"seal": True}, (400, "INVALID_SEAL_REQUEST")),
    ],
)
def test_a_first_batch_that_cannot_be_one(told: Any, options: Any, expected: tuple[int, str]) -> None:
    chain = Chain("s")
    assert refused(chain, batch(told, **options)) == expected
    assert chain.count == 0


@pytest.mark.parametrize(
    ("numbers", "code"),
    [((1, 3, 2), "SEQUENCE_GAP"), ((1, 1, 2), "DUPLICATE_SEQUENCE"), ((1, 2, 0), "NON_MONOTONIC_SEQUENCE")],
)
def test_numbers_within_a_batch_go_up_one_by_one(numbers: tuple[int, ...], code: str) -> None:
    told = sdk_batch("s", SMALL)
    for event, number in zip(told["events"], numbers, strict=True):
        event["sequence_number"] = number
    assert refused(Chain("s"), batch_of(json.dumps(told).encode())) == (409, code)


def test_a_later_batch_follows_the_one_before() -> None:
    chain, first = Chain("s"), batch(SMALL[:2])
    added(chain, first)
    last = first.events[-1].claimed
    assert last is not None
    assert refused(chain, first) == (409, "DUPLICATE_SEQUENCE")
    assert refused(chain, batch(SMALL[2:], first=3, before="1" * 64)) == (400, "INVALID_GENESIS")
    added(chain, batch(SMALL[2:], first=3, before=last))
    assert (chain.count, chain.ended) == (3, True)
    assert refused(chain, batch(SMALL[1:2], first=4)) == (409, "SESSION_CLOSED")


def test_a_redacted_payload_makes_another_hash_and_the_sdk_goes_on_with_its_own() -> None:
    chain, first = Chain("s"), batch(SMALL[:2])
    chain.add(first, [{"agent_id": "redacted:v1:00"}, {}])
    assert chain.last != first.events[-1].claimed
    chain.check(batch(SMALL[2:], first=3, before=str(first.events[-1].claimed)))


def test_a_hash_of_the_sdk_is_believed_only_where_it_was_found_to_fit() -> None:
    told = sdk_batch("s", SMALL)
    told["events"][1]["payload"]["model_id"] = "another"
    made = batch_of(json.dumps(told).encode())
    chain = Chain("s")
    wrong = {number for number, _ in chain.mismatches(made)}
    events = chain.add(made, [event.payload for event in made.events], wrong)
    bare = [{name: one for name, one in event.items() if name != "event_hash"} for event in events]
    assert [sdk_hash(event) for event in bare] == [event["event_hash"] for event in events]


def test_a_seal_is_over_all_events_and_ends_the_session() -> None:
    chain = Chain("s")
    events = added(chain, batch())
    seal = chain.sealed(WHEN, "svc", "v", b"key")
    hashes = [event["event_hash"] for event in events]
    digest = hashlib.sha256(("s" + "".join(hashes) + hashes[-1]).encode()).hexdigest()
    assert seal["payload"]["session_digest"] == digest
    assert (seal["payload"]["event_count"], seal["seq"], seal["prev_hash"]) == (3, 4, hashes[-1])
    assert seal["hmac"] == hmac.new(b"key", hashes[-1].encode(), "sha256").hexdigest()
    assert seal["event_hash"] == sdk_hash({name: one for name, one in seal.items() if name != "event_hash"})
    assert chain.evidence_class == AUTHORITATIVE
    assert refused(chain, batch(SMALL[1:2], first=4)) == (409, "ALREADY_SEALED")


@pytest.mark.parametrize("flaw", ["a drop", "a finding"])
def test_what_lost_events_or_was_changed_is_partial(flaw: str) -> None:
    chain = Chain("s")
    drop = [("LOG_DROP", {"count": 2})] if flaw == "a drop" else []
    added(chain, batch([SMALL[0], *drop, SMALL[2]]))
    for _ in range(30 if flaw == "a finding" else 0):
        chain.find("event 1 is not what its SDK hashed")
    assert chain.evidence_class == OPEN
    payload = chain.sealed(WHEN, "svc", "v", None)["payload"]
    assert payload["evidence_class"] == PARTIAL
    assert payload.get("findings", ["and 10 more"])[-1] == "and 10 more"


def test_half_a_surrogate_pair_is_refused_before_anything_is_added() -> None:
    told = sdk_batch("s", SMALL)
    told["events"][0]["payload"] = {"agent_id": "\ud800"}
    chain, made = Chain("s"), batch_of(json.dumps(told).encode())
    chain.check(made)
    with pytest.raises(Refused, match="no canonical JSON"):
        list(chain.mismatches(made))
    assert chain.count == 0


def _of(chains: dict[str, Chain], name: str) -> Chain:
    return chains.setdefault(name, Chain(name))


def test_a_chain_is_restored_from_what_was_kept_and_a_change_is_found() -> None:
    first = Chain("s")
    events = [*added(first, batch()), first.sealed(WHEN, "svc", "v", None)]
    again: dict[str, Chain] = {}
    assert restored(iter(events), lambda name: again.setdefault(name, Chain(name))) is None
    assert (again["s"].last, again["s"].seal) == (first.last, first.seal)
    for at, (name, value) in enumerate(
        [("payload", {}), ("prev_hash", "1" * 64), ("seq", 9), ("event_hash", "")]
    ):
        changed = [dict(event) for event in events]
        changed[at][name] = value
        chains: dict[str, Chain] = {}
        wrong = restored(iter(changed), partial(_of, chains))
        assert wrong == f"event {at + 1} of session `s` is not what was kept"
    assert restored(iter(events[1:]), lambda _: Chain("s")) is not None
