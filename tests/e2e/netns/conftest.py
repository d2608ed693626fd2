"""A network outside of every namespace that faultwire makes, in which each packet is counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))  # environments and compiled are there

from tests.e2e.netns.outside import FAR

HERE = Path(__file__).parent
LIMIT_S = 300
NOBODY = 65534
HOST = "api.openai.com"
"""Each client has a name of its own below it, for which the mock answers, too."""


def command() -> list[str]:
    """The installed command, by the interpreter that runs the tests."""
    return [sys.executable, "-m", "faultwire"]


@dataclass
class Outside:
    """The network outside: run something in it, and ask what it has seen."""

    holder: subprocess.Popen[bytes]
    work: Path
    user: int = 0
    hosts: Path | None = None
    """A file of hosts in the place of the system's."""

    def run(
        self, *words: str, env: Mapping[str, str] | None = None, limit_s: float = LIMIT_S
    ) -> subprocess.CompletedProcess[str]:
        """Run a program there to its end, as the user."""
        return subprocess.run(
            self.words(*words), cwd=self.work, env={**environment(self.work), **(env or {})},
            capture_output=True, text=True, timeout=limit_s,
        )  # fmt: skip

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start one."""
        return subprocess.Popen(
            self.words(*words), cwd=self.work, env={**environment(self.work), **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def words(self, *words: str) -> list[str]:
        enter = ["nsenter", f"--target={self.holder.pid}", "--net", "--mount", f"--wdns={self.work}"]
        become = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        named = ["unshare", "--mount", "sh", "-c", f'mount --bind {self.hosts} /etc/hosts; exec "$@"', "sh"]
        return [*enter, *(named if self.hosts else []), *(become if self.user else []), *words]

    def named(self) -> Outside:
        """The same where every client's host is in the file of hosts, and leads to the address outside."""
        return replace(self, hosts=self.work.parent / "hosts")

    def seen(self) -> dict[str, Any]:
        """What came to the only address outside so far."""
        assert self.holder.stdin is not None
        assert self.holder.stdout is not None
        self.holder.stdin.write(b"\n")
        self.holder.stdin.flush()
        found: dict[str, Any] = json.loads(self.holder.stdout.readline())
        return found


def environment(work: Path) -> dict[str, str]:
    """That of the tests without anything that would steer a client."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith(("_proxy", "_base_url", "_ca_bundle"))
        and not name.startswith(("FAULTWIRE_", "SSL_CERT", "NODE_", "JAVA_"))
    }
    return {**kept, "HOME": str(work), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are for one user alone."""
    with tempfile.TemporaryDirectory(prefix="netns-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(params=["root", "nobody"])
def outside(request: pytest.FixtureRequest, shared: Path) -> Iterator[Outside]:
    """The same as root, and as a user with no rights at all."""
    user = NOBODY if request.param == "nobody" else 0
    try:
        with network(shared, list(map(name_of, ALL)), user) as made:
            yield made
    except Unable as reason:
        pytest.skip(str(reason))


class Unable(Exception):
    """No such network can be made here; says why."""


@contextmanager
def network(shared: Path, names: Sequence[str], user: int = 0) -> Iterator[Outside]:
    """A network in which `names` lead to the one address outside. Work is done in a folder in `shared`."""
    if os.geteuid() != 0:
        raise Unable("needs root, to count packets outside and to become a user without rights")
    if not all(map(shutil.which, ("ip", "unshare", "nsenter", "setpriv"))):
        raise Unable("needs `ip`, `unshare`, `nsenter` and `setpriv`")
    work = shared / "work"
    work.mkdir()
    os.chown(work, user, user)
    hosts = shared / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n::1 localhost\n{FAR} {' '.join(names)}\n")
    hosts.chmod(0o644)
    holder = subprocess.Popen(
        ["unshare", "--net", "--mount", sys.executable, str(HERE / "outside.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        if holder.stdout.readline() != b"ready\n":
            raise Unable("no network namespace can be made here, even by root")
        if user and not userns(Outside(holder, work, user)):
            raise Unable("this system lets no user without rights make a user namespace")
        yield Outside(holder, work, user)
    finally:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.close()
        holder.wait(10)
        holder.stdout.close()


def userns(outside: Outside) -> bool:
    return outside.run("unshare", "--user", "--net", "--mount", "true").returncode == 0


def name_of(client: str) -> str:
    """The host that a client calls."""
    return f"{client}.{HOST}"


CHEAP = ("curl", "grandchild", "tls")
ALL = (*CHEAP, "aiohttp", "urllib3", "go", "reqwest", "java", "got", "pool", "http2", "ws")
