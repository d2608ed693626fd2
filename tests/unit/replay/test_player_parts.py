"""What a player binds, counts and reports.

Covers faultwire.replay.player.
"""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from faultwire.events import Message, Recorded, Request
from faultwire.history import Delivery
from faultwire.replay.answer import Answer
from faultwire.replay.explain_miss import Divergence
from faultwire.replay.mask import Masks
from faultwire.replay.match import Index
from faultwire.replay.player import LISTED, Player
from faultwire.replay.rebind import Rebinder
from faultwire.tape.redact.redactor import Redactor

JSON = (("content-type", "application/json"),)
RECORDED, LATER, LIVE, OTHER = (f"{letter}1b2c3d4-0000-4000-8000-000000000000" for letter in "abcd")
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def post(body: object, path: str = "/a") -> Request:
    return Request("POST", "https", "h.example", 443, path, JSON, orjson.dumps(body))


def recorded(number: int, request: Request, *, answer: bytes = b"") -> Recorded:
    delivered = Delivery(200, "OK", JSON, answer or b"r%d" % number, ((2, 5),))
    upstream = Delivery(200, "OK", JSON, b"up", ((2, 3),))
    return Recorded(
        "s", number, "tool", None, None, None, request, upstream, delivered, "complete", None, 0, 0, 1.0
    )


def player(*requests: Request, masks: tuple[str, ...] = (), rebind: bool = True, **options: Any) -> Player:
    strict = options.pop("strict_order", False)
    found = (recorded(number, request) for number, request in enumerate(requests, 1))
    index = Index(found, Masks.parse(masks), strict_order=strict)
    return Player(index, Redactor(b"k" * 32), Rebinder() if rebind else None, **options)


def body(found: Answer | Divergence | None) -> bytes | str:
    """What was answered, or why not."""
    if isinstance(found, Answer):
        return b"".join(data for data, _ in found.chunks)
    return found.kind if found is not None else "live"


# ---------------------------------------------------------------- generated values


@pytest.mark.parametrize("bound", [False, True])
def test_a_value_in_a_request_that_is_the_recorded_one_is_seen_on_both_sides(bound: bool) -> None:
    begin = [post({"id": "call_recorded1"}, "/0")] if bound else []

    def made() -> Player:
        found = player(*begin, post({"id": RECORDED}), post({"x": LATER}, "/b"), post({"x": RECORDED}, "/c"))
        if bound:
            assert body(found.play(post({"id": "call_another1"}, "/0"))) == b"r1"
        assert body(found.play(post({"id": RECORDED}))) == b"r%d" % (1 + bound)
        return found

    assert body(made().play(post({"x": LIVE}, "/b"))) == b"r%d" % (2 + bound), "the control"
    assert body(made().play(post({"x": RECORDED}, "/b"))) == "volatile value", "seen in this run"
    assert body(made().play(post({"x": LIVE}, "/c"))) == "volatile value", "seen on the tape"


def test_a_masked_value_belongs_to_the_live_one_from_then_on() -> None:
    def made() -> Player:
        found = player(post({"run": RECORDED, "n": 1}), post({"x": RECORDED}, "/b"), masks=("$.run",))
        assert body(found.play(post({"run": LIVE, "n": 1}))) == b"r1"
        return found

    assert body(made().play(post({"x": LIVE}, "/b"))) == b"r2"
    assert body(made().play(post({"x": OTHER}, "/b"))) == "volatile value"


def test_a_request_with_a_rebound_value_is_seen_as_a_whole() -> None:
    def made() -> Player:
        first = post({"x": RECORDED, "call": "call_recorded1"})
        found = player(first, post({"y": LATER}, "/b"), post({"y": "call_recorded1"}, "/c"))
        assert body(found.play(post({"x": LIVE, "call": "call_recorded1"}))) == b"r1"
        return found

    assert body(made().play(post({"y": OTHER}, "/b"))) == b"r2", "the control"
    assert body(made().play(post({"y": "call_another1"}, "/c"))) == "volatile value"
    assert body(made().play(post({"y": LIVE}, "/b"))) == "volatile value"
    assert body(made().play(post({"y": "call_recorded1"}, "/c"))) == b"r3"


def test_a_nearer_request_that_differs_in_more_than_such_values_does_not_hide_another() -> None:
    near = post({"x": LIVE, "z": OTHER, "y": "one"})
    found = player(near, post({"x": RECORDED, "z": LATER, "y": "two"}))
    assert body(found.play(post({"x": LIVE, "z": OTHER, "y": "two"}))) == b"r2"


def test_one_that_is_early_in_strict_order_is_named_and_binds_nothing() -> None:
    found = player(post({"n": 1}), post({"x": RECORDED}), strict_order=True)
    early = found.play(post({"x": LIVE}), 7)
    assert isinstance(early, Divergence)
    assert (early.kind, early.expected) == ("order", "s#1 POST https://h.example/a")
    assert [body(found.play(request)) for request in (post({"n": 1}), post({"x": OTHER}))] == [b"r1", b"r2"]
    assert body(found.play(post({"x": OTHER}))) == "new call"


