"""The user's own proxy: servers are called through it or not at all, and it is named without its password.

The servers are names that only the proxies of these tests know, or an address of this machine's network.
"""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil
import pytest
from tests.e2e.exec.forwarding import Connect, Handler, Socks5, forwarding

from faultwire.mitm.network import ca

Faultwire = Callable[..., "subprocess.CompletedProcess[bytes]"]
NAME = "llm.only-the-proxy-knows.example"
USER, PASSWORD = "us@er", "pass-w:rd-31337"
IN_URL = "us%40er:pass-w%3Ard-31337"
KINDS = [pytest.param(Connect, "http", id="connect"), pytest.param(Socks5, "socks5h", id="socks5")]


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(here: Path) -> Iterator[int]:
    """The port of an HTTPS server for NAME on this machine; its authority is `authority.pem`."""
    authority, key = ca.stranger(), ca.new_key()
    leaf = ca.issue(authority, key, NAME)
    encoding = ca.serialization.Encoding.PEM
    secret = key.private_bytes(
        encoding, ca.serialization.PrivateFormat.TraditionalOpenSSL, ca.serialization.NoEncryption()
    )
    (here / "leaf.pem").write_bytes(secret + leaf.public_bytes(encoding))
    (here / "authority.pem").write_bytes(authority.certificate.public_bytes(encoding))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(here / "leaf.pem")
    with HTTPServer(("127.0.0.1", 0), Hello) as httpd:
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield httpd.server_port
        httpd.shutdown()
        thread.join()


def asked(faultwire: Faultwire, url: str, *options: str, **env: str) -> tuple[str, str, str]:
    """Status, body, and everything that faultwire printed and wrote into its run's folder."""
    command = ("curl", "-sS", "-w", "\n%{http_code}", url)
    done = faultwire("exec", "--upstream-ca", "authority.pem", *options, "--", *command, env=env)
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.decode().rpartition("\n")
    return status, body, done.stderr.decode()


def written(here: Path) -> bytes:
    """Every file of every run: logs, tapes, reports."""
    return b"".join(path.read_bytes() for path in (here / ".faultwire").rglob("*") if path.is_file())


@pytest.mark.by_day("socks5")
@pytest.mark.parametrize(("kind", "scheme"), KINDS)
def test_servers_are_called_through_the_proxy(
    kind: type[Handler], scheme: str, server: int, faultwire: Faultwire, here: Path
) -> None:
    url = f"https://{NAME}:{server}/"
    with forwarding(kind, {NAME: "127.0.0.1"}, USER, PASSWORD) as proxy:
        address = f"{scheme}://{IN_URL}@127.0.0.1:{proxy.port}"
        status, body, printed = asked(faultwire, url, HTTPS_PROXY=address)
        assert (status, body) == ("200", "hello")
        assert proxy.seen == [(NAME, server)]
        assert f"{scheme}://127.0.0.1:{proxy.port} (HTTPS_PROXY)" in printed

        # Without the password, and where the proxy refuses, nothing goes around it.
        status, body, refused = asked(faultwire, url, ALL_PROXY=f"{scheme}://127.0.0.1:{proxy.port}")
        assert status == "502"
        assert f"the proxy `{scheme}://127.0.0.1:{proxy.port}`, which `ALL_PROXY` names, refused" in body
        proxy.refusing = True
        status, body, again = asked(faultwire, url, https_proxy=address)
        assert (status, json.loads(body)["error"]["type"]) == ("502", "faultwire_upstream")
        assert "refused `" + NAME in body
    everything = printed.encode() + refused.encode() + again.encode() + body.encode() + written(here)
    for secret in (PASSWORD, "pass-w", "us@er:", "us%40er"):
        assert secret.encode() not in everything


