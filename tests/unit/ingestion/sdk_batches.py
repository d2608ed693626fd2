"""Batches as an SDK of ELS 1.0 makes them, with hashes and a chain by the format's own rule."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

GENESIS = "0" * 64
WHEN = "2026-11-28T06:00:00.000001Z"
Json = dict[str, Any]


def sdk_hash(event: Json) -> str:
    """Canonical JSON of what has no numbers but integers: sorted, compact, UTF-8."""
    text = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sdk_batch(
    session: str,
    told: Sequence[tuple[str, Json]],
    *,
    first: int = 1,
    before: str = GENESIS,
    seal: bool = False,
) -> Json:
    events = []
    for number, (kind, payload) in enumerate(deepcopy(list(told)), start=first):
        event = {
            "seq": number,
            "event_type": kind,
            "session_id": session,
            "timestamp": WHEN,
            "payload": payload,
            "prev_hash": before,
        }
        made = sdk_hash(event)
        events.append(
            {
                "event_type": kind,
                "sequence_number": number,
                "timestamp_monotonic": 0,
                "timestamp": WHEN,
                "payload": payload,
                "event_hash": made,
                "prev_event_hash": before,
            }
        )
        before = made
    return {"session_id": session, "events": events, "seal": seal}


SMALL = [
    ("SESSION_START", {"agent_id": "a"}),
    ("LLM_CALL", {"model_id": "m"}),
    ("SESSION_END", {"status": "success"}),
]
