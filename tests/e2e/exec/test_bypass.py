"""Connections past the proxy are told and kept on the tape; and nothing is told where there are none."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.e2e.exec.conftest import COMMAND, TIMEOUT_S
from tests.e2e.exec.elsewhere import FAR, Slow

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]
AGENT = str(HERE / "agents" / "past.py")
URL = f"http://{FAR}/"
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nothing shows sockets here")

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def elsewhere(here: Path) -> Iterator[Run]:
    """Run the command in a network namespace of its own, in which `FAR` is an address."""
    rootless = os.geteuid() != 0
    make = ["unshare", *(["--map-root-user"] if rootless else []), "--net"]
    if shutil.which("ip") is None or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("`ip`, `unshare` and `nsenter` are needed")
    if subprocess.run([*make, "ip", "link", "set", "lo", "up"], capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")
    holder = subprocess.Popen(
        [*make, sys.executable, str(HERE / "elsewhere.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"ready\n"
        enter = ["nsenter", "--target", str(holder.pid), "--net"]
        enter += ["--user", "--preserve-credentials"] if rootless else []

        def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(
                [*enter, *COMMAND, *arguments], cwd=here, capture_output=True, timeout=TIMEOUT_S
            )

        yield run
    finally:
        holder.stdin.close()
        holder.wait(10)
        holder.stdout.close()


def exec_(run: Run, *held: str, tape: str = "t") -> subprocess.CompletedProcess[bytes]:
    agent = (sys.executable, AGENT, URL, *held)
    return run("exec", "--allow-host", FAR, "--record", tape, "--", *agent)


def verified(run: Run, tape: str = "t") -> dict:
    done = run("tape", "verify", "--format", "json", tape)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    return found


def test_a_direct_connection_is_reported_and_kept_on_the_tape(elsewhere: Run, here: Path) -> None:
    done = exec_(elsewhere, f"tcp:{FAR}:443")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert f"  went past the proxy: {FAR}:443\n" in done.stderr.decode()
    found = verified(elsewhere)
    assert (found["ok"], found["trusted"], found["class"]) == (True, True, "PARTIAL")
    assert found["reasons"] == [f"session `exec` went past the proxy: {FAR}:443"]
    assert [(f["code"], f["note"]) for f in found["findings"]] == [("bypass_present", True)]
    elsewhere("tape", "export", "t", "-o", "t.jsonl")
    said = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "verify_tape.py"), "t.jsonl", "--key", found["key"], "--json"],
        cwd=here, capture_output=True,
    )  # fmt: skip
    assert said.returncode == 0
    assert [f["code"] for f in json.loads(said.stdout)["findings"]] == ["bypass_present"]


def test_without_it_the_same_agent_leaves_authoritative_evidence(elsewhere: Run) -> None:
    done = exec_(elsewhere)
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert b"past the proxy" not in done.stderr
    found = verified(elsewhere)
    assert (found["class"], found["reasons"], found["findings"]) == ("AUTHORITATIVE", [], [])


@pytest.mark.nightly
def test_a_grandchild_and_http3_are_seen(elsewhere: Run) -> None:
    command = f"{sys.executable} {AGENT} {URL} tcp:{FAR}:80 udp:{FAR}:443 udp:{FAR}:53; true"
    done = elsewhere("exec", "--allow-host", FAR, "--record", "t", "--", "sh", "-c", command)
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert f"  went past the proxy: {FAR}:80, {FAR}:443/udp\n" in done.stderr.decode()


@pytest.mark.nightly
def test_doctor_fails_and_states_what_to_do(elsewhere: Run) -> None:
    agent = (sys.executable, AGENT, URL)
    asked = ("doctor", "--allow-host", FAR, "--format", "json", "--", *agent)
    done = elsewhere(*asked, f"tcp:{FAR}:443")
    (found,) = [one for one in json.loads(done.stdout) if one["subject"] == "bypass"]
    assert done.returncode == 3
    assert (found["state"], found["text"]) == ("fail", f"went past the proxy: {FAR}:443")
    assert "trust_env=True" in found["hint"]
    done = elsewhere(*asked)
    (found,) = [one for one in json.loads(done.stdout) if one["subject"] == "bypass"]
    assert (done.returncode, found["state"]) == (0, "ok")
    assert found["text"].startswith("no traffic past the proxy was seen in ")


def test_traffic_past_the_proxy_is_reported_with_its_destination(elsewhere: Run) -> None:
    script = (
        f"import http.client; c = http.client.HTTPConnection('{FAR}', 80); c.request('GET', '/'); "
        "print(c.getresponse().read().decode())"
    )
    done = elsewhere("exec", "--", sys.executable, "-c", script)
    assert (done.returncode, done.stdout) == (3, b"hello\n")
    assert f"so the run is inconclusive (exit 3); went past the proxy: {FAR}:80" in " ".join(
        done.stderr.decode().split()
    )


# ---------------------------------------------------------------- on this machine


@pytest.fixture
def slow() -> Iterator[int]:
    """The port of a slow server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield httpd.server_port
        httpd.shutdown()
        thread.join()


@pytest.fixture
def database() -> Iterator[int]:
    """The port of something on this machine that the run has nothing to do with."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.nightly
def test_on_this_machine_only_what_the_run_has_to_do_with_counts(
    faultwire: Run, slow: int, database: int
) -> None:
    agent = (sys.executable, AGENT, f"http://localhost:{slow}/")
    told = ("exec", "--allow-host", "localhost", "--record")
    done = faultwire(*told, "t", "--", *agent, f"tcp:127.0.0.1:{slow}", f"tcp:127.0.0.1:{database}")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert f"  went past the proxy: localhost (127.0.0.1:{slow})\n" in done.stderr.decode()
    assert verified(faultwire)["class"] == "PARTIAL"
    done = faultwire(*told, "u", "--", *agent, f"tcp:127.0.0.1:{database}")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert b"past the proxy" not in done.stderr
    assert verified(faultwire, "u")["class"] == "AUTHORITATIVE"
