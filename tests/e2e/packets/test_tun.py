"""Containers, say, whose traffic is routed into an interface of ours: a network behind a pair of interfaces.

The machine is a network of its own, and the only address outside counts who comes
(`tests/e2e/netns/outside.py`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.netns.conftest import Outside, Unable, command, network, shared
from tests.e2e.netns.outside import FAR

from faultwire.tape.read.reader import TapeReader

__all__ = ["shared"]  # a fixture

HOST = "api.openai.com"
URL = f"https://{HOST}/v1/chat/completions"
BODY = '{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}'
ROUTES = """
ip rule add iif veth0 lookup 7301
ip route add default dev $FAULTWIRE_TUN table 7301
ip route add unreachable default metric 9999 table 7301
"""
"""As the command shows them."""


@dataclass
class Machine:
    """A machine with a container behind `veth0`, and the network outside before it."""

    outside: Outside
    held: subprocess.Popen[bytes]
    container: subprocess.Popen[bytes]

    def words(self, *words: str) -> list[str]:
        return ["nsenter", f"--target={self.held.pid}", "--net", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.outside.run(*self.words(*words))

    def exec_(self, *options: str, script: str) -> subprocess.CompletedProcess[str]:
        return self.run(*command(), "exec", "--record", "t.tape", *options, "--", "sh", "-c", script)

    def call(self, authority: str = "$SSL_CERT_FILE") -> str:
        """A call in the container, which knows of no proxy, as a line of a shell."""
        inside = f"nsenter --target={self.container.pid} --net env -i PATH=$PATH"
        return (
            f"{inside} curl -sS --max-time 20 --cacert {authority} -o /dev/null -w '%{{http_code}}' "
            f"--resolve {HOST}:443:{FAR} -H 'authorization: Bearer any' "
            f"-H 'content-type: application/json' -d '{BODY}' {URL}"
        )

    def hosts(self) -> list[str]:
        with TapeReader.open(self.outside.work / "t.tape") as tape:
            return [one.request.host for one in tape.exchanges()]


@contextmanager
def holder(outside: Outside) -> Iterator[subprocess.Popen[bytes]]:
    """A network of its own, for as long as it is held."""
    held = subprocess.Popen(
        outside.words("unshare", "--net", "sh", "-c", "echo ready; exec cat"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == b"ready\n"
        yield held
    finally:
        held.communicate()


@pytest.fixture
def machine(shared: Path) -> Iterator[Machine]:
    if not os.path.exists("/dev/net/tun"):
        pytest.skip("needs /dev/net/tun")
    try:
        with network(shared, [HOST]) as outside, holder(outside) as held, holder(outside) as inner:
            machine = Machine(outside, held, inner)
            connect(machine)
            yield machine
    except Unable as reason:
        pytest.skip(str(reason))


def connect(machine: Machine) -> None:
    """Outside 10.8.0.1, the machine between them, the container 10.9.0.2; each a way to the others."""
    held, inner = machine.held.pid, machine.container.pid
    inside = f"nsenter --target={inner} --net ip"
    outer = machine.outside.run("sh", "-e", "-c", f"""
        ip link add m0 type veth peer name eth0 netns {held}
        ip address add 10.8.0.1/24 dev m0; ip link set m0 up
    """)  # fmt: skip
    assert outer.returncode == 0, outer.stderr
    made = machine.run("sh", "-e", "-c", f"""
        ip link set lo up; ip address add 10.8.0.2/24 dev eth0; ip link set eth0 up
        ip route add default via 10.8.0.1
        ip link add veth0 type veth peer name eth0 netns {inner}
        ip address add 10.9.0.1/24 dev veth0; ip link set veth0 up
        {inside} link set lo up; {inside} address add 10.9.0.2/24 dev eth0; {inside} link set eth0 up
        {inside} route add default via 10.9.0.1
        echo 1 > /proc/sys/net/ipv4/ip_forward
    """)  # fmt: skip
    assert made.returncode == 0, made.stderr
    back = machine.outside.run("ip", "route", "add", "10.9.0.0/24", "via", "10.8.0.2")
    assert back.returncode == 0, back.stderr


def test_what_is_routed_into_the_interface_is_captured_and_nothing_leaves(machine: Machine) -> None:
    done = machine.exec_("--mock", "--capture", "tun", script=ROUTES + machine.call())
    assert done.stdout == "200", done.stderr
    assert machine.hosts() == [HOST]
    assert machine.outside.seen()["names"] == {}
    assert "1 connection of `10.9.0.2` came through the interface `faultwire0`" in done.stderr
    # It is a process of the command's, and is seen to be connected to an address of somebody else's.
    assert "past the proxy" not in done.stderr


def test_without_the_routes_it_goes_past(machine: Machine) -> None:
    """The control."""
    done = machine.exec_("--mock", "--capture", "tun", "--allow-no-traffic", script=machine.call())
    assert done.stdout == "000", done.stderr
    assert machine.outside.seen()["names"] == {HOST: 1}
    assert "no connection came through the interface `faultwire0`" in done.stderr
    assert f"past the proxy: {FAR}:443" in done.stderr


@pytest.mark.nightly
def test_names_are_answered_whatever_server_is_asked(machine: Machine) -> None:
    query = (
        "import socket, struct; u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(10); "
        "u.sendto(struct.pack('>6H', 7, 256, 1, 0, 0, 0) + b'\\3api\\6openai\\3com\\0\\0\\1\\0\\1', "
        "('192.0.2.53', 53)); print(socket.inet_ntoa(u.recv(500)[-4:]))"
    )
    inside = f"nsenter --target={machine.container.pid} --net"
    script = f'{ROUTES}{inside} {sys.executable} -c "{query}"'
    done = machine.exec_("--mock", "--capture", "tun", "--allow-no-traffic", script=script)
    assert done.stdout.strip() == "198.18.0.1", done.stderr


@pytest.mark.cold
@pytest.mark.nightly
def test_when_the_engine_is_killed_nothing_gets_out(machine: Machine) -> None:
    """The routes of the interface go with it; the one behind them is that nothing is reachable."""
    words = (*command(), "proxy", "--mock", "--capture", "tun", "--tun-device", "tap9")
    proxy = machine.outside.start(*machine.words(*words))
    try:
        assert proxy.stderr is not None
        said = [proxy.stderr.readline()]
        while said[-1] != "ready\n":
            said.append(proxy.stderr.readline())
            assert said[-1], said
        ca = machine.outside.work / ".faultwire" / "ca" / "mitmproxy-ca-cert.pem"
        routed = machine.run("sh", "-e", "-c", ROUTES.replace("$FAULTWIRE_TUN", "tap9"))
        assert routed.returncode == 0, routed.stderr
        assert machine.run("sh", "-c", machine.call(str(ca))).stdout == "200"
        (run,) = (machine.outside.work / ".faultwire" / "runs").glob("*/run.json")
        os.kill(int(run.read_text().partition('"engine_pid": ')[2].partition(",")[0]), signal.SIGKILL)
        assert proxy.wait(30) == 3
        assert machine.run("sh", "-c", machine.call(str(ca))).stdout == "000"
        assert machine.outside.seen()["names"] == {}
    finally:
        proxy.kill()
        proxy.communicate()


def test_without_the_right_to_make_one_the_run_does_not_start(machine: Machine) -> None:
    words = (*command(), "exec", "--mock", "--capture", "tun", "--", "true")
    done = machine.run("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin", *words)
    assert done.returncode == 2
    first, hint = done.stderr.strip().splitlines()
    assert first.startswith("engine.tun: the network interface `faultwire0` cannot be made: Failed to create")
    assert "CAP_NET_ADMIN" in hint
    assert "--capture wireguard" in hint
