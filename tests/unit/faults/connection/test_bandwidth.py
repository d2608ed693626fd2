from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Send, Wait
from faultwire.faults.connection.bandwidth import Bandwidth


@pytest.mark.parametrize("rate", [1, 10, 95, 1000])
def test_every_byte_arrives_and_takes_its_time(run, web, dice, rate):
    mutator = Bandwidth(bytes_per_s=rate).start(web, dice())
    out = run(mutator, web, [b"a" * 200, b"b" * 33], "bytes")
    assert b"".join(a.data for a in out if isinstance(a, Send)) == b"a" * 200 + b"b" * 33
    assert sum(a.seconds for a in out if isinstance(a, Wait)) == pytest.approx(233 / rate)
    assert max(a.seconds for a in out if isinstance(a, Wait)) <= 1
    assert mutator.effect == f"slowed to {rate} bytes per second"


def test_without_a_byte_nothing_was_slow(run, web, dice):
    mutator = Bandwidth(bytes_per_s=5).start(web, dice())
    assert run(mutator, web, [], "bytes") == []
    assert mutator.effect is None


def test_a_line_has_a_width():
    with pytest.raises(ValidationError):
        Bandwidth(bytes_per_s=0)
