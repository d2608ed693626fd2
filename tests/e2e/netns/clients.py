"""Twelve clients that ask no environment for a proxy, each as a command that calls its host so many times."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import compiled
import environments
from tests.e2e.netns.conftest import name_of

from faultwire.capture.java import truststore

AGENTS = Path(__file__).parent / "agents"
PATH = "/models"


def url(client: str) -> str:
    """What it calls."""
    if client == "ws":
        return f"https://{name_of(client)}/v1/realtime?model=gpt-realtime"
    return f"https://{name_of(client)}/v1{PATH}"


def curl(client: str, count: int) -> list[str]:
    """One call after the other; the proxy's variables are overruled."""
    calls = [word for _ in range(count) for word in ("-o", "/dev/null", "-w", "%{http_code}\\n", url(client))]
    return ["curl", "--silent", "--show-error", "--noproxy", "*", *calls]


def command(client: str, count: int, work: Path) -> list[str]:
    """The command of a client. Those in `CLEARED` get no environment at all."""
    cleared = ["env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin"]
    python = AGENTS / "direct.py"
    match client:
        case "curl":
            return curl(client, count)
        case "grandchild":
            inner = " ".join(f"'{word}'" for word in curl(client, count))
            return ["sh", "-c", f'sh -c "env -i PATH=$PATH sh -c \\"{inner}\\""']
        case "tls":
            return [*cleared, sys.executable, "-I", str(python), "tls", url(client), str(count)]
        case "aiohttp" | "urllib3":
            environment = {"aiohttp": "aiohttp-3", "urllib3": "boto3-1"}[client]
            agent = str(environments.python(environment))
            return [*cleared, agent, str(python), client, url(client), str(count)]
        case "go":
            agent = compiled.go("go_direct", AGENTS / "direct.go", static=True)[0]
            return [*cleared, agent, url(client), str(count)]
        case "reqwest":
            agent = compiled.rust("rust_reqwest", AGENTS / "reqwest_agent.rs")[0]
            return [*cleared, agent, url(client), str(count), "native"]
        case "java":
            return java(url(client), count, work)
        case _:
            folder = environments.node("node_direct")
            kind = {"pool": "pool", "got": "got", "http2": "http2", "ws": "ws"}[client]
            # Without the preloaded module, in which `ws` would be captured.
            bare = ["env", "-u", "NODE_OPTIONS"] if client == "ws" else []
            return [*bare, "node", str(folder / "agent.mjs"), kind, url(client), str(count)]


def java(called: str, count: int, work: Path) -> list[str]:
    """With a trust store of its own, a password of its own, and nobody's authority in it that is ours."""
    store = work / "own.jks"
    store.write_bytes(truststore([], "a-password-of-its-own"))
    store.chmod(0o644)
    program = shutil.which("java")
    assert program is not None, "java is needed: apt-get install default-jdk"
    own = [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=a-password-of-its-own"]
    return [program, *own, str(AGENTS / "Direct.java"), called, str(count)]
