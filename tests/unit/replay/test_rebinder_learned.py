"""Values that belong together although their shape does not show that they are generated.

Covers faultwire.replay.rebind and what it asks of faultwire.replay.learned_ids.
"""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.unit.replay.test_rebinder import (
    CALL,
    FOUR,
    ONE,
    OTHER,
    PLACE,
    SERVER,
    THREE,
    TWO,
    bound,
    model,
)

from faultwire.replay.learned_ids import Pair, ids_in
from faultwire.replay.rebind import Rebinder


def events(*texts: tuple[str, str]) -> bytes:
    """A stream of Chat Completions whose deltas have these members and texts."""
    chunks = [{"choices": [{"index": 0, "delta": {name: text}}]} for name, text in texts]
    return b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks)


@pytest.mark.parametrize("text", ["20443", "30555", "chatcmpl-40666"])
def test_what_a_stream_says_in_pieces_was_seen_and_texts_of_a_document_are_not_joined(text: str) -> None:
    stream = events(("content", "no 20"), ("refusal", "no 30"), ("content", "443"), ("refusal", "555"))
    made = Rebinder()
    made.observe(live=b'data: {"id": "chatcmpl-40666"}\n\n' + stream)
    recorded = "chatcmpl-10777" if text.startswith("chat") else "10777"
    assert made.allows(SERVER, [(PLACE, recorded, text)], shown) is None
    assert made.allows(SERVER, [(PLACE, "50777", "50888")], shown) == [("50777", "50888")]
    document = Rebinder()
    document.observe(live=stream.replace(b"data: ", b""))
    assert document.allows(SERVER, [(PLACE, recorded, text)], shown) == [(recorded, text)]


@pytest.mark.parametrize("value", [ONE, CALL, "1763900000"])
def test_a_value_behind_an_escaped_character_was_seen(value: str) -> None:
    made = Rebinder()
    made.observe(recorded=orjson.dumps("x").replace(b"x", rf"\u2019{value}\u2019".encode()))
    other = {ONE: TWO, CALL: OTHER}.get(value, "1763900009")
    assert made.allows(SERVER, [(PLACE, value, other)], shown) is None
    assert made.allows(SERVER, [(PLACE, THREE, FOUR)], shown) == [(THREE, FOUR)]


# ---------------------------------------------------------------- values that use alone shows to be ids


def shown(pair: Pair, in_result: bool) -> bool:
    """The tape shows of every value that it is an id."""
    return True


def not_shown(pair: Pair, in_result: bool) -> bool:
    return False


LEARNED = (PLACE, "10017", "20443")


def test_a_value_without_a_shape_is_an_id_only_where_the_tape_shows_it() -> None:
    assert Rebinder().allows(SERVER, [LEARNED]) is None
    assert Rebinder().allows(SERVER, [LEARNED], not_shown) is None
    assert Rebinder().allows(SERVER, [LEARNED], shown) == [("10017", "20443")]
    assert bound(("10017", "20443")).allows(SERVER, [LEARNED], not_shown) == [("10017", "20443")]
    assert bound(("10017", "30555")).allows(SERVER, [LEARNED], shown) is None


def test_it_is_asked_whether_a_value_stands_in_a_tool_s_result() -> None:
    heard: list[tuple[str, str, bool]] = []

    def asked_of(pair: Pair, in_result: bool) -> bool:
        heard.append((pair.recorded, pair.live, in_result))
        return True

    result = (("$", "messages", 1, "content"), "order 10017", "order 20443")
    assert Rebinder().allows(model(), [result], asked_of) == [("10017", "20443")]
    assert Rebinder().allows(SERVER, [result], asked_of) == [("10017", "20443")]
    assert heard == [("10017", "20443", True), ("10017", "20443", False)]
    prompt = (("$", "messages", 0, "content"), "order 10017", "order 20443")
    assert Rebinder().allows(model(), [prompt], asked_of) is None
    assert len(heard) == 2


def test_what_its_shape_shows_needs_no_other_proof() -> None:
    moments = (PLACE, 1763900000.5, 1763900009.25)
    assert Rebinder().allows(SERVER, [moments], not_shown) == [("1763900000.5", "1763900009.25")]
    both = (PLACE, f"{ONE} 10017", f"{TWO} 20443")
    found = Rebinder().allows(SERVER, [both], lambda pair, in_result: pair.recorded == "10017")
    assert found == [(ONE, TWO), ("10017", "20443")]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [((), True), ((0,), True), (("$", "order"), True), (("$", "total"), False), (("$", "total", 0), False)],
)
def test_a_number_under_the_name_of_an_amount_is_no_id(path: Any, allowed: bool) -> None:
    found = Rebinder().allows(SERVER, [(path, 10017, 20443)], shown)
    assert found == ([("10017", "20443")] if allowed else None)


def test_serial_numbers_of_one_run_may_be_those_of_another() -> None:
    made = bound(("10017", "10018"))
    assert made.allows(SERVER, [(PLACE, "10016", "10017")], shown) == [("10016", "10017")]


def test_ids_are_found_behind_escaped_characters() -> None:
    text = r"\u201cORD-10017\u201d \n20443\u00e9\"chat-7\/"
    assert ids_in(text) == {"ORD-10017", "20443", "chat-7"}
