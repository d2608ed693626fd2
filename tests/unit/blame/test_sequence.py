from __future__ import annotations

from hypothesis import given, strategies as st

from faultwire.blame.sequence import Slots, align

EVENTS = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=8)


def test_an_event_that_differs_one_that_is_missing_and_one_that_was_added() -> None:
    slots = Slots("event", align([b"a", b"X", b"c", b"new"], [b"a", b"b", b"c"]), joins=False)
    assert slots.pieces == (("event 2", "X", "b"), ("event 4", "new", "nothing"))
    assert slots.mixed({0}) == (b"a", b"X", b"c")
    cut = Slots("event", align([b"a"], [b"a", b"b", b"c"]), joins=False)
    assert [one[0] for one in cut.pieces] == ["event 2, which is missing", "event 3, which is missing"]
    assert cut.mixed({0}) == (b"a", b"c"), "one event is cut out"


def test_ids_that_are_new_in_every_answer_are_no_piece() -> None:
    one, other = (f'{{"id":"chatcmpl-{name}1234567","x":1}}'.encode() for name in ("ab", "cd"))
    assert Slots("event", align([one], [other]), joins=False).pieces == ()


@given(EVENTS, EVENTS)
def test_all_pieces_make_the_failed_stream_and_none_the_calm_one(
    failed: list[bytes], calm: list[bytes]
) -> None:
    slots = Slots("event", align(failed, calm), joins=False)
    assert list(slots.mixed(set(range(len(slots.pieces))))) == failed
    assert list(slots.mixed(set())) == calm


def test_elements_of_an_array_keep_their_brackets_and_commas() -> None:
    slots = Slots("event", align([b'[{"a":1}'], [b'[{"a":1}', b',{"a":2}', b',{"a":3}', b"]"]), joins=True)
    assert b"".join(slots.mixed({0})) == b'[{"a":1},{"a":3}]'
