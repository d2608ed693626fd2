"""A device that reaches the proxy through a WireGuard tunnel: a program in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "agents"))  # environments and compiled are there

LIMIT_S = 120
Run = subprocess.CompletedProcess[str]


def command() -> list[str]:
    """The installed command, by the interpreter that runs the tests."""
    return [sys.executable, "-m", "faultwire"]


def environment(work: Path) -> dict[str, str]:
    """That of the tests without anything that would steer a client."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith("_proxy") and not name.startswith(("FAULTWIRE_", "SSL_CERT"))
    }
    return {**kept, "HOME": str(work)}


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def device() -> list[str]:
    """The device's program: it wants a configuration, an authority, and what to call."""
    import compiled

    return list(compiled.go("go_wireguard", HERE / "agents" / "wireguard.go", static=True))


@pytest.fixture
def through_tunnel(tmp_path: Path, device: Sequence[str]) -> Callable[..., Run]:
    """Let a device call `urls` through the tunnel of a run with these options."""

    def run(options: Sequence[str], *urls: str, conf: str = "$FAULTWIRE_WIREGUARD_CONF", **env: str) -> Run:
        asks = f'{device[0]} {conf} "$SSL_CERT_FILE" {" ".join(urls)}'
        listen = ("--capture", "wireguard", "--wireguard-listen", f"127.0.0.1:{free_port()}")
        return subprocess.run(
            [*command(), "exec", *listen, *options, "--", "sh", "-c", asks],
            cwd=tmp_path, env={**environment(tmp_path), **env}, capture_output=True, text=True,
            timeout=LIMIT_S,
        )  # fmt: skip

    return run
