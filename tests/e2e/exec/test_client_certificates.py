"""A server that demands a certificate of whoever calls it: real TLS on both sides, by the command."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from tests.e2e.exec.forwarding import Connect, Socks5, forwarding

from faultwire.clock import utc_now
from faultwire.mitm.network import ca

Faultwire = Callable[..., "subprocess.CompletedProcess[bytes]"]


class Signer:
    """An authority of the test's own, and what it signs."""

    def __init__(self, name: str, above: Signer | None = None) -> None:
        self.key = ca.new_key()
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.certificate = self._made(self.name, self.key.public_key(), above or self, authority=True)

    @staticmethod
    def _made(name: x509.Name, key: Any, by: Signer, *, authority: bool) -> x509.Certificate:
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(by.name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(utc_now() - timedelta(days=1))
        builder = builder.not_valid_after(utc_now() + timedelta(days=1))
        constraints = x509.BasicConstraints(ca=authority, path_length=None)
        return builder.add_extension(constraints, critical=True).sign(by.key, hashes.SHA256())

    def file(self, path: Path, name: str) -> Path:
        """A certificate for a client, this authority's own, and the key."""
        key = ca.new_key()
        leaf = self._made(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]),
            key.public_key(),
            self,
            authority=False,
        )
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        chain = leaf.public_bytes(Encoding.PEM) + self.certificate.public_bytes(Encoding.PEM)
        path.write_bytes(chain + secret)
        return path


class Caller(BaseHTTPRequestHandler):
    """Answers with the name in the certificate that it was shown."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        shown = self.connection.getpeercert()  # type: ignore[attr-defined]
        subject = dict(one[0] for one in shown["subject"]) if shown else {}
        body = str(subject.get("commonName", "nobody")).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def authority(here: Path) -> Signer:
    """Signs clients through an intermediate, which a client has to show as well; `me.pem` is a client's."""
    root = Signer("clients' root")
    (here / "clients.pem").write_bytes(root.certificate.public_bytes(Encoding.PEM))
    between = Signer("clients' intermediate", root)
    between.file(here / "me.pem", "agent-7")
    return between