def test_without_a_rebinder_no_value_stands_for_another() -> None:
    found = player(post({"x": RECORDED}), rebind=False)
    assert body(found.play(post({"x": LIVE}))) == "volatile value"
    assert body(found.play(post({"x": RECORDED}))) == b"r1"


def test_a_request_without_a_body_is_the_recorded_one() -> None:
    bare = Request("GET", "https", "h.example", 443, "/a", ())
    for rebind in (True, False):
        found = player(bare, bare, rebind=rebind)
        assert [body(found.play(bare)) for _ in range(3)] == [b"r1", b"r2", "new call"]


# ---------------------------------------------------------------- what is served and reported


def test_a_player_gives_the_agent_s_answers_or_the_server_s() -> None:
    assert body(player(post(1)).play(post(1))) == b"r1"
    assert body(player(post(1), upstream=True).play(post(1))) == b"up"
    assert player(post(1)).arrive(post(1), 1) is False


def test_answers_have_the_live_values() -> None:
    index = Index([recorded(1, post({"x": RECORDED}), answer=f'{{"id":"{RECORDED}"}}'.encode())])
    found = Player(index, Redactor(b"k" * 32), Rebinder())
    assert body(found.play(post({"x": LIVE}))) == f'{{"id":"{LIVE}"}}'.encode()


def test_what_went_to_its_server_out_of_turn_is_not_left() -> None:
    found = player(post(1), post(2), live=True, strict_order=True)
    assert [body(found.play(post(n), n)) for n in (3, 2, 1)] == ["live", "live", b"r1"]
    report = found.report()
    assert (report["unasked"], report["answered"]) == ({}, {"1": ["s", 1]})
    assert (report["served"], report["missed"], report["recorded"]) == (1, 2, 2)
    free = player(post(1), live=True)
    assert [body(free.play(post(1), n)) for n in (1, 2)] == [b"r1", "live"]
    assert free.report()["unasked"] == {}


def test_every_miss_counts_and_so_many_are_listed() -> None:
    found = player(*(post(n, f"/{n}") for n in range(60)))
    for number in range(1, 61):
        found.play(post({"new": number}, "/x"), number)
    report = found.report()
    assert (report["missed"], len(report["misses"]), report["left"]) == (60, LISTED, 60)
    assert len(report["leftovers"]) == LISTED
    assert report["classes"] == {"new call": 60, "missing call": 60}
    assert [one["exchange"] for one in report["misses"]] == list(range(1, LISTED + 1))
    done = player(post(1))
    done.play(post(1))
    assert done.report()["classes"] == {}
    assert "unasked" not in done.report()


def test_what_a_fault_answers_and_is_not_recorded_is_passed_over() -> None:
    found = player(post(1))
    found.pass_over(post(2))
    assert found.report()["missed"] == 0


# ---------------------------------------------------------------- WebSockets


def message(
    by: Any, data: bytes, sent: int | None = 1, delivered: int | None = 2, kind: Any = "text"
) -> Message:
    return Message(by, kind, data, sent, delivered)


def test_a_message_that_was_not_recorded_is_a_miss() -> None:
    found = player()
    script = found.script((message("client", b'{"a":1,"event_id":"e"}'), message("server", b"hello")))
    assert list(script.due()) == []
    wrong = script.received(b'{"a":2}', text=True)
    assert wrong == "a message differs in `$.a`"
    assert script.received(b'{"a":1,"event_id":"f"}', text=False) is not None
    assert script.received(b'{"event_id":"f","a":1}', text=True) is None
    assert [one.data for one in script.due()] == [b"hello"]
    assert script.received(b"more", text=True) == "a message was not recorded"
    report = found.report()
    assert report["classes"] == {"changed prompt": 2, "new call": 1}
    first = report["misses"][0]
    assert (first["class"], first["request"], first["reason"]) == ("changed prompt", "GET websocket", wrong)
    assert [one["path"] for one in first["differences"]] == ["$.a", "$.event_id"]


def test_a_secret_in_a_message_is_in_no_reason_and_no_report() -> None:
    found = player()
    script = found.script((message("client", b'{"key":"short"}'),))
    wrong = script.received(orjson.dumps({"key": SECRET}), text=True)
    assert wrong is not None
    assert "redacted:v1:" in str(found.report())
    assert SECRET not in wrong + str(found.report())


def test_reasons_are_short_and_differences_few() -> None:
    found = player()
    old = {f"{'long' * 30}{n}": n for n in range(9)}
    script = found.script((message("client", orjson.dumps(old)),))
    wrong = script.received(orjson.dumps(dict.fromkeys(old, "x")), text=True)
    assert wrong is not None
    assert len(wrong) == 100
    assert len(found.report()["misses"][0]["differences"]) == 5


def test_a_script_has_what_one_side_got_or_what_the_other_sent() -> None:
    messages = (
        message("server", b"sent", 1, None),
        message("server", b"made", None, 2),
        message("client", b"never", None, 2),
        message("client", b"lost", 1, None),
        message("client", b"", 1, 2, "close"),
    )
    assert [one.data for one in player().script(messages).due()] == [b"made"]
    script = player(upstream=True).script(messages)
    assert [one.data for one in script.due()] == [b"sent"]
    assert script.received(b"lost", text=True) is None
    assert script.received(b"", text=True) == "a message was not recorded"
