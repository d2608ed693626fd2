"""Keys that a configuration handed to the agent: whatever the agent does with them, no report repeats one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.config.keys import is_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.config.model import Config

SHORTEST = 6
"""Characters of a value that is looked for; a shorter one stands in half of all texts."""


def known_keys(config: Config) -> tuple[str, ...]:
    """The values, the longest first, so that none is left over as the end of another."""
    return tuple(sorted(set(_values(config)), key=len, reverse=True))


def _values(config: Config) -> Iterator[str]:
    agent = config.agent
    start = getattr(agent, "start", None)
    tables: list[Mapping[str, str]] = [getattr(agent, "env", {}), getattr(agent, "headers", {})]
    tables += [start.env] if start is not None else []
    single = [getattr(agent, "api_key", None), config.model.api_key if config.model is not None else None]
    named = [value for table in tables for name, value in table.items() if is_key(name)]
    for value in (*named, *(value for value in single if value is not None)):
        bare = value.strip().rpartition(" ")[2]  # without `Bearer`
        if len(bare) >= SHORTEST:
            yield bare
