"""A proxy that connections are redirected to, as in a pod: by `.container/redirect`, in a namespace.

The proxy runs as user 65532, the agent as another one who knows of no proxy. What leaves is counted.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.netns.conftest import Outside, Unable, command, network
from tests.e2e.netns.outside import FAR

from faultwire.tape.read.reader import TapeReader

REDIRECT = Path(__file__).parents[3] / ".container" / "redirect"
PROXY, AGENT = 65532, 65531
HOST = "api.openai.com"
PORT, HEALTH = 15001, 8081


@pytest.fixture
def pod(shared: Path) -> Iterator[Outside]:
    """A network whose packet filter nobody has touched yet."""
    if shutil.which("iptables") is None:
        pytest.skip("needs `iptables`")
    try:
        with network(shared, [HOST], PROXY) as made:
            yield made.named()
    except Unable as reason:
        pytest.skip(str(reason))


def redirect(pod: Outside) -> None:
    done = replace(pod, user=0, hosts=None).run(str(REDIRECT))
    assert done.returncode == 0, done.stderr


@contextmanager
def proxy(pod: Outside, *options: str) -> Iterator[subprocess.Popen[str]]:
    words = (*command(), "proxy", "--mock", "--record", "t.tape", "--redirected", str(PORT), *options)
    process = pod.start(*words)
    try:
        assert process.stderr is not None
        said = ""
        while not said.endswith("ready\n"):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def curl(pod: Outside, *words: str, user: int = AGENT) -> subprocess.CompletedProcess[str]:
    """The agent: it has the authority's certificate, which is mounted for it, and nothing else of ours."""
    authority = pod.work.parent / "authority.pem"
    own = pod.work / ".faultwire" / "ca" / "mitmproxy-ca-cert.pem"
    if own.exists():
        authority.write_bytes(own.read_bytes())
        authority.chmod(0o644)
    return replace(pod, user=user).run(
        "curl",
        "-sS",
        "--max-time",
        "20",
        "--cacert",
        str(authority),
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        *words,
    )


def asked(pod: Outside, **kept: int) -> subprocess.CompletedProcess[str]:
    body = '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
    key = ("-H", "authorization: Bearer any", "-H", "content-type: application/json")
    return curl(pod, *key, "-d", body, f"https://{HOST}/v1/chat/completions", **kept)


def taped(pod: Outside) -> list[str]:
    with TapeReader.open(pod.work / "t.tape") as tape:
        return [one.request.host for one in tape.exchanges()]


def test_an_agent_that_knows_of_no_proxy_is_captured_and_nothing_leaves(pod: Outside) -> None:
    redirect(pod)
    with proxy(pod) as running:
        done = asked(pod)
        assert done.stdout == "200", done.stderr
        assert pod.seen() == {"syns": 0, "names": {}}
        running.send_signal(signal.SIGTERM)
        _, errors = running.communicate(timeout=60)
    assert "exchanges  1: 1 llm" in errors
    assert taped(pod) == [HOST]


def test_without_the_rules_it_goes_past(pod: Outside) -> None:
    """The control."""
    with proxy(pod):
        done = asked(pod)
        assert done.returncode != 0
    assert pod.seen()["names"] == {HOST: 1}
    assert taped(pod) == []


def test_what_the_proxy_s_own_user_sends_goes_out(pod: Outside) -> None:
    redirect(pod)
    with proxy(pod):
        assert asked(pod, user=PROXY).returncode != 0
    assert pod.seen()["names"] == {HOST: 1}
    assert taped(pod) == []


def test_a_connection_that_nobody_redirected_is_reset(pod: Outside) -> None:
    redirect(pod)
    with proxy(pod):
        done = curl(pod, "--connect-to", f"{HOST}:443:127.0.0.1:{PORT}", f"https://{HOST}/v1/models")
        assert done.stdout == "000"
        assert asked(pod).stdout == "200", "and the next one is served"
    assert taped(pod) == [HOST]


SSH = f"""
import socket
one = socket.create_connection(("{FAR}", 443), 10)
one.sendall(b"SSH-2.0-any\\r\\n")
one.settimeout(10)
try:
    print(len(one.recv(1)))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), f"`{FAR}:443` spoke neither HTTP nor TLS and was reset; `--relay {FAR}:443` passes them on"),
        (("--relay", f"{FAR}:443"), f"1 connection to `{FAR}:443` was relayed, and not recorded"),
    ],
)
def test_what_is_no_http_is_reset_or_relayed_where_a_rule_says_so(
    pod: Outside, options: tuple[str, ...], expected: str
) -> None:
    redirect(pod)
    words = (*command(), "proxy", "--allow-host", FAR, "--redirected", str(PORT), *options)
    running = pod.start(*words)
    try:
        assert running.stderr is not None
        while running.stderr.readline() != "ready\n":
            assert running.poll() is None
        python = shutil.which("python3", path="/usr/bin:/bin")
        assert python is not None
        assert replace(pod, user=AGENT).run(python, "-c", SSH).returncode == 0
    finally:
        running.send_signal(signal.SIGTERM)
        _, errors = running.communicate(timeout=60)
    assert expected in errors


QUIC = f"""
import socket
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.settimeout(5)
one.connect(("{FAR}", 443))
try:
    one.send(b"x")
    one.recv(1)
except (ConnectionRefusedError, PermissionError):
    print("refused")
except TimeoutError:
    print("nothing")
"""


@pytest.mark.parametrize(("user", "expected"), [(AGENT, "refused"), (0, "refused")])
def test_quic_is_refused_so_that_clients_fall_back(pod: Outside, user: int, expected: str) -> None:
    redirect(pod)
    python = shutil.which("python3", path="/usr/bin:/bin")
    assert python is not None
    assert replace(pod, user=user).run(python, "-c", QUIC).stdout.strip() == expected


def test_the_proxy_is_ready_once_it_takes_traffic_and_says_when_its_engine_hangs(pod: Outside) -> None:
    def probe(path: str) -> str:
        return curl(pod, f"http://127.0.0.1:{HEALTH}{path}").stdout

    with proxy(pod, "--health", f"127.0.0.1:{HEALTH}"):
        assert [probe("/healthz"), probe("/readyz"), probe("/other")] == ["200", "200", "404"]
        engine = next(iter((pod.work / ".faultwire" / "runs").glob("*/run.json")))
        pid = int(engine.read_text().partition('"engine_pid": ')[2].partition(",")[0])
        os.kill(pid, signal.SIGSTOP)
        try:
            assert [probe("/healthz"), probe("/readyz")] == ["503", "503"]
        finally:
            os.kill(pid, signal.SIGCONT)
        assert probe("/readyz") == "200"
    assert taped(pod) == [], "probes are no traffic"
