from __future__ import annotations

import pytest

from faultwire.lineage.model import Part
from faultwire.lineage.phrases import LONGEST, Phrases, phrase_of

SOURCE = Part(1, "answer", "the body")


@pytest.mark.parametrize(
    ("leaf", "phrase"),
    [("New  York\nCity", "New York City"), ("confirmed", None), ("a b", None), ("x " * LONGEST, None)],
)
def test_what_is_a_phrase(leaf: str, phrase: str | None) -> None:
    assert phrase_of(leaf) == phrase


def test_a_phrase_is_found_whole_only() -> None:
    phrases = Phrases()
    phrases.bring("New York City", SOURCE)
    assert list(phrases.found_in("in  New York City today")) == [("New York City", [SOURCE])]
    assert list(phrases.found_in("in New York State today")) == []


def test_what_the_agent_has_said_itself_is_its_own() -> None:
    phrases = Phrases()
    phrases.bring("New York City", SOURCE)
    phrases.add_own(["I love New York City"], except_for=["New York City"])
    assert not phrases.is_own("New York City")
    phrases.add_own(["I love New York City"], except_for=[])
    assert phrases.is_own("New York City")
