"""Reads single sections of a `faultwire.yaml`, for commands that need nothing else of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def section(path: Path, name: str) -> Any:
    """The value of one section as plain data with variables expanded; None if the file has no such section.
    Variables of the other sections need not be set.

    Raises ConfigError if the file cannot be read, holds a literal key, or is not a mapping.
    """
    from faultwire.config.opened import opened, taken
    from faultwire.errors import ConfigError
    from faultwire.profile.yaml import shown

    root, reading = opened(taken(path, "a configuration"), path, needed=lambda _, place: place[:1] == (name,))
    reading.settle()
    if not isinstance(root.value, dict):
        raise ConfigError(f"`{path}` holds {shown(root.value)}, expected a mapping")
    return root.value[name].plain() if name in root.value else None


def redact_section(path: Path) -> Any:
    """`redact`, or `redact` of the section `proxy`; None where the file has neither. Raises ConfigError."""
    from faultwire.errors import ConfigError

    top, proxy = section(path, "redact"), section(path, "proxy")
    below = proxy.get("redact") if isinstance(proxy, dict) else None
    if top is not None and below is not None:
        raise ConfigError(f"`{path}` has `redact` beside `proxy.redact`, expected one of them")
    return below if top is None else top
