"""The core's search for secrets, over what Python knows of packed values and of protocols."""

from __future__ import annotations

from functools import cache

from faultwire import _core, wire
from faultwire.wire.framing.readings import readings, streams, unpacked_at


@cache
def search() -> _core.SecretSearch:
    """Made when it is first asked for: by then all protocols are known."""
    return _core.SecretSearch(readings, streams, unpacked_at, sorted(wire.text_members()))
