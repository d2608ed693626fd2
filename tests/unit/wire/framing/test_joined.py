"""What the messages of a WebSocket say together, all at once and as they come."""

import json

from faultwire.wire.framing.joined import JoinedTexts, joined


def said(*pairs):
    return [json.dumps({"type": kind, "delta": text}).encode() for kind, text in pairs]


def test_pieces_are_joined_by_kind_and_member():
    assert joined(said(("a", "4111"), ("b", "x"), ("a", "22"))) == ["411122"]
    assert joined([b"one ", b"two"]) == ["one two"]
    assert joined([b"one"]) == []
    assert joined([b'{"broken', b"} text"]) == ['{"broken} text']


def test_pieces_deep_in_a_message_are_joined():
    messages = [json.dumps({"turns": [{"parts": [{"text": one}]}]}).encode() for one in ("41", "11")]
    assert joined(messages) == ["4111"]


def test_what_comes_is_put_behind_what_came():
    texts = JoinedTexts()
    assert [texts.feed(one) for one in said(("a", "fwc01"), ("b", "x"), ("a", "23"), ("a", "45"))] == [
        [],
        [],
        ["fwc0123"],
        ["fwc012345"],
    ]


def test_little_is_kept():
    texts = JoinedTexts()
    texts.feed(b"x" * 5000)
    assert len(texts.feed(b"y")[0]) == 513
    for number in range(600):
        texts.feed(json.dumps({"type": str(number), "delta": "x"}).encode())
    assert texts.feed(b"z") == []
    assert texts.feed(said(("599", "y"))[0]) == ["xy"]
