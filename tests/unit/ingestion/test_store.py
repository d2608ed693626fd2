"""The folder of tapes: what is kept, and what is answered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.ingestion.sdk_batches import SMALL, sdk_batch

from faultwire.errors import TapeError, UsageError
from faultwire.ingestion.batch import batch_of
from faultwire.ingestion.refusal import Refused
from faultwire.ingestion.store import Store
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify

SIGNER = SignerKey.fresh("t")
KEY = b"k" * 32


def opened(folder: Path, **options: Any) -> Store:
    return Store(folder, "t", SIGNER, KEY, **options)


def send(store: Store, batch: dict[str, Any]) -> dict[str, Any]:
    return asyncio.run(store.add(batch_of(json.dumps(batch).encode())))


def lines(store: Store, session: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.lines(session)]


def test_a_session_goes_on_after_a_restart_on_the_next_tape(tmp_path: Path) -> None:
    first = opened(tmp_path)
    answer = send(first, sdk_batch("s", SMALL[:2]))
    first.close()
    second = opened(tmp_path)
    send(second, sdk_batch("s", SMALL[2:], first=3, before=answer["final_hash"], seal=True))
    assert [event["event_type"] for event in lines(second, "s")][-2:] == ["SESSION_END", "CHAIN_SEAL"]
    assert second.sessions() == [
        {
            "session_id": "s",
            "event_count": 3,
            "total_drops": 0,
            "sealed": True,
            "evidence_class": "AUTHORITATIVE_EVIDENCE",
        }
    ]
    second.close()
    for path in (first.tape, second.tape):
        assert verify(path, trusted=[SIGNER.verifier]).ok


def test_what_was_found_before_a_restart_keeps_a_session_from_being_authoritative_after_it(
    tmp_path: Path,
) -> None:
    name = "0d9f6a2e-3c1b-4f7d-9a55-6b0c1d2e3f40"
    for changed, expected in ((True, "PARTIAL_AUTHORITATIVE_EVIDENCE"), (False, "AUTHORITATIVE_EVIDENCE")):
        folder = tmp_path / str(changed)
        first = opened(folder)
        batch = sdk_batch(name, SMALL[:2])
        if changed:
            batch["events"][1]["payload"] = {"model_id": "another"}
        answer = send(first, batch)
        first.close()
        second = opened(folder)
        last = sdk_batch(name, SMALL[2:], first=3, before=answer["final_hash"], seal=True)
        assert send(second, last)["evidence_class"] == expected
        second.close()


def test_personal_data_is_left_out_where_that_is_asked_for_and_kept_where_it_is_not(tmp_path: Path) -> None:
    told = [("SESSION_START", {"agent_id": "a", "user": "jane.doe@example.org"})]
    for pii in (False, True):
        store = opened(tmp_path / str(pii), pii=pii)
        send(store, sdk_batch("s", told))
        assert ("jane.doe" in json.dumps(lines(store, "s"))) is not pii
        store.close()


def test_a_seal_has_the_hmac_of_the_key_that_is_given(tmp_path: Path) -> None:
    for key in (None, b"secret"):
        store = opened(tmp_path / str(bool(key)), hmac_key=key)
        send(store, sdk_batch("s", SMALL, seal=True))
        assert ("hmac" in lines(store, "s")[-1]) is bool(key)
        store.close()


def test_a_folder_has_one_service(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(UsageError, match="used by another service"):
        opened(tmp_path)
    store.close()
    opened(tmp_path).close()


def test_a_tape_that_fails_takes_nothing_more(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store._writer.failed = "no space"
    with pytest.raises(Refused, match="no space") as found:
        send(store, sdk_batch("s", SMALL))
    assert found.value.status == 503
    assert store.sessions() == []
    store._writer.failed = None
    store.close()


def test_a_batch_that_the_disk_did_not_take_is_not_answered_as_if_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path)
    writer = store._writer

    async def flushed() -> int:
        writer.failed = "no space"
        return 0

    monkeypatch.setattr(writer, "flushed", flushed)
    with pytest.raises(Refused, match="no space"):
        send(store, sdk_batch("s", SMALL))
    writer.failed = None
    store.close()


def test_what_is_no_tape_is_an_error_and_no_empty_store(tmp_path: Path) -> None:
    (tmp_path / "events-000001.tape").write_bytes(b"no tape")
    with pytest.raises(TapeError):
        opened(tmp_path)
