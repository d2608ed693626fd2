"""Keys for an agent that needs none: where nothing reaches a provider, its SDK still refuses to start
without one. Pure: a mapping in, a new one out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACEHOLDER = "faultwire-needs-no-key"


def keyless(base: Mapping[str, str]) -> dict[str, str]:
    """`base` with a placeholder for every key that it lacks; a key that is there stays."""
    known = wire.protocols().values()
    groups = dict.fromkeys(group for protocol in known for group in protocol.keys)
    missing = {group[0]: PLACEHOLDER for group in groups if not any(base.get(name) for name in group)}
    return {**base, **missing}
