from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Wait
from faultwire.faults.connection.hang import Hang


@pytest.mark.parametrize(
    ("settings", "wait", "effect"),
    [
        ({}, None, "never answered"),
        ({"for_ms": 1500}, 1.5, "closed without an answer after 1500 ms"),
    ],
)
def test_waits_and_closes_without_a_byte(run, web, dice, settings, wait, effect):
    mutator = Hang(**settings).start(web, dice())
    assert run(mutator, web, [b"never"], "bytes") == [Wait(wait), Cut(clean=False)]
    assert mutator.effect == effect


def test_no_negative_wait():
    with pytest.raises(ValidationError):
        Hang(for_ms=-1)
