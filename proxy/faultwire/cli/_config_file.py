"""Single sections of a `faultwire.yaml`, for commands that need no more of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def section(path: Path, name: str) -> Any:
    """The value of one section as plain data, None where the file has none of that name.

    Raises ConfigError where the file cannot be read or is no mapping.
    """
    from faultwire.errors import ConfigError
    from faultwire.profile.yaml import read, shown

    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}") from error
    found = read(data, str(path), ConfigError).plain()
    if not isinstance(found, dict):
        raise ConfigError(f"`{path}` holds {shown(found)}, expected a mapping")
    return found.get(name)
