"""Only sessions in which something fired are looked up, and only where they are."""

from __future__ import annotations

from pathlib import Path

from faultwire.campaign.upstream_request import forwarded
from faultwire.events import History


def test_where_nothing_fired_no_tape_is_opened() -> None:
    assert forwarded([Path("there-is-no-such.tape")], [History("s", ())]) == {}
    assert forwarded([], []) == {}
