"""A device whose traffic comes through a WireGuard tunnel: captured as any, and nobody else's."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.e2e.packets.conftest import LIMIT_S, Run, command, environment, free_port

from faultwire.capture.wireguard import WireGuardKeys, keys_in, write_conf
from faultwire.tape.read.reader import TapeReader

CHAT = "api.openai.com/v1/chat/completions"
TAPED = ("--mock", "--record", "t.tape")
Call = Callable[..., Run]


@pytest.mark.by_day("off")
@pytest.mark.parametrize("native", ["off", "on"])
def test_its_calls_are_recorded_by_the_names_that_it_asked_for(
    through_tunnel: Call, tmp_path: Path, native: str
) -> None:
    done = through_tunnel(TAPED, f"https://{CHAT}", f"http://{CHAT}", FAULTWIRE_NATIVE=native)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["200", "HTTP/2.0"],
        ["200", "HTTP/1.1"],
    ], done.stderr
    with TapeReader.open(tmp_path / "t.tape") as tape:
        found = [(one.request.scheme, one.request.host, one.http2) for one in tape.exchanges()]
    assert found == [("https", "api.openai.com", True), ("http", "api.openai.com", False)]
    assert "2 connections of `fd66:6177:6972:65ff::2` came through the WireGuard tunnel" in done.stderr
    assert "only ended for the client" not in done.stderr


@pytest.mark.nightly
def test_under_mock_nothing_leaves(through_tunnel: Call) -> None:
    done = through_tunnel(TAPED, "https://example.com/x")
    assert done.stdout.startswith("501"), done.stderr
    assert "the mock does not answer for `example.com`" in done.stderr


@pytest.mark.nightly
def test_private_addresses_behind_the_proxy_are_not_reached(through_tunnel: Call) -> None:
    """The device's whole network leads here; ours is not open to it."""
    done = through_tunnel(("--allow-no-traffic",), "http://10.1.2.3/x")
    assert done.stdout.startswith("403"), done.stderr


@pytest.mark.by_day("cut_stream", "reset")
@pytest.mark.parametrize(
    ("fault", "url", "seen"),
    [
        ("status: {code: 503}", f"https://{CHAT}", "503"),
        ("cut_stream: {after_events: 2}", f"https://{CHAT}#stream", "stream error"),
        ("tls_failure: {}", f"https://{CHAT}", "certificate has expired"),
        ("reset: {at: before_headers}", f"http://{CHAT}", "EOF"),
    ],
)
def test_faults_act(through_tunnel: Call, fault: str, url: str, seen: str) -> None:
    done = through_tunnel(("--mock", "--fault", fault), url)
    assert seen in done.stdout, done.stderr
    assert "faults     1 fired" in done.stderr
    # A TCP reset cannot pass, which the summary says of the one fault that sends one.
    assert ("1 connection that we reset only ended for the client" in done.stderr) is ("reset" in fault)


