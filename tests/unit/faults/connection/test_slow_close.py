from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Send, Wait
from faultwire.faults.connection.slow_close import SlowClose


def test_all_of_it_comes_at_once_and_the_end_late(run, web, dice):
    mutator = SlowClose(ms=250).start(web, dice())
    assert run(mutator, web, [b"a", b"b"], "bytes") == [Send(b"a"), Send(b"b"), Wait(0.25)]
    assert mutator.effect == "end held back for 250 ms"


def test_late_is_later_than_at_once():
    with pytest.raises(ValidationError):
        SlowClose(ms=0)
