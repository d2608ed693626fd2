"""The key of an authority that is limited to hosts, in the wrong hands: what real clients take of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from faultwire.mitm.network import ca

CLIENTS = Path(__file__).parent / "clients"
HOST = "api.openai.com"
LIMIT_S = 120
"""Of one client: the first Go program on a machine compiles its library."""


def openssl(port: int, name: str, root: Path) -> list[str]:
    verify = "-verify_ip" if name[0].isdigit() else "-verify_hostname"
    asked = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", str(root)]
    return [*asked, "-verify_return_error", verify, name]


def curl(port: int, name: str, root: Path) -> list[str]:
    resolve = [] if name[0].isdigit() else ["--connect-to", f"{name}:443:127.0.0.1:{port}"]
    url = f"https://{name}:{port}/" if name[0].isdigit() else f"https://{name}/"
    return ["curl", "-sS", "--noproxy", "*", "--cacert", str(root), *resolve, url]


def node(port: int, name: str, root: Path) -> list[str]:
    return ["node", str(CLIENTS / "client.cjs"), str(port), name, str(root)]


def go(port: int, name: str, root: Path) -> list[str]:
    return ["go", "run", str(CLIENTS / "client.go"), str(port), name, str(root)]


def java(port: int, name: str, root: Path) -> list[str]:
    return ["java", str(CLIENTS / "Client.java"), str(port), name, str(root)]


@contextlib.contextmanager
def thief(folder: Path, name: str) -> Iterator[int]:
    """A server that has the key of the authority, and a certificate for this name from it; its port."""
    signer, key = ca.load_signer(folder), ca.new_key()
    pem = serialization.Encoding.PEM
    chain = folder.parent / "stolen.pem"
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    chain.write_bytes(
        secret + ca.issue(signer, key, name).public_bytes(pem) + signer.certificate.public_bytes(pem)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    raw, _ = listening.accept()
                    with (
                        raw,
                        contextlib.suppress(OSError),
                        context.wrap_socket(raw, server_side=True) as taken,
                    ):
                        if taken.recv(1000):
                            taken.sendall(
                                b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                            )

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    "client",
    [
        openssl,
        curl,
        node,
        pytest.param(go, marks=pytest.mark.nightly),
        pytest.param(java, marks=pytest.mark.nightly),
    ],
)
def test_no_client_takes_a_stolen_key_s_certificate_for_another_host(client, tmp_path: Path) -> None:
    program = client(1, HOST, tmp_path)[0]
    assert shutil.which(program), f"`{program}` is needed"
    folder = tmp_path / ".faultwire" / "ca"

    def taken(hosts: tuple[str, ...], name: str) -> bool:
        made = ca.renew(folder, hosts=hosts)
        with thief(folder, name) as port:
            done = subprocess.run(
                client(port, name, made.certificate),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
                check=False,
            )
        return done.returncode == 0

    for name in (HOST, f"eu.{HOST}"):
        assert taken((HOST,), name), "its own host, and what is below it"
    for name in ("api.anthropic.com", "127.0.0.1"):
        assert not taken((HOST,), name), name
        assert taken((), name), "the control: an authority without a limit vouches for every host"


FETCH = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url).status)
    except OSError as error:
        print(error)
"""


def test_a_call_to_another_host_is_refused_and_reported_and_the_authority_stays_in_the_folder(
    tmp_path: Path,
) -> None:
    """With `exec`: what the agent gets, what the run shows, and where the authority is written."""
    (tmp_path / "agent.py").write_text(FETCH)
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home)}

    def faultwire(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "faultwire", *words]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    assert faultwire("ca", "renew", "--host", HOST).returncode == 0
    assert f"hosts        {HOST}" in faultwire("ca", "show").stdout
    urls = (f"https://{HOST}/v1/models", "https://api.anthropic.com/v1/models")
    done = faultwire("exec", "--mock", "--", sys.executable, "agent.py", *urls)
    assert done.stdout.splitlines()[0] == "200"
    assert "403" in done.stdout.splitlines()[1]
    assert "1 call to `api.anthropic.com` went nowhere (403)" in done.stderr
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    installed = [path for path, data in files.items() if home in path.parents and b"CERTIFICATE" in data]
    assert not installed, "nothing of it is installed for the user"
    held = [path for path, data in files.items() if b"PRIVATE KEY" in data]
    assert {path.relative_to(tmp_path).as_posix() for path in held} <= {
        ".faultwire/ca/mitmproxy-ca.pem",
        ".faultwire/keys/seal.key",
    }
