"""Values that belong together: which may, what is compared then, and what recorded answers say.

Covers faultwire.replay.rebind.
"""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from faultwire.events import Request
from faultwire.replay.mask import Masks
from faultwire.replay.rebind import Rebinder
from faultwire.replay.request_key import RequestKey, asked

JSON = (("content-type", "application/json"),)
ONE, TWO, THREE, FOUR = (f"{letter}1b2c3d4-0000-4000-8000-000000000000" for letter in "abcd")
CALL, OTHER = "call_recorded1", "call_another1"
PLACE = ("$", "x")


def request(body: bytes | None, path: str = "/orders", host: str = "shop.example") -> Request:
    return Request("POST", "https", host, 443, path, JSON, body)


def model() -> RequestKey:
    """A request to a model that brings the result of a tool at `messages[1].content`."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]
    body = orjson.dumps({"model": "m", "messages": messages})
    return asked(request(body, "/v1/chat/completions", "api.openai.com"), Masks())


SERVER = asked(request(b"{}"), Masks())


def bound(*found: tuple[str, str]) -> Rebinder:
    made = Rebinder()
    made.bind(list(found))
    return made


# ---------------------------------------------------------------- which may


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (("$", "messages", 1, "content"), True),
        (("$", "messages", 1, "content", 0, "text"), True),
        (("$", "messages", 0, "content"), False),
        (("$", "messages"), False),
        (("?", "messages", 1, "content"), False),
        ((), False),
    ],
)
def test_in_a_request_to_a_model_only_what_a_tool_returned_may_differ(path: Any, allowed: bool) -> None:
    wanted = model()
    assert wanted.kind == "llm"
    assert Rebinder().allows(wanted, [(path, ONE, TWO)]) == ([(ONE, TWO)] if allowed else None)
    assert Rebinder().allows(SERVER, [(path, ONE, TWO)]) == [(ONE, TWO)], "anywhere in one to a server"


def test_a_body_that_is_no_request_of_its_protocol_has_no_results() -> None:
    for body in (b"[]", b"{", b"{}", None):
        wanted = asked(request(body, "/v1/chat/completions", "api.openai.com"), Masks())
        assert Rebinder().allows(wanted, [(("$", "messages"), ONE, TWO)]) in (None, [(ONE, TWO)])


def test_two_values_do_not_belong_to_one_nor_one_to_two() -> None:
    assert Rebinder().allows(SERVER, [(PLACE, ONE, THREE), (PLACE, TWO, THREE)]) is None
    assert Rebinder().allows(SERVER, [(PLACE, ONE, THREE), (PLACE, ONE, FOUR)]) is None
    assert Rebinder().allows(SERVER, [(PLACE, ONE, THREE), (PLACE, ONE, THREE)]) == [(ONE, THREE)]
    made = bound((ONE, THREE))
    assert made.bound
    assert not Rebinder().bound
    assert made.allows(SERVER, [(PLACE, ONE, THREE)]) == [(ONE, THREE)]
    assert made.allows(SERVER, [(PLACE, ONE, FOUR)]) is None
    assert made.allows(SERVER, [(PLACE, TWO, THREE)]) is None
    assert made.allows(SERVER, [(PLACE, TWO, ONE)]) is None, "THREE, as the tape has it"


INSTANTS = ("2026-01-11T10:00:00Z", "2026-02-11T10:00:01Z")


@pytest.mark.parametrize(("recorded", "live"), [(ONE, TWO), (CALL, OTHER), INSTANTS])
def test_a_value_that_was_seen_on_its_side_is_not_fresh(recorded: str, live: str) -> None:
    places = [(PLACE, recorded, live)]

    def seen(**texts: str) -> Rebinder:
        made = Rebinder()
        made.observe(**{side: f'"at\\n{text}"'.encode() for side, text in texts.items()})
        made.observe(live=b"other", recorded=b"other")
        return made

    assert seen(live=live).allows(SERVER, places) is None
    assert seen(recorded=recorded).allows(SERVER, places) is None
    assert seen(live=recorded).allows(SERVER, places) == [(recorded, live)]
    assert seen(recorded=live).allows(SERVER, places) == [(recorded, live)]
    both = Rebinder()
    text = f"{recorded} {THREE}".encode()
    both.observe(live=text, recorded=text)
    assert both.allows(SERVER, places) is None
    assert both.allows(SERVER, [(PLACE, FOUR, THREE)]) is None


def test_of_what_is_masked_fresh_values_belong_together() -> None:
    places: Any = [(PLACE, "x", "y"), (PLACE, ONE, TWO), (PLACE, 1, 2)]
    assert Rebinder().masked(places) == [(ONE, TWO)]
    for side, text in (("live", TWO), ("recorded", ONE)):
        made = Rebinder()
        made.observe(**{side: text.encode()})
        assert made.masked(places) == []


def test_texts_are_kept_to_be_searched_later_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faultwire.replay.rebind.UNREAD", 10)
    made, same = Rebinder(), b"x" * 10
    for _ in range(2):  # the second time after all was searched
        made.observe(live=b"12345", recorded=b"12345"[:4] + b"6")
        assert len(made._unread) == 1
        made.observe(live=b"7")
        assert len(made._unread) == 0
    made.observe(live=same, recorded=same)
    assert len(made._unread) == 1
    made.observe()
    assert len(made._unread) == 2


# ---------------------------------------------------------------- requests


def test_a_live_request_has_the_values_of_the_tape_in_its_path_and_body() -> None:
    made = bound((CALL, OTHER), (ONE, TWO))
    found = made.recorded(request(f'{{"a":"{OTHER}","b":"\xff"}}'.encode("latin-1"), f"/o/{TWO}"))
    assert found == request(f'{{"a":"{CALL}","b":"\xff"}}'.encode("latin-1"), f"/o/{ONE}")
    for body in (None, b""):
        assert made.recorded(request(body, f"/{OTHER}")) == request(body, f"/{CALL}")
    same = request(OTHER.encode())
    assert Rebinder().recorded(same) is same


def test_a_value_is_replaced_as_it_is_written() -> None:
    assert bound(("a\\1b", OTHER)).recorded(request(OTHER.encode())).body == b"a\\1b"


def test_a_value_is_no_part_of_a_longer_one_and_may_stand_behind_a_dot() -> None:
    made = bound(("1763900000", "1763900009"), (ONE, TWO), (CALL, OTHER))
    text = f"1763900000 17639000001 0.1763900000 {CALL}0 v1.{CALL} v1.{ONE}"
    assert made.live(text.encode(), [])[0] == (
        f"1763900009 17639000001 0.1763900000 {CALL}0 v1.{OTHER} v1.{TWO}".encode()
    )


def test_a_value_that_begins_with_another_is_replaced_as_a_whole() -> None:
    made = bound(("1763900000", "1763900009"), ("1763900000.5", "1763900009.25"))
    recorded = b"1763900000.5 1763900000"
    live, ends = made.live(recorded, [12, 23])
    assert (live, ends) == (b"1763900009.25 1763900009", [13, 24])
    assert made.recorded(request(live)).body == recorded


LONG, LONGER = f"{CALL}-2", f"{OTHER}-33"


def test_of_values_that_begin_alike_the_longest_is_replaced() -> None:
    for pairs in ([(CALL, OTHER), (LONG, LONGER)], [(LONG, LONGER), (CALL, OTHER)]):
        made = bound(*pairs, (ONE, TWO))
        recorded, live = f"{LONG} {CALL} {ONE}".encode(), f"{LONGER} {OTHER} {TWO}".encode()
        assert made.live(recorded, [16, len(recorded)]) == (live, [len(LONGER), len(live)])
        assert made.recorded(request(live)).body == recorded


def test_a_number_is_no_part_of_a_fraction_nor_of_a_version() -> None:
    made = bound(("1763900000", "1763900009"), ("1763900000.5", "1763900009.25"))
    for text in (b"1763900000.25", b"3.1763900000.5", b"3.1763900000", b"1763900000.55"):
        assert made.live(text, []) == (text, [])


@pytest.mark.parametrize("mark", ["\\u201c", "\\u2019", "\\n", "\\u00E9", "«"])
@pytest.mark.parametrize(
    ("recorded", "live"), [(CALL, OTHER), (ONE, TWO), ("1763900000", "1763900009"), ("1763900000.5", "17639")]
)
def test_a_value_may_stand_behind_an_escaped_character(mark: str, recorded: str, live: str) -> None:
    text = '{{"say": "{0}{1}{0}, x"}}'
    was, now = (text.format(mark, value).encode("latin-1") for value in (recorded, live))
    made = bound((recorded, live))
    assert made.live(was, []) == (now, [])
    assert made.recorded(request(now)).body == was


# ---------------------------------------------------------------- answers


def test_answers_in_which_live_values_were_put_are_counted() -> None:
    made = bound((CALL, OTHER))
    for body in (f"{CALL} {CALL}".encode(), b"none", b"", CALL.encode()):
        made.live(body, [])
    assert made.rewritten == 2


def test_an_answer_may_begin_with_a_value_and_be_nothing_but_values() -> None:
    assert bound((CALL, OTHER)).live(f"{CALL} {CALL}".encode() + b"\xff", [14, 30]) == (
        f"{OTHER} {OTHER}".encode() + b"\xff",
        [13, 28],
    )
    assert bound((CALL, OTHER)).live(b"", [0]) == (b"", [0])
    assert Rebinder().live(CALL.encode(), [14]) == (CALL.encode(), [14])


def events(*texts: tuple[str, str]) -> bytes:
    """A stream of Chat Completions whose deltas have these members and texts."""
    chunks = [{"choices": [{"index": 0, "delta": {name: text}}]} for name, text in texts]
    return b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks)


def content(*texts: str) -> bytes:
    return events(*(("content", text) for text in texts))


@pytest.mark.parametrize(
    ("recorded", "live", "expected"),
    [
        (("call_", "recor", "ded1"), "call_l1234567890", ("call_", "l1234", "567890")),
        (("call_", "recor", "ded1"), "call_l1", ("call_", "l1", "")),
        (("it is call_", "recor", "ded1 now"), "call_l1234567890", ("it is call_", "l1234", "567890 now")),
        (("call_recorded", "1"), "call_live1", ("call_live1", "")),
        (("c", "all_recorded1, call_rec", "orded1"), "call_live1", ("c", "all_live1, call_liv", "e1")),
        (("call_recorded1 and call_", "recorded1"), "call_live1", ("call_live1 and call_", "live1")),
    ],
)
def test_a_value_in_several_events_keeps_its_share_in_each(recorded: Any, live: str, expected: Any) -> None:
    body = content(*recorded)
    found, ends = bound((CALL, live)).live(body, [len(body)])
    assert found == content(*expected)
    assert ends == [len(found)]


def test_texts_of_two_members_are_joined_each_on_its_own() -> None:
    made = bound((CALL, OTHER), (ONE, TWO))
    body = events(("content", "call_"), ("refusal", ONE[:9]), ("content", "recorded1"), ("refusal", ONE[9:]))
    expected = events(
        ("content", "call_"), ("refusal", TWO[:9]), ("content", "another1"), ("refusal", TWO[9:])
    )
    assert made.live(body, [])[0] == expected
