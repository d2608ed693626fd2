"""Keys for an agent that needs none: where nothing reaches a provider, its SDK still refuses to start
without one. Pure: a mapping in, a new one out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACEHOLDER = "faultwire-needs-no-key"


def without_empty(own: Mapping[str, str]) -> dict[str, str]:
    """An agent's own variables without empty keys of providers, which would take the place of a placeholder:
    a configuration that hands on `${OPENAI_API_KEY:-}` has no key to hand on."""
    names = {name for protocol in wire.protocols().values() for group in protocol.keys for name in group}
    return {name: value for name, value in own.items() if value or name not in names}


def keyless(base: Mapping[str, str]) -> dict[str, str]:
    """`base` with a placeholder for every key that it lacks; a key that is there stays."""
    known = wire.protocols().values()
    groups = dict.fromkeys(group for protocol in known for group in protocol.keys)
    missing = {group[0]: PLACEHOLDER for group in groups if not any(base.get(name) for name in group)}
    return {**base, **missing}