@pytest.mark.by_day("connect")
@pytest.mark.parametrize(("kind", "scheme"), KINDS)
def test_a_proxy_that_is_down_is_not_passed_by(
    kind: type[Handler], scheme: str, outside: str, faultwire: Faultwire, here: Path
) -> None:
    (here / "authority.pem").write_bytes(_any_authority())
    with forwarding(kind, {}) as proxy:
        address = f"{scheme}://{IN_URL}@127.0.0.1:{proxy.port}"
    options = ("--allow-host", outside.partition("//")[2].partition(":")[0])
    status, body, printed = asked(faultwire, outside, *options, ALL_PROXY=address)
    assert status == "502"
    place = f"the proxy `{scheme}://127.0.0.1:{proxy.port}`, which `ALL_PROXY` names, cannot be reached"
    assert place in body
    assert "pass-w" not in body + printed
    assert b"pass-w" not in written(here)
    # The server is there: without the proxy, and as an exception of it, it answers.
    host = outside.partition("//")[2].rpartition(":")[0]
    network = f"{host}/32"
    for env in ({}, {"ALL_PROXY": address, "NO_PROXY": "*"}, {"ALL_PROXY": address, "no_proxy": network}):
        assert asked(faultwire, outside, *options, **env)[:2] == ("200", "hello")


@pytest.fixture
def outside(here: Path) -> Iterator[str]:
    """A plain HTTP server on an address of this machine that is not a loopback one."""
    each = [one for found in psutil.net_if_addrs().values() for one in found]
    inet = [one.address for one in each if one.family == socket.AF_INET]
    others = [address for address in inet if not address.startswith("127.")]
    if not others:
        pytest.skip("this machine has no address but its loopback ones")
    with HTTPServer((others[0], 0), Hello) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://{others[0]}:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


def _any_authority() -> bytes:
    return ca.stranger().certificate.public_bytes(ca.serialization.Encoding.PEM)


@pytest.mark.nightly
def test_exceptions_go_direct_and_others_through_the_proxy(
    outside: str, faultwire: Faultwire, here: Path
) -> None:
    (here / "authority.pem").write_bytes(_any_authority())
    host, _, port = outside.partition("//")[2].rpartition(":")
    with forwarding(Connect, {}) as proxy:
        env = {"HTTP_PROXY": f"127.0.0.1:{proxy.port}"}
        for exempt, count in (("other.example", 1), (f"{host}:{port}", 1), (f"{host}:1", 2)):
            status, body, _ = asked(faultwire, outside, "--allow-host", host, **env, NO_PROXY=exempt)
            assert (status, body) == ("200", "hello")
            assert proxy.seen == [(host, int(port))] * count


@pytest.mark.nightly
def test_this_machine_and_the_mock_need_no_proxy(server: int, faultwire: Faultwire, here: Path) -> None:
    with forwarding(Connect, {}) as proxy:
        env = {"ALL_PROXY": f"http://127.0.0.1:{proxy.port}"}
        status, _, printed = asked(faultwire, "https://api.openai.com/v1/models", "--mock", **env)
        assert status == "200"
        assert f"127.0.0.1:{proxy.port}" not in printed
        status, body, _ = asked(faultwire, f"https://localhost:{server}/", "--allow-host", "localhost", **env)
        assert status == "502"  # its certificate is for another name, so that it was reached
        assert "ertificate" in body
        assert proxy.seen == []


@pytest.mark.nightly
@pytest.mark.parametrize("value", ["socks4://u:p4ss@127.0.0.1:1", "https://u:p4ss@127.0.0.1:1", "http://"])
def test_a_proxy_that_cannot_be_used_is_an_error_at_the_start(
    value: str, faultwire: Faultwire, here: Path
) -> None:
    done = faultwire("exec", "--", "true", env={"HTTPS_PROXY": value})
    assert done.returncode == 2
    assert b"usage.proxy" in done.stderr
    assert b"`HTTPS_PROXY`" in done.stderr
    assert b"p4ss" not in done.stderr
    assert not list((here / ".faultwire" / "runs").glob("*"))
    doctor = faultwire("doctor", "--format", "json", env={"HTTPS_PROXY": value, "PATH": "/nonexistent"})
    environment = next(one for one in json.loads(doctor.stdout) if one["subject"] == "environment")
    assert (doctor.returncode, environment["state"]) == (3, "fail")


def test_a_proxy_that_is_this_proxy_is_refused(faultwire: Faultwire, here: Path) -> None:
    """The exports of `faultwire env` may still be set where the same port is used again."""
    (here / "authority.pem").write_bytes(_any_authority())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    listen = ("--listen", f"127.0.0.1:{port}")
    status, body, _ = asked(
        faultwire, f"https://{NAME}/", *listen, ALL_PROXY=f"http://s1:token@127.0.0.1:{port}"
    )
    assert status == "502"
    assert f"the proxy `http://127.0.0.1:{port}`, which `ALL_PROXY` names, is this proxy itself" in body
    assert "token" not in body
