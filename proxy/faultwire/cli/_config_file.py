"""Single sections of a `faultwire.yaml`, for commands that need no more of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def section(path: Path, name: str) -> Any:
    """The value of one section as plain data, variables filled in; None where the file has none of that
    name. What the rest of the file asks of the environment is not needed.

    Raises ConfigError where the file cannot be read, holds a literal key, or is no mapping.
    """
    from faultwire.config.opened import opened, taken
    from faultwire.errors import ConfigError
    from faultwire.profile.yaml import shown

    root, reading = opened(taken(path, "a configuration"), path, needed=lambda _, place: place[:1] == (name,))
    reading.settle()
    if not isinstance(root.value, dict):
        raise ConfigError(f"`{path}` holds {shown(root.value)}, expected a mapping")
    return root.value[name].plain() if name in root.value else None
