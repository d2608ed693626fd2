"""`tape.record.event_log`, ledgers: the same event as line by line, and no line that was not looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.events import Exchange, FaultFired, Request
from faultwire.tape.format import events as tape_events
from faultwire.tape.format.hash_chain import record_bytes
from faultwire.tape.record.event_log import KEPT, MANY, Ledger
from faultwire.tape.redact.redactor import Redactor

EXCHANGE = Exchange("s", 7, Request("POST", "https", "h", 443, "/"), "llm")
SECRET = "sk-proj-Zq3vT8mKx1Rw5Yb7Nc2Hd9Lf4Pj6Gs0Aa8Ee"


def lines(count: int) -> list[FaultFired]:
    return [
        FaultFired(
            "status", f"status#{n}", "response", "skipped", f"call {n} of the first 9 passes", "k" * 64, n, 0,
            settings={"code": 500 + n},
        )
        for n in range(count)
    ]  # fmt: skip


def slowly(redactor: Redactor, faults: list[FaultFired]) -> bytes:
    event = tape_events.fault(EXCHANGE, faults)
    for line in event["lines"]:
        line["key"] = redactor.keyed(line["key"])
    return record_bytes(event)


@pytest.mark.parametrize("count", [1, MANY - 1, MANY, 40])
def test_the_bytes_are_those_of_the_plain_way(count: int) -> None:
    redactor = Redactor(b"k" * 32)
    ledger, faults = Ledger(redactor), lines(count)
    for _ in range(2):  # the second time from memory
        event, clean = ledger.event(EXCHANGE, faults)
        assert record_bytes(event) == slowly(redactor, faults)
        assert clean is (count >= MANY)


@pytest.mark.parametrize("member", ["reason", "subject", "effect", "id", "settings"])
def test_a_ledger_in_which_one_string_is_suspect_is_not_clean(member: str) -> None:
    ledger = Ledger(Redactor(b"k" * 32))
    faults = lines(40)
    assert ledger.event(EXCHANGE, faults)[1], "the control"
    value = {"body": SECRET} if member == "settings" else SECRET
    faults[17] = replace(faults[17], **{member: value})
    assert not ledger.event(EXCHANGE, faults)[1]


def test_settings_of_the_same_place_in_memory_are_not_taken_for_others() -> None:
    redactor = Redactor(b"k" * 32)
    ledger = Ledger(redactor)
    for code in range(300):  # each is freed before the next one is made, were it not kept
        made = lines(1)
        made[0] = replace(made[0], settings={"code": code})
        assert record_bytes(ledger.event(EXCHANGE, made)[0]) == slowly(redactor, made)


def test_memory_is_bounded() -> None:
    ledger = Ledger(Redactor(b"k" * 32))
    for n in range(KEPT + 20):
        ledger.event(EXCHANGE, [replace(lines(1)[0], id=f"e{n}")])
    assert len(ledger._known) == KEPT
