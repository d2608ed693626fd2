"""Ids for calls of protocols that give none: faultwire.wire.editing.ids."""

from __future__ import annotations

from faultwire.wire.editing.ids import Chain


def test_a_conversation_names_its_calls_the_same_each_time() -> None:
    first, again, other = Chain(), Chain(), Chain()
    for chain, words in ((first, "hi"), (again, "hi"), (other, "hello")):
        chain.add("user", words)
    made = [chain.call("search", "{}") for chain in (first, again, other)]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_an_answer_finds_the_oldest_open_call_of_its_tool() -> None:
    chain = Chain()
    a, b, c = chain.call("search", "1"), chain.call("weather", "2"), chain.call("search", "3")
    assert [chain.answer("weather"), chain.answer(""), chain.answer("search")] == [b, a, c]
    assert chain.answer("search") not in (a, b, c), "nothing is open any more"
