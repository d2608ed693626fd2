"""Which recorded exchange answers a request.

Covers faultwire.replay.match.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson
import pytest

from faultwire.events import Recorded, Request
from faultwire.history import Delivery
from faultwire.replay.mask import Masks
from faultwire.replay.match import AT_ONCE, Entry, Index, Missed
from faultwire.replay.request_key import RequestKey
from faultwire.replay.shingles import sketch
from faultwire.tape.redact.redactor import Redactor

JSON = (("content-type", "application/json"),)
A, B, C, D = (f"redacted:v1:{letter * 32}" for letter in "abcd")
REDACTOR = Redactor(b"k" * 32)


def post(value: object, path: str = "/tool", **changed: Any) -> Request:
    made = Request("POST", "https", "h.example", 443, path, JSON, orjson.dumps(value))
    return replace(made, **changed)


def recorded(number: int, request: Request) -> Recorded:
    answer = Delivery(200, "OK", JSON, b"r", ((1, 5),))
    return Recorded(
        "s", number, "tool", None, None, None, request, answer, answer, "complete", None, 0, 0, 1.0
    )


def index(*bodies: object, **options: Any) -> Index:
    return Index((recorded(n, post(body)) for n, body in enumerate(bodies)), **options)


def take(on: Index, body: object) -> int | tuple[str, int | None]:
    """The number of the exchange that answers, or why none does and which one would have."""
    found = on.take(on.ask(post(body)))
    if isinstance(found, Entry):
        return found.recorded.number
    return found.why, found.like.recorded.number if found.like else None


def left(on: Index) -> list[int]:
    return [entry.recorded.number for entry in on.left]


# ---------------------------------------------------------------- order and use


def test_equal_calls_are_answered_in_the_recorded_order_and_others_in_any() -> None:
    on = index("a", "b", "a", "a")
    assert left(on) == [0, 1, 2, 3]
    assert [take(on, "a"), take(on, "a"), take(on, "b"), take(on, "a")] == [0, 2, 1, 3]
    assert left(on) == []
    assert on.expected is None


def test_no_exchange_answers_twice_and_the_last_one_that_asked_the_same_is_named() -> None:
    on = index("a", "b", "a", "c")
    assert [take(on, "a"), take(on, "a")] == [0, 2]
    assert take(on, "a") == ("exhausted", 2)
    assert take(on, "x") == ("unknown", None)
    assert left(on) == [1, 3]
    wanted = on.ask(post("x"))
    assert on.take(wanted) == Missed(wanted, "unknown", None)


def test_with_reuse_the_last_one_answers_again() -> None:
    on = index("a", "a", "b", reuse=True)
    assert [take(on, "a") for _ in range(4)] == [0, 1, 1, 1]
    assert [entry.used for entry in on.entries] == [1, 3, 0]
    assert take(on, "x") == ("unknown", None)


def test_of_equal_calls_that_were_made_at_once_each_agent_gets_its_own() -> None:
    def of(agent: str, attempt: str = "0") -> Request:
        return post("a", headers=(*JSON, ("User-Agent", agent), ("x-attempt", attempt)))

    calls = [of("planner/1"), of("critic/1"), of("planner/1", "1")]

    def taken(*wanted: Request, **options: Any) -> list[int | str]:
        on = Index((recorded(n, one) for n, one in enumerate(calls)), **options)
        found = (on.take(on.ask(one)) for one in wanted)
        return [one.recorded.number if isinstance(one, Entry) else one.why for one in found]

    assert taken(of("critic/1"), of("planner/1", "1"), of("planner/1")) == [1, 2, 0]
    assert taken(of("new/2"), of("critic/1"), of("planner/1")) == [0, 1, 2]
    assert taken(of("critic/1"), strict_order=True) == [0]
    assert taken(of("critic/1"), of("critic/1"), of("critic/1"), of("critic/1")) == [1, 0, 2, "exhausted"]


def test_no_more_calls_are_taken_for_made_at_once_than_can_be() -> None:
    other = [("user-agent", "one")] * AT_ONCE
    fields = [*other[1:], ("user-agent", "two"), ("user-agent", "three")]
    on = Index(recorded(n, post("a", headers=(*JSON, each))) for n, each in enumerate(fields))
    near, far = (on.ask(post("a", headers=(*JSON, ("user-agent", name)))) for name in ("two", "three"))
    assert on.take(far) is on.entries[0]
    assert on.take(near) is on.entries[AT_ONCE - 1]


def test_what_is_expected_is_the_first_that_nobody_has_asked_for() -> None:
    on = index("a", "b", "c")
    expected = []
    for body in ("b", "a", "c"):
        expected.append(on.expected and on.expected.recorded.number)
        take(on, body)
    assert expected == [0, 0, 2]
    assert on.expected is None
    assert Index(()).expected is None


def test_in_strict_order_only_the_expected_one_answers() -> None:
    on = index("a", "b", "a", strict_order=True)
    assert take(on, "b") == ("order", 1)
    assert [entry.used for entry in on.entries] == [0, 0, 0]
    assert [on.is_early(entry) for entry in on.entries] == [False, True, True]
    assert [take(on, "a"), take(on, "a"), take(on, "b"), take(on, "a")] == [0, ("order", 2), 1, 2]
    free = index("a", "b")
    assert [free.is_early(entry) for entry in free.entries] == [False, False]


def test_an_exchange_that_is_used_by_hand_answers_nobody() -> None:
    on = index("a", "a", "a")
    on.use(on.entries[1])
    assert [take(on, "a"), take(on, "a"), take(on, "a")] == [0, 2, ("exhausted", 2)]
    assert [entry.used for entry in on.entries] == [1, 1, 1]


def test_what_is_given_back_answers_the_next_and_need_not_be_asked_for() -> None:
    on = index("a", "b", "a", "a")
    assert [take(on, "a"), take(on, "a")] == [0, 2]
    on.give_back(on.entries[2])
    on.give_back(on.entries[0])
    assert [entry.used for entry in on.entries] == [0, 0, 0, 0]
    assert left(on) == [1, 3]
    assert on.expected is on.entries[1]
    on.give_back(on.entries[0])  # is there already
    assert [take(on, "a") for _ in range(4)] == [0, 2, 3, ("exhausted", 3)]


def test_what_was_reused_and_given_back_twice_is_there_once() -> None:
    on = index("a", reuse=True)
    assert [take(on, "a") for _ in range(3)] == [0, 0, 0]
    on.give_back(on.entries[0])
    on.give_back(on.entries[0])
    assert on.entries[0].used == 1
    assert [take(on, "a"), take(on, "a")] == [0, 0]
    assert on.entries[0].used == 3


def test_what_is_given_back_goes_to_its_place_between_others() -> None:
    on = index("a", "a", "a", "a")
    on.use(on.entries[1])
    on.give_back(on.entries[1])
    assert [take(on, "a") for _ in range(4)] == [0, 1, 2, 3]


def test_in_strict_order_what_was_given_back_may_come_at_any_time() -> None:
    on = index("a", "b", "c", strict_order=True)
    assert take(on, "a") == 0
    on.give_back(on.entries[0])
    assert not on.is_early(on.entries[0])
    assert [take(on, "c"), take(on, "b"), take(on, "a"), take(on, "c")] == [("order", 2), 1, 0, 2]


def test_an_entry_states_what_was_recorded() -> None:
    requests = [post("a", "/one?q=1"), post("b", "/one"), post(None, "/two", body=None)]
    on = Index(recorded(n + 5, request) for n, request in enumerate(requests))
    assert [entry.at for entry in on.entries] == [0, 1, 2]
    assert [entry.recorded.number for entry in on.entries] == [5, 6, 7]
    assert [entry.sketch for entry in on.entries] == [sketch(request) for request in requests]
    bodies = (b'"a"', b'"b"', b"")
    assert [entry.body for entry in on.entries] == [sha256(body).digest() for body in bodies]
    one, two = ("POST", "h.example:443", "/one"), ("POST", "h.example:443", "/two")
    assert on.by_place == {one: on.entries[:2], two: on.entries[2:]}
    assert [entry.place for entry in on.entries] == [one, one, two]
    assert on.masks == Masks()


def test_masks_count_for_what_is_recorded_and_for_what_is_asked() -> None:
    masks = Masks.parse(["$.run"])
    on = index({"run": 1, "x": 1}, masks=masks)
    assert take(on, {"run": 2, "x": 2}) == ("unknown", None)
    assert take(on, {"run": 2, "x": 1}) == 0
    assert on.masks is masks
    assert take(index({"run": 1, "x": 1}), {"run": 2, "x": 1}) == ("unknown", None), "the control"


# ---------------------------------------------------------------- a request that is the same byte for byte


def test_a_request_that_is_recorded_byte_for_byte_is_known_without_being_read() -> None:
    request = post({"key": A})
    on = Index([recorded(0, request), recorded(1, request)])
    found = on.ask_again(request, sha256(request.body or b"").digest())
    first = on.entries[0]
    assert found == RequestKey(request, "other", None, first.key, first.blind, (A,), ())
    assert found is not None
    assert [on.take(found), on.take(found)] == on.entries
    again = replace(request, headers=(*JSON, ("user-agent", "x")), host="H.example.")
    assert on.ask_again(again, sha256(request.body or b"").digest()) is not None


@pytest.mark.parametrize(
    "changed",
    [
        {"method": "PUT"},
        {"host": "other.example"},
        {"port": 444},
        {"scheme": "http"},
        {"path": "/tool?x=1"},
        {"path": "/tools"},
        {"headers": (*JSON, ("SOAPAction", "x"))},
    ],
    ids=str,
)
def test_a_request_that_is_another_is_to_be_read(changed: dict[str, Any]) -> None:
    request = post({"key": A})
    on = Index([recorded(0, request)])
    digest = sha256(request.body or b"").digest()
    assert on.ask_again(request, digest) is not None, "the control"
    assert on.ask_again(replace(request, **changed), digest) is None
    assert on.ask_again(request, bytes(32)) is None


# ---------------------------------------------------------------- secrets


def test_the_same_secret_needs_no_other() -> None:
    on = index({"k": A}, {"k": B})
    assert [take(on, {"k": B}), take(on, {"k": A}), take(on, {"k": A})] == [1, 0, ("exhausted", 0)]


def test_a_secret_that_the_tape_does_not_know_stands_for_the_same_one_always() -> None:
    on = index({"k": A}, {"k": B}, {"k": A}, {"k": B})
    assert take(on, {"k": C}) == 0
    assert take(on, {"k": C}) == 2
    assert take(on, {"k": C}) == ("exhausted", 2)
    assert take(on, {"k": D}) == 1
    assert [take(on, {"k": D}), take(on, {"k": D})] == [3, ("exhausted", 3)]


def test_two_secrets_do_not_stand_for_one() -> None:
    on = index({"k": A}, {"k": A})
    assert [take(on, {"k": C}), take(on, {"k": D}), take(on, {"k": C})] == [0, ("unknown", None), 1]


def test_one_secret_does_not_stand_for_two_nor_two_for_one_in_one_request() -> None:
    assert take(index({"k": [A, B]}), {"k": [C, C]}) == ("unknown", None)
    assert take(index({"k": [A, A]}), {"k": [C, D]}) == ("unknown", None)
    assert take(index({"k": [A, A]}), {"k": [C, C]}) == 0
    assert take(index({"k": [A, B]}), {"k": [C, D]}) == 0


def test_a_secret_of_the_tape_stands_for_itself_only() -> None:
    on = index({"k": A}, {"other": B})
    assert take(on, {"k": B}) == ("unknown", None)
    assert take(index({"k": [A, B]}), {"k": [A, C]}) == 0
    assert take(index({"k": [A, B]}), {"k": [B, C]}) == ("unknown", None)


def test_what_a_secret_stands_for_is_kept_from_call_to_call_and_only_then() -> None:
    on = index({"k": [A, B]}, {"k": [B, A]}, {"x": B})
    assert take(on, {"k": [C, D]}) == 0
    assert take(on, {"x": C}) == ("unknown", None)
    assert take(on, {"k": [C, D]}) == ("exhausted", 0)
    assert take(on, {"k": [D, C]}) == 1
    assert take(on, {"x": D}) == 2


def test_a_call_that_is_early_binds_no_secret() -> None:
    on = index({"x": 1}, {"k": A}, {"k": B}, strict_order=True)
    assert take(on, {"k": C}) == ("order", 1)
    assert [take(on, {"x": 1}), take(on, {"k": D}), take(on, {"k": C})] == [0, 1, 2]


def test_masked_secrets_may_be_more_or_others_and_stand_for_none() -> None:
    on = index({"run": [A], "x": 1}, {"x": A}, {"x": B}, masks=Masks.parse(["$.run"]))
    assert take(on, {"run": [C, D], "x": 1}) == 0
    assert [take(on, {"x": D}), take(on, {"x": C})] == [1, 2], "neither C nor D stands for A already"


def test_a_placeholder_without_its_digits_is_no_secret() -> None:
    assert take(index({"k": A}), {"k": "redacted:v1:*"}) == ("unknown", None)


def test_a_secret_of_the_tape_that_stands_for_itself_leaves_its_place_to_others() -> None:
    on = index({"k": [A, B]}, {"k": A})
    assert [take(on, {"k": [A, C]}), take(on, {"k": D})] == [0, 1]


def test_what_was_asked_is_named_where_nothing_answers() -> None:
    on = index("a", "b", strict_order=True)
    early = on.ask(post("b"))
    assert on.take(early) == Missed(early, "order", on.entries[1])
    assert take(on, "a") == 0
    again = on.ask(post("a"))
    assert on.take(again) == Missed(again, "exhausted", on.entries[0])
