"""Has the writer of a tape write what it has: it gathers for up to 0.2 s otherwise, and a live page waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mitm.engine.control_client import ControlClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def urging(control: Path) -> Callable[[], None]:
    """What asks the engine at this control socket to write; it returns once all is on the disk, and raises
    OSError where the engine has ended."""
    client = ControlClient.at(control)

    def urge() -> None:
        client.ask({"op": "flush"})

    return urge
