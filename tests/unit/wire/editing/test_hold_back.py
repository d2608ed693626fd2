"""Events that are held and told anew: faultwire.wire.editing.hold_back and faultwire.wire.editing.pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable

from faultwire.wire import json_bytes
from faultwire.wire.editing.api import Change
from faultwire.wire.editing.hold_back import Event, HoldBack
from faultwire.wire.editing.pieces import PieceEditor


class Loud(HoldBack):
    def take(self, event: Event) -> Iterable[bytes]:
        return (self.put(event, event.data.upper()),)


class Words(PieceEditor):
    """Pieces `{"say": …}`, the last one with `end`."""

    def content(self, document):
        return document.get("say", ""), ()

    def rewritten(self, data, document, new):
        return json_bytes.put(data, ("say",), json_bytes.dump(new.text))

    def closed(self, data, document):
        return data

    def ends(self, document):
        return "end" in document

    def is_empty(self, data):
        return not json.loads(data)["say"]


def event(**members: object) -> bytes:
    return b"data: " + json.dumps(members).encode() + b"\n\n"


def test_only_what_is_put_anew_counts_as_changed() -> None:
    loud = Loud(Change())
    assert list(loud.feed(b": a comment\n\n")) == [b": a comment\n\n"]
    assert list(loud.feed(b"data: no json\n\n")) == [b"data: no json\n\n"]
    assert list(loud.feed(b"data: {}\n\n")) == [b"data: {}\n\n"]
    assert not loud.changed
    assert list(loud.feed(b'data: {"a":1}\n\n')) == [b'data: {"A":1}\n\n']
    assert loud.changed


def test_pieces_are_held_to_the_end_and_say_the_new_words() -> None:
    words = Words(Change(text=lambda old: old.replace("two", "2")))
    sent = [event(say="one "), event(say="two"), event(say="", end=1)]
    out = [list(words.feed(one)) for one in sent]
    assert out[:2] == [[], []]
    told = [json.loads(one.partition(b"data: ")[2]) for one in out[2]]
    assert "".join(one["say"] for one in told) == "one 2"
    assert told[-1]["end"] == 1
    assert words.changed


def test_pieces_of_a_stream_that_broke_off_are_left_as_they_came() -> None:
    words = Words(Change(text=lambda old: "new"))
    assert list(words.feed(event(say="one"))) == []
    assert list(words.finish()) == [event(say="one")]
