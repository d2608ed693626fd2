"""What Node needs: before 22.21 and 24.5 it reads no proxy variable, so a module is loaded first."""

from __future__ import annotations

from pathlib import Path

PRELOAD = Path(__file__).with_name("node_preload.cjs")
"""The module that sends fetch, http and https through the proxy; it depends on nothing."""


def with_preload(options: str | None, preload: Path = PRELOAD) -> str:
    """`NODE_OPTIONS` with the module required after everything that the user already asked for."""
    text = str(preload)
    if any(c.isspace() or c in '"\\' for c in text):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        text = f'"{escaped}"'
    ours = f"--require {text}"
    if options and ours in options:
        return options
    return f"{options} {ours}" if options else ours
