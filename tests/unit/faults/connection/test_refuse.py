from __future__ import annotations

from faultwire.events import Reset
from faultwire.faults.connection.refuse import Refuse


def test_resets_before_upstream_is_called(run, web, dice):
    mutator = Refuse().start(web, dice())
    assert run(mutator, web, [b"never"], "bytes") == [Reset()]
    assert mutator.effect == "refused before upstream was called"
