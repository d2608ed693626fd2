"""The proxies that are measured, each started the same way and described by a `Subject`."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench.children import Child, wait_for_port
from tests.bench.client import Target
from tests.bench.pki import Pki

from faultwire.mitm.engine.client import Engine
from faultwire.mitm.settings import EngineSettings
from faultwire.profile import load

HOST = "localhost"
MOCKTTP = "4.6.5"
NPM_S = 240

NEVER = "trigger: {after_calls: 1000000000}"
ARMED = f"""
name: armed
description: Three faults match the traffic and never fire, five match nothing.
faults:
  - latency: {{ms: 50}}
    on: {{kind: llm}}
    {NEVER}
  - status: {{code: 503}}
    on: {{kind: llm}}
    {NEVER}
  - cut_stream: {{after_events: 5}}
    on: {{kind: llm}}
    {NEVER}
  - rate_limit: {{retry_after_s: 1}}
    on: {{host: api.example.com}}
  - truncate_response: {{max_tokens: 20}}
    on: {{host: api.example.com}}
  - slow_tokens: {{ms: 20}}
    on: {{host: api.example.com}}
  - reset: {{at: before_headers}}
    on: {{host: down.example.com}}
  - tool_error: {{code: 503}}
    on: {{host: api.example.com}}
"""
IDLE = """
name: idle
description: Eight faults, none of which matches the traffic.
faults:
""" + "".join(f"  - status: {{code: 50{n % 4}}}\n    on: {{host: api{n}.example.com}}\n" for n in range(8))
"""Profiles that are loaded and never fire."""


@dataclass(frozen=True)
class Subject:
    """One way to the upstream. `settle` returns once the proxy has done what it owes (recording)."""

    name: str
    target: Target
    pid: int | None = None
    settle: Callable[[], object] = lambda: None
    note: str = ""
    may_fail: bool = False
    """Its failures are noted, and its figures are of what it did; everybody else must not fail."""

    def job(self, **given: Any) -> dict[str, Any]:
        """A job for the load process."""
        return {"target": asdict(self.target), **given}


def direct(pki: Pki, port: int) -> Subject:
    """No proxy at all."""
    return Subject("direct", Target(HOST, port, str(pki.ca)))


@contextmanager
def mitmdump(
    folder: Path, pki: Pki, port: int, *, script: Path | None = None, relay: bool = False
) -> Iterator[Subject]:
    """Bare `mitmdump -q` of the mitmproxy that faultwire uses, with a script for streams or without; `relay`:
    it looks into no tunnel, and passes bytes on."""
    name = "mitmdump+stream" if script else "mitmdump-relay" if relay else "mitmdump"
    confdir, listen = folder / name, free_port()
    command = [
        sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()", "-q",
        "--listen-host", "127.0.0.1", "--listen-port", str(listen), "--set", f"confdir={confdir}",
        "--set", f"ssl_verify_upstream_trusted_ca={pki.ca}",
    ]  # fmt: skip
    if script:
        command += ["-s", str(script)]
    if relay:
        command += ["--ignore-hosts", ".*"]
    with Child(command, log=folder / f"{name}.log", speaks=False) as child:
        wait_for_port(listen, child.process)
        ca = pki.ca if relay else confdir / "mitmproxy-ca-cert.pem"
        yield Subject(name, Target(HOST, port, str(ca), f"127.0.0.1:{listen}"), child.pid)


def settings(run_dir: Path, pki: Pki, **more: Any) -> EngineSettings:
    """Settings of an engine that may reach the upstream and records on `run_dir/bench.tape`."""
    usual: dict[str, Any] = {
        "run_dir": run_dir,
        "ca_dir": run_dir / "ca",
        "tape": run_dir / "bench.tape",
        "upstream_ca": pki.ca,
        "allow_hosts": (HOST, "127.0.0.1"),
    }
    return EngineSettings(**(usual | more))


def opened(engine: Engine, session: str, profile: str, port: int, name: str = "faultwire") -> Subject:
    """A session under `profile` (YAML) on a running engine."""
    handle = engine.open_session(session, load.dump(load.parse(profile, f"{session}.yaml")), 1)
    auth = base64.b64encode(f"{handle.user}:{handle.token}".encode()).decode()
    target = Target(HOST, port, str(engine.ca_pem), f"127.0.0.1:{engine.port}", f"Basic {auth}")
    return Subject(name, target, engine.pid, engine.flush)


@contextmanager
def faultwire(folder: Path, pki: Pki, port: int, name: str, profile: str) -> Iterator[Subject]:
    """Our engine, recording, with one session under `profile` (YAML)."""
    with Engine.start(settings(folder / name, pki)) as engine:
        yield opened(engine, "bench", profile, port, name)


@contextmanager
def mockttp(folder: Path, pki: Pki, port: int) -> Iterator[Subject]:
    """mockttp passing through, on the Node that is there. Raises RuntimeError where it cannot be had."""
    modules = install_mockttp()
    script = Path(__file__).with_name("mockttp_proxy.cjs")
    command = ["node", str(script), str(pki.ca), str(pki.ca_key)]
    env = {"NODE_PATH": str(modules), "NODE_EXTRA_CA_CERTS": str(pki.ca)}
    with Child(command, log=folder / "mockttp.log", env=env) as child:
        proxy = f"127.0.0.1:{child.ready['port']}"
        yield Subject(
            "mockttp", Target(HOST, port, str(pki.ca), proxy), child.pid, note=MOCKTTP, may_fail=True
        )


def cache() -> Path:
    """Where other proxies are kept, outside of the repository."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faultwire-bench"


def install_mockttp() -> Path:
    """Its `node_modules`, installed once per user."""
    home = cache() / f"mockttp-{MOCKTTP}"
    modules = home / "node_modules"
    if (modules / "mockttp" / "package.json").exists():
        return modules
    if not shutil.which("npm") or not shutil.which("node"):
        raise RuntimeError("npm is not there")
    home.mkdir(parents=True, exist_ok=True)
    (home / "package.json").write_text('{"private": true}\n')
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"mockttp@{MOCKTTP}"]
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=NPM_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"npm took more than {NPM_S} s") from error
    if done.returncode:
        raise RuntimeError(f"npm failed: {done.stderr.strip().splitlines()[-1:]}")
    return modules


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def versions() -> dict[str, str]:
    """What was measured."""
    node = shutil.which("node")
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False) if node else None
    return {
        "python": sys.version.split()[0],
        "mitmproxy": version("mitmproxy"),
        "node": told.stdout.strip() if told else "none",
        "mockttp": MOCKTTP,
    }
