"""A cluster for tests: an API server and one node, with a kubeconfig for who runs a campaign."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.e2e.play.kube_server import ALL, ApiServer
from tests.e2e.play.kubelet import Kubelet, client

from faultwire.campaign.kube_job import NEEDED

IMAGE = "registry.test/agent:1"
NODE, RUNNER = "token-of-the-node", "token-of-the-runner"
RIGHTS = frozenset(f"{verb} {resource}" for resource, verbs in NEEDED for verb in verbs)


def own_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that is its own authority, and its key, as one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "ca.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path


def kubeconfig(path: Path, server: str, authority: bytes, user: dict[str, Any]) -> Path:
    cluster = {"server": server, "certificate-authority-data": b64encode(authority).decode()}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "here", "user": "runner"}}],
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "runner", "user": user}],
    }
    path.write_text(json.dumps(document))
    return path


@dataclass
class Here:
    """The cluster of a test, and the folder that pods have as a volume."""

    server: ApiServer
    node: Kubelet
    config: Path
    shared: Path

    @property
    def env(self) -> dict[str, str]:
        return {"KUBECONFIG": str(self.config)}

    def place(self, workers: int = 2, namespace: str = "chaos", image: str = IMAGE, more: str = "") -> str:
        objects = f"objects=file://{self.shared}&claim=shared"
        return f"kube://{namespace}?image={image}&{objects}&workers={workers}{more}"

    def left(self) -> list[str]:
        """Jobs, pods, Secrets and objects that are there."""
        with self.server.cluster.changed:
            found = [f"{kind} {name}" for _, kind, name in self.server.cluster.objects]
        return found + [str(path) for path in self.shared.rglob("*") if path.is_file()]


@contextmanager
def cluster(folder: Path) -> Iterator[Here]:
    folder.mkdir()
    shared = folder / "shared"
    shared.mkdir()
    pem = own_certificate(folder)
    server = ApiServer(pem, rights={NODE: ALL, RUNNER: RIGHTS})
    node = Kubelet(client(server.url, folder / "ca.pem", NODE), "chaos")
    authority = (folder / "ca.pem").read_bytes()
    config = kubeconfig(folder / "config", server.url, authority, {"token": RUNNER})
    try:
        yield Here(server, node, config, shared)
    finally:
        node.close()
        server.close()
