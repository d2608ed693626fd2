"""The profiles under which scripts are played: none, and one of each fault that needs no settings."""

from __future__ import annotations

from functools import cache

from faultwire.errors import FaultwireError
from faultwire.faults import _registry
from faultwire.profile import load
from faultwire.profile.model import Profile

SET = (
    "latency: {ms: 5}",
    "status: {code: 503}",
    "cut_stream: {after_events: 2}",
    "reset: {}",
    "close: {}",
    "slow_tokens: {}",
    "truncate_body: {}",
    "early_end: {}",
)
"""Faults with settings, in the notation of a profile."""


CALM = 9
"""Profiles before the first under which faults fire. Then it depends on the pieces how much of an answer
has been read when a fault ends it."""


@cache
def profiles() -> tuple[Profile, ...]:
    """Calm ones first; the same on every machine, as their order is that of their names."""
    calm = [load.parse("name: calm\ndescription: Nothing.\nfaults: []\n", "calm.yaml")] * (CALM - 1)
    waiting = "name: waits\ndescription: W.\nfaults:\n  - status: {code: 503}\n    on: {path: /nowhere}\n"
    found = [*calm, load.parse(waiting, "waits.yaml")]
    for text in (*SET, *(f"{name}: {{}}" for name in sorted(_registry.registry()))):
        for place in ("path: '*'", "kind: llm"):
            try:
                found.append(
                    load.parse(
                        f"name: one\ndescription: O.\nfaults:\n  - {text}\n    on: {{{place}}}\n", "one.yaml"
                    )
                )
            except FaultwireError:
                continue
            break
    return tuple(found)
