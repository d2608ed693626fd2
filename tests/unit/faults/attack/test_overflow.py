from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.faults.attack.overflow import Overflow, filler


@pytest.mark.parametrize("count", [1, 50, 97, 5000])
def test_so_many_words_by_the_dice(dice, count):
    assert len(filler(count, dice()).split()) == count
    assert filler(count, dice()) == filler(count, dice())


def test_behind_the_newest_text(talk, dice):
    (retold,) = Overflow(inject_tokens=10).rewrite_texts(talk, dice())
    assert retold.place is talk[4]
    assert retold.text.startswith("And for tickets?\n\n")
    assert len(retold.text.split()) == 13
    assert retold.effect == "about 10 tokens of filler added"


def test_an_answered_conversation_is_left_alone(talk, dice):
    assert Overflow().rewrite_texts(talk[:3], dice()) == ()
    with pytest.raises(ValidationError):
        Overflow(inject_tokens=1_000_001)