@pytest.fixture
def serve(here: Path, authority: Signer) -> Iterator[Callable[..., int]]:
    """Start a server for names that are this machine's; `authority.pem` is whom to trust. Its port."""
    servers: list[ThreadingHTTPServer] = []

    def start(*, demands: ssl.VerifyMode = ssl.CERT_REQUIRED, name: str = "localhost") -> int:
        signer, key = ca.stranger(), ca.new_key()
        leaf = ca.issue(signer, key, name)
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        (here / "leaf.pem").write_bytes(secret + leaf.public_bytes(Encoding.PEM))
        (here / "authority.pem").write_bytes(signer.certificate.public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(here / "leaf.pem")
        context.load_verify_locations(here / "clients.pem")
        context.verify_mode = demands
        httpd = ThreadingHTTPServer(("127.0.0.1", 0), Caller)
        httpd.handle_error = lambda *_: None  # type: ignore[method-assign]  # refused handshakes are expected
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        servers.append(httpd)
        return httpd.server_port

    yield start
    for httpd in servers:
        httpd.shutdown()
        httpd.server_close()


def asked(faultwire: Faultwire, url: str, *options: str, **env: str) -> tuple[str, str]:
    """Status and body of a call; no secret of the certificate's file is left behind."""
    command = ("curl", "-sS", "-w", "\n%{http_code}", url)
    words = ("exec", "--allow-host", "localhost", "--upstream-ca", "authority.pem", *options, "--", *command)
    done = faultwire(*words, env=env)
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.decode().rpartition("\n")
    secret = Path("me.pem").read_bytes().partition(b"PRIVATE KEY-----\n")[2][:40]
    left = b"".join(one.read_bytes() for one in Path(".faultwire").rglob("*") if one.is_file())
    assert secret not in left + done.stderr + done.stdout
    return status, body


@pytest.mark.parametrize("native", ["off", "on"])
def test_a_server_that_demands_a_certificate_gets_it(
    faultwire: Faultwire, serve: Callable[..., int], native: str
) -> None:
    url = f"https://localhost:{serve()}/"
    shown = asked(faultwire, url, "--client-cert", "localhost=me.pem", FAULTWIRE_NATIVE=native)
    assert shown == ("200", "agent-7")


@pytest.mark.parametrize("native", ["off", "on"])
def test_without_one_the_agent_gets_a_502(
    faultwire: Faultwire, serve: Callable[..., int], native: str
) -> None:
    url = f"https://localhost:{serve()}/"
    for options in ((), ("--client-cert", "*.example.com=me.pem")):
        status, body = asked(faultwire, url, *options, FAULTWIRE_NATIVE=native)
        assert status == "502"
        assert json.loads(body)["error"]["type"] == "faultwire_upstream"


def test_a_certificate_that_the_server_does_not_trust_opens_nothing(
    faultwire: Faultwire, serve: Callable[..., int], here: Path
) -> None:
    Signer("somebody else").file(here / "me.pem", "agent-7")
    status, body = asked(faultwire, f"https://localhost:{serve()}/", "--client-cert", "localhost=me.pem")
    assert status == "502"
    assert json.loads(body)["error"]["type"] == "faultwire_upstream"


PROJECT = """
version: "2.0"
agent: {type: command, command: [curl, -sS, -A, "{prompt}", "%s"]}
proxy: {allow_hosts: localhost, upstream_ca: authority.pem, client_certs: {%s: me.pem}}
golden_prompts: [hello]
contract:
  name: mtls
  chaos_matrix: [{name: calm}]
  invariants: [{type: contains, value: agent-7, severity: critical}]
"""


@pytest.mark.parametrize(("host", "code"), [("local*", 0), ("other.example", 1)])
def test_the_configuration_names_certificates_as_well(
    faultwire: Faultwire, serve: Callable[..., int], here: Path, host: str, code: int
) -> None:
    (here / "faultwire.yaml").write_text(PROJECT % (f"https://localhost:{serve()}/", f'"{host}"'))
    done = faultwire("contract", "run")
    assert done.returncode == code, done.stdout + done.stderr


def test_a_server_that_only_asks_is_shown_it_only_where_it_was_named(
    faultwire: Faultwire, serve: Callable[..., int]
) -> None:
    url = f"https://localhost:{serve(demands=ssl.CERT_OPTIONAL)}/"
    assert asked(faultwire, url) == ("200", "nobody")
    assert asked(faultwire, url, "--client-cert", "other.example=me.pem") == ("200", "nobody")
    assert asked(faultwire, url, "--client-cert", "local*=me.pem") == ("200", "agent-7")


def test_a_server_whose_certificate_is_not_its_own_sees_no_certificate_of_ours(
    faultwire: Faultwire, serve: Callable[..., int], here: Path
) -> None:
    status, body = asked(
        faultwire, f"https://localhost:{serve(name='elsewhere.example')}/", "--client-cert", "*=me.pem"
    )
    assert status == "502"
    assert "Certificate verify failed: hostname mismatch" in body
    port = serve()
    (here / "authority.pem").write_bytes(ca.stranger().certificate.public_bytes(Encoding.PEM))
    assert asked(faultwire, f"https://localhost:{port}/", "--client-cert", "*=me.pem")[0] == "502"


@pytest.mark.by_day("socks5")
@pytest.mark.parametrize(
    ("kind", "scheme"),
    [pytest.param(Connect, "http", id="connect"), pytest.param(Socks5, "socks5h", id="socks5")],
)
def test_it_is_shown_through_the_users_own_proxy_as_well(
    faultwire: Faultwire, serve: Callable[..., int], kind: Any, scheme: str
) -> None:
    name = "llm.only-the-proxy-knows.example"
    url = f"https://{name}:{serve(name=name)}/"
    with forwarding(kind, {name: "127.0.0.1"}, "us", "secret") as proxy:
        address = f"{scheme}://us:secret@127.0.0.1:{proxy.port}"
        assert asked(faultwire, url, "--client-cert", f"{name}=me.pem", ALL_PROXY=address) == (
            "200",
            "agent-7",
        )
        assert len(proxy.seen) == 1


@pytest.mark.parametrize("value", ["me.pem", "=me.pem", "localhost=", "localhost:443=me.pem"])
def test_what_is_no_host_and_file_is_refused(faultwire: Faultwire, value: str) -> None:
    done = faultwire("exec", "--client-cert", value, "--", "touch", "started")
    assert done.returncode == 2
    assert b"HOST=FILE" in done.stderr
    assert not Path("started").exists()


@pytest.mark.parametrize(
    ("file", "why"),
    [("absent.pem", b"No such file"), ("wrong.pem", b"its key is not that of its first certificate")],
)
def test_a_file_that_cannot_be_used_is_refused_before_the_command_starts(
    faultwire: Faultwire, here: Path, authority: Signer, file: str, why: bytes
) -> None:
    chain = (here / "me.pem").read_bytes().partition(b"-----BEGIN PRIVATE")[0]
    other = authority.file(here / "other.pem", "agent-8").read_bytes()
    key = b"".join(other.partition(b"-----BEGIN PRIVATE")[1:])
    (here / "wrong.pem").write_bytes(chain + key)
    done = faultwire("exec", "--client-cert", f"localhost={file}", "--", "touch", "started")
    assert done.returncode == 2
    assert b"cannot be used: " + why in done.stderr
    assert not Path("started").exists()
    assert not list(Path().glob(".faultwire/runs/*"))
