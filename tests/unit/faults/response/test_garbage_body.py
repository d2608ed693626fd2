from __future__ import annotations

import pytest

from faultwire.faults.response.garbage_body import MOST, GarbageBody, garbage


@pytest.mark.parametrize("length", [1, 5, 300, 2 * MOST])
def test_as_long_and_no_text(dice, length):
    made = garbage(dice(), length)
    assert len(made) == min(length, MOST)
    with pytest.raises(UnicodeDecodeError):
        made.decode()


def test_the_same_seed_gives_the_same_garbage(dice):
    assert garbage(dice(), 200) == garbage(dice(), 200)
    assert garbage(dice(seed=1), 200) != garbage(dice(seed=2), 200)


def test_it_takes_the_bodys_place(run, web, dice):
    mutator = GarbageBody().start(web, dice())
    (sent,) = run(mutator, web, [b'{"a": 1}'], "body")
    assert len(sent.data) == 8
    assert mutator.effect == "body replaced with bytes that are no text"
