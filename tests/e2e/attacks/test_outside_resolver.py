"""A program in a namespace of its own asks a resolver outside over its Unix socket, for a telling name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0, reason="a resolver is put into `/run` of a mount namespace, by root"
    ),
    pytest.mark.skipif(
        shutil.which("unshare") is None, reason="`unshare` is needed: apt-get install util-linux"
    ),
]
WAIT_S = 120
OUTSIDE = """
import json, os, socket, subprocess, sys, threading
asked = []
def serve(server):
    while True:
        one, _ = server.accept()
        asked.append(one.recv(100).decode())
        one.close()
for place in {places!r}:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
    os.chmod(place, 0o666)
    server.listen()
    threading.Thread(target=serve, args=(server,), daemon=True).start()
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
said = done.stdout.splitlines()
print(json.dumps({{"asked": asked, "said": said, "code": done.returncode, "why": done.stderr}}))
"""
"""In a mount namespace whose `/run` is empty, so that nothing of this machine is touched."""
PLACES = ("/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve")
ASKS = f"""
import socket
for place in {PLACES!r}:
    one = socket.socket(socket.AF_UNIX)
    try:
        one.connect(place)
        one.send(b"secret." + place.encode())
        one.recv(1)
        print("asked")
    except OSError as error:
        print(type(error).__name__)
"""


def outside(tmp_path: Path, *command: str) -> dict[str, object]:
    """What a command says in which there are resolvers, and what they were asked."""
    script = tmp_path / "outside.py"
    script.write_text(OUTSIDE.format(places=PLACES))
    mounts = 'mount -t tmpfs none /run && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mounts, "sh", sys.executable, str(script), *command],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_no_resolver_outside_is_asked_over_its_socket(tmp_path: Path) -> None:
    exec_ = (sys.executable, "-m", "faultwire", "exec", "--mock", "-q", "--allow-no-traffic")
    found = outside(tmp_path, *exec_, "--capture", "netns", "--", sys.executable, "-c", ASKS)
    assert found["code"] == 0, found
    assert found["said"] == ["ConnectionRefusedError"] * len(PLACES)
    assert found["asked"] == []


def test_control_without_the_namespace_each_of_them_is_asked(tmp_path: Path) -> None:
    found = outside(tmp_path, sys.executable, "-c", ASKS)
    assert found["said"] == ["asked"] * len(PLACES)
    assert found["asked"] == [f"secret.{place}" for place in PLACES]