@pytest.mark.nightly
def test_what_is_no_http_is_ended_or_relayed_where_a_rule_says_so(through_tunnel: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        place = f"localhost:{server.getsockname()[1]}"
        without = through_tunnel(("--allow-no-traffic",), f"raw://{place}")
        allowed = ("--relay", place, "--allow-host", place, "--allow-no-traffic")
        done = through_tunnel(allowed, f"raw://{place}")
    assert "220 ready" in done.stdout, done.stderr
    assert f"1 connection to `{place}` was relayed, and not recorded" in done.stderr
    assert "220 ready" not in without.stdout
    assert f"`{place}` spoke neither HTTP nor TLS and was reset; `--relay {place}`" in without.stderr


def greet(server: socket.socket) -> None:
    one, _ = server.accept()
    with one:
        one.sendall(b"220 ready\n")
        one.recv(1)


def test_udp_is_dropped_and_reported(through_tunnel: Call) -> None:
    done = through_tunnel(TAPED, "udp://ntp.example:123", "udp://api.openai.com:443", f"https://{CHAT}")
    assert done.stdout.splitlines()[-1].startswith("200"), done.stderr
    assert "packets by UDP to `ntp.example:123` were dropped: UDP is not captured" in done.stderr
    assert "packets by UDP to `api.openai.com:443` were dropped: HTTP/3 is not captured" in done.stderr


def test_a_device_with_another_key_is_nobody_s(tmp_path: Path, device: Sequence[str]) -> None:
    """The tunnel's key is its token. The control is every other test here."""
    port = free_port()
    executed(tmp_path, "--mock", "--allow-no-traffic", "--", "true", port=port)
    ours = keys_in(tmp_path / ".faultwire" / "ca")
    other = keys_in(tmp_path / "other")
    conf = write_conf(tmp_path / "other", WireGuardKeys(ours.ours, other.device), f"127.0.0.1:{port}")
    asks = f'{device[0]} {conf} "$SSL_CERT_FILE" https://{CHAT}'
    done = executed(tmp_path, "--mock", "--", "sh", "-c", asks, port=port)
    assert done.stdout.startswith("failed"), done.stdout
    assert done.returncode == 3
    assert "no connection came through the WireGuard tunnel" in done.stderr


def test_a_run_to_which_nothing_came_is_inconclusive_and_says_what_to_do(tmp_path: Path) -> None:
    done = executed(tmp_path, "--mock", "--", "true")
    assert done.returncode == 3
    assert "no connection came through the WireGuard tunnel" in done.stderr
    assert "bring the tunnel up on the device" in done.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = executed(tmp_path, "--mock", "--", "true", port=port)
    assert done.returncode == 2
    first, hint = done.stderr.strip().splitlines()
    assert first.startswith(f"engine.port: UDP `127.0.0.1:{port}` cannot be listened on: Address already in")
    assert "backtrace" not in first
    assert "--wireguard-listen" in hint


def executed(work: Path, *words: str, port: int = 0) -> Run:
    listen = f"127.0.0.1:{port or free_port()}"
    return subprocess.run(
        [*command(), "exec", "--capture", "wireguard", "--wireguard-listen", listen, *words],
        cwd=work, env=environment(work), capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip


@pytest.mark.cold
def test_a_killed_engine_leaves_a_device_without_a_way_out(tmp_path: Path, device: Sequence[str]) -> None:
    listen = f"127.0.0.1:{free_port()}"
    words = [*command(), "proxy", "--mock", "--capture", "wireguard", "--wireguard-listen", listen]
    proxy = subprocess.Popen(
        words, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert proxy.stderr is not None
        said = [proxy.stderr.readline()]
        while said[-1] != "ready\n":
            said.append(proxy.stderr.readline())
            assert said[-1], said
        assert any(line.startswith("wireguard: import `") for line in said)
        ca = tmp_path / ".faultwire" / "ca"
        calls = [*device, str(ca / "wireguard.conf"), str(ca / "mitmproxy-ca-cert.pem"), f"https://{CHAT}"]
        asked = subprocess.run(calls, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        assert asked.stdout.startswith("200"), asked
        (run,) = (tmp_path / ".faultwire" / "runs").glob("*/run.json")
        os.kill(int(run.read_text().partition('"engine_pid": ')[2].partition(",")[0]), signal.SIGKILL)
        assert proxy.wait(30) == 3
        asked = subprocess.run(calls, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        assert asked.stdout.startswith("failed"), asked
    finally:
        proxy.kill()
        proxy.communicate()


@pytest.mark.nightly
def test_the_key_is_kept_for_the_owner_alone_and_for_the_next_run(tmp_path: Path) -> None:
    confs = []
    for _ in range(2):
        executed(tmp_path, "--mock", "--allow-no-traffic", "--", "true")
        ca = tmp_path / ".faultwire" / "ca"
        assert {(ca / name).stat().st_mode & 0o777 for name in ("wireguard.json", "wireguard.conf")} == {
            0o600
        }
        text = (ca / "wireguard.conf").read_text()
        confs.append([line for line in text.splitlines() if "Endpoint" not in line])
    assert confs[0] == confs[1]
    secret = confs[0][1].partition(" = ")[2]
    found = [
        path
        for path in (tmp_path / ".faultwire").rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert {path.name for path in found} == {"wireguard.json", "wireguard.conf"}
