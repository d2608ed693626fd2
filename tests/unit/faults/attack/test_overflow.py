from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.dice import Dice
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


def test_the_same_words_for_a_seed_in_every_version(dice):
    assert filler(6, Dice(7, "s").held("f", "k", 0)) == "normal entry region north entry west"
    words = filler(200, dice()).split()
    assert words[:97] == words[97:194]
    assert words[:6] == words[194:]
    assert len(set(words[:97])) > 10


def test_of_two_new_texts_the_later_one(talk, dice):
    (retold,) = Overflow(inject_tokens=3).rewrite_texts(talk, dice())
    assert retold.text == f"And for tickets?\n\n{filler(3, dice())}"
    (retold,) = Overflow(inject_tokens=3).rewrite_texts(talk[:4], dice())
    assert retold.place is talk[3]
