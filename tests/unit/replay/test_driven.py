"""What is sent to an agent again, in its own ids, and how its answers are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from faultwire.events import Request
from faultwire.profile.model import AgentSite
from faultwire.replay.driven import Caller, as_json, requests_to
from faultwire.tape.read.reader import TapeReader

ONE, TWO = "3f0c7a52-8c1e-4e0b-9a54-0d7a2f1b6c11", "b41d9f0e-2222-4e0b-9a54-0d7a2f1b6c99"
SITES = {"billing": AgentSite(url="*/billing*")}


def post(body: Any, path: str = "/billing") -> Request:
    headers = (("content-type", "application/json"), ("user-agent", "planner/1"), ("Content-Length", "9"))
    return Request("POST", "http", "10.0.0.1", 8000, path, headers, orjson.dumps(body))


def taped(deck: Any) -> list[Any]:
    path: Path = deck.close()
    with TapeReader.open(path) as tape:
        return requests_to("billing", SITES, tape.exchanges())


def test_only_requests_to_the_agent_are_sent_and_nothing_of_their_connection(deck: Any) -> None:
    deck.add(post({"task": "a"}), b"{}")
    deck.add(post({"task": "b"}, "/writer"), b"{}")
    (one,) = taped(deck)
    sent = Caller().request(one)
    assert sent.body == b'{"task":"a"}'
    assert [name for name, _ in sent.headers] == ["content-type", "user-agent"]


def test_an_id_that_the_agent_made_anew_stands_where_the_recorded_one_stood(deck: Any) -> None:
    deck.add(post({"task": "a"}), orjson.dumps({"id": ONE, "answer": "Paid."}))
    deck.add(post({"task": "b", "follows": ONE}), orjson.dumps({"id": TWO, "answer": "Paid."}))
    first, second = taped(deck)
    caller = Caller()
    assert orjson.loads(caller.request(second).body or b"")["follows"] == ONE, (
        "the control: nothing is known yet"
    )
    assert caller.compare(first, 200, orjson.dumps({"id": TWO, "answer": "Paid."})) == ()
    assert orjson.loads(caller.request(second).body or b"")["follows"] == TWO


def test_other_words_and_another_status_are_differences(deck: Any) -> None:
    deck.add(post({"task": "a"}), orjson.dumps({"id": ONE, "answer": "Paid."}))
    (one,) = taped(deck)
    found = Caller().compare(one, 500, orjson.dumps({"id": TWO, "answer": "Reserved."}))
    assert [(each.path, each.recorded, each.asked) for each in found] == [
        ("status", "200", "500"), ("$.answer", "Paid.", "Reserved."),
    ]  # fmt: skip
    assert as_json(one, found)["same"] is False
    assert as_json(one, ())["same"] is True
