"""faultwire.mock._registry and faultwire.mock.hosts: what protocols name of the mock."""

from __future__ import annotations

import pytest

from faultwire import wire
from faultwire.errors import FaultwireError
from faultwire.mock._registry import collect, dialects
from faultwire.wire.openai.chat import OpenAIChat
from faultwire.wire.protocol import Protocol


def named(reference: str | None) -> Protocol:
    class New(OpenAIChat):
        name = "new"
        dialect = reference

    return New()


def test_each_is_found_by_its_protocol_in_their_order() -> None:
    assert list(dialects()) == [one.name for one in wire.protocols().values() if one.dialect]
    assert all(dialect.protocol == name for name, dialect in dialects().items())


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("nowhere.at_all:New", "failed to load: ModuleNotFoundError"),
        ("faultwire.mock.cohere:Nothing", "failed to load: AttributeError"),
        ("faultwire.mock.cohere", "failed to load: AttributeError"),
        ("faultwire.mock.cohere:refuse", "is no `Dialect` class"),
        ("faultwire.mock.cohere:CohereDialect", "is of the protocol `cohere`"),
    ],
)
def test_one_that_cannot_be_had_is_an_error(reference: str, words: str) -> None:
    with pytest.raises(FaultwireError) as raised:
        collect([named(reference)])
    assert words in raised.value.message
    assert "`new`" in raised.value.message


def test_a_protocol_that_builds_on_another_brings_none() -> None:
    known = wire.protocols()
    heir = named(OpenAIChat.dialect)
    assert list(collect([known["openai_chat"], heir])) == ["openai_chat"]
    assert collect([named(None)]) == {}
