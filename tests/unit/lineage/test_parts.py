from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.lineage.conftest import Wire, call, said

from faultwire.lineage.parts import MOST, canonical, leaves_of, parts_of
from faultwire.wire import ConversationHistory


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ('{"a": {"b": ["x", 7, true, null]}, "c": 1.5}', ("x", "7", "1.5")),
        ('{"text": "{\\"id\\": \\"A1\\"}"}', ("A1",)),
        ("no JSON", ("no JSON",)),
        ('"a string"', ("a string",)),
        ("{cut", ("{cut",)),
        ("", ()),
    ],
)
def test_leaves(text: str, leaves: tuple[str, ...]) -> None:
    assert leaves_of(text) == leaves


def test_two_writers_of_one_document_write_the_same() -> None:
    assert canonical('{"b": 1, "a": [2]}') == canonical('{"a":[2],"b":1}')
    assert canonical("one\n two") == "one two"
    assert canonical('{"a": 1}') != canonical('{"a": 2}')


def test_an_exchange_with_a_model(wire: Wire) -> None:
    wire.ask([{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Hi"}],
             said("Well", call("f", "call_1", x="y")))  # fmt: skip
    parts = parts_of(wire.exchanges[0], ConversationHistory())
    assert [text.part.name for text in parts.sent] == ["the system prompt", "message 1"] or [
        text.part.name for text in parts.sent
    ] == ["message 1", "message 2"]
    assert [text.part.name for text in parts.brought] == ["the text", "the call of `f`"]


def test_secrets_of_clients_are_not_looked_at(wire: Wire) -> None:
    wire.get("/a", {})
    request = replace(
        wire.exchanges[0].request, headers=(("Authorization", "Bearer A1B2C3D4"), ("x-run", "R1"))
    )
    parts = parts_of(replace(wire.exchanges[0], request=request), ConversationHistory())
    assert [leaf for text in parts.sent for leaf in text.leaves] == ["a", "R1"]


def test_a_long_body_is_looked_at_in_part_and_says_so(wire: Wire) -> None:
    wire.get("/a", b"x" * (MOST + 1))
    assert parts_of(wire.exchanges[0], ConversationHistory()).unread == "a body was looked at in part"


def test_nothing_delivered_brings_nothing(wire: Wire) -> None:
    wire.get("/a", {"id": "ORD-88123"})
    assert parts_of(replace(wire.exchanges[0], delivered=None), ConversationHistory()).brought == ()
