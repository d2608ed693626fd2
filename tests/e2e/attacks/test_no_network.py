"""A replay leaves the machine for nothing: it passes where every packet fails, and nothing else does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OFFLINE = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
AGENT = """
import sys, urllib.error, urllib.request
body = b'{"model": "m", "messages": [{"role": "user", "content": "%s"}]}' % sys.argv[1].encode()
asked = urllib.request.Request("https://api.openai.com/v1/chat/completions", body)
asked.add_header("content-type", "application/json")
asked.add_header("authorization", "Bearer sk-test")
try:
    print(urllib.request.urlopen(asked).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""
DIALS = """
import socket
try:
    socket.create_connection(("192.0.2.1", 443), 5)
except OSError as error:
    print(error.errno)
"""
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="a network namespace is Linux's"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace needs root"),
]


def run(folder: Path, *command: str, offline: bool) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*(OFFLINE if offline else ()), sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def agent(folder: Path, *options: str, offline: bool, says: str = "hi") -> subprocess.CompletedProcess[str]:
    exec_ = ("-m", "faultwire", "exec", "-q", *options, "--", sys.executable, "-c", AGENT, says)
    return run(folder, *exec_, offline=offline)


def test_a_replay_needs_no_network_and_sends_nothing_that_it_does_not_know(tmp_path: Path) -> None:
    recorded = agent(tmp_path, "--mock", "--record", "t.tape", offline=False)
    assert json.loads(recorded.stdout)["object"] == "chat.completion", recorded
    replayed = agent(tmp_path, "--replay", "t.tape", offline=True)
    assert (replayed.returncode, replayed.stdout) == (0, recorded.stdout), replayed
    other = agent(tmp_path, "--replay", "t.tape", offline=False, says="something else")
    assert "faultwire_replay" in other.stdout, other
    assert other.returncode != 0


def test_without_the_tape_the_same_agent_gets_no_answer_there(tmp_path: Path) -> None:
    live = agent(tmp_path, offline=True)
    assert live.stdout.startswith("502 "), live
    assert "faultwire_upstream" in live.stdout


def test_a_program_that_sends_a_packet_there_gets_network_unreachable(tmp_path: Path) -> None:
    assert run(tmp_path, "-c", DIALS, offline=True).stdout.strip() == str(101)  # ENETUNREACH
