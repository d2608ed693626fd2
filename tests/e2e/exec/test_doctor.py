"""`faultwire doctor`: what it finds on this machine, and about a command."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Faultwire = Callable[..., subprocess.CompletedProcess[bytes]]


def findings(done: subprocess.CompletedProcess[bytes]) -> dict[str, dict[str, str]]:
    return {finding["subject"]: finding for finding in json.loads(done.stdout)}


def test_every_runtime_of_this_machine_is_tried(faultwire: Faultwire) -> None:
    done = faultwire("doctor", "--format", "json", env={"NO_PROXY": "localhost"})
    found = findings(done)
    assert done.returncode == 0, done.stdout
    for name in ("curl", "node", "python3"):
        if shutil.which(name):
            assert found[name] == {
                "state": "ok",
                "subject": name,
                "text": "uses the proxy and trusts its CA",
                "hint": None,
            }
    assert found["CA"]["state"] == "ok"
    assert found["environment"]["text"] == "NO_PROXY is set; it is not passed to the agent"


def test_a_runtime_whose_call_does_not_arrive_is_reported(faultwire: Faultwire, here: Path) -> None:
    (here / "curl").write_text("#!/bin/sh\necho first >&2\necho I am broken >&2\nexit 1\n")
    (here / "curl").chmod(0o755)
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    done = faultwire("doctor", "--format", "json", env={"PATH": path})
    assert done.returncode == 3
    assert findings(done)["curl"]["state"] == "fail"
    assert findings(done)["curl"]["text"] == "its call did not arrive: I am broken"


def test_a_command_whose_calls_arrive(faultwire: Faultwire, server: str) -> None:
    done = faultwire("doctor", "--allow-host", "localhost", "--format", "json", "--", "curl", "-sS", server)
    assert done.returncode == 0, done.stdout
    assert findings(done)["traffic"]["text"] == f"{server.rstrip('/')}: 1 other"
    assert b"hello" in done.stderr


@pytest.mark.nightly
def test_a_call_that_is_refused_names_the_flag(faultwire: Faultwire, server: str) -> None:
    done = faultwire("doctor", "--", "curl", "-sS", server)
    assert done.returncode == 3
    assert b"add `--allow-host localhost`" in done.stdout


@pytest.mark.parametrize(("script", "what"), [("pass", b"aiohttp"), ("raise SystemExit(5)", b"exit code  5")])
def test_a_command_without_traffic(script: str, what: bytes, faultwire: Faultwire) -> None:
    done = faultwire("doctor", "--", sys.executable, "-c", script)
    assert done.returncode == 3
    assert b"no traffic came through the proxy" in done.stdout
    assert what in done.stdout


@pytest.mark.nightly
def test_what_is_in_the_way_is_reported(faultwire: Faultwire, here: Path) -> None:
    (here / ".faultwire" / "ca").mkdir(parents=True, mode=0o700)
    (here / ".faultwire" / "ca" / "mitmproxy-ca.pem").write_text("x")
    (here / ".faultwire" / "ca" / "mitmproxy-ca-cert.pem").write_text("x")
    done = faultwire("doctor")
    assert done.returncode == 3
    assert b"FAIL  CA " in done.stdout
    assert b"faultwire ca renew" in done.stdout
