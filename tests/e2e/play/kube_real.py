"""A real control plane of Kubernetes: etcd, kube-apiserver and the controllers for Jobs, owners and ages, by
the program that `control_plane/build` makes. The node is `kubelet.py`: no container is started.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.e2e.play.kube_cluster import IMAGE, NODE, RUNNER, kubeconfig
from tests.e2e.play.kubelet import Kubelet, client

PROGRAM = os.environ.get("FAULTWIRE_KUBE_CONTROL_PLANE", "")
PAGE = Path(__file__).parents[3] / "docs" / "howto" / "campaigns.md"
NAMESPACE = "chaos"


@dataclass
class Real:
    """The cluster of a test, with the rights of the page on campaigns for who runs one."""

    http: httpx.Client
    node: Kubelet
    config: Path
    shared: Path

    @property
    def env(self) -> dict[str, str]:
        return {"KUBECONFIG": str(self.config)}

    def place(self, workers: int = 2, namespace: str = NAMESPACE, image: str = IMAGE, more: str = "") -> str:
        objects = f"objects=file://{self.shared}&claim=shared"
        return f"kube://{namespace}?image={image}&{objects}&workers={workers}{more}"

    def left(self) -> list[str]:
        """Jobs, Secrets and objects that are there; pods go by and by, as what a Job owns."""
        found = []
        for path in ("/apis/batch/v1", "/api/v1"):
            kind = "jobs" if "batch" in path else "secrets"
            items = self.http.get(f"{path}/namespaces/{NAMESPACE}/{kind}").raise_for_status().json()["items"]
            found += [f"{kind} {one['metadata']['name']}" for one in items]
        return found + [str(path) for path in self.shared.rglob("*") if path.is_file()]


def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        found: int = one.getsockname()[1]
        return found


@contextmanager
def program(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [PROGRAM, name, *arguments], cwd=folder, stdout=log, stderr=log, process_group=0
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            answer = httpx.get(f"{url}/readyz", verify=False, trust_env=False, timeout=5)
        except httpx.HTTPError:
            continue
        if answer.text == "ok":
            return


def documents() -> list[dict[str, Any]]:
    """The Role and its binding as the page has them."""
    block = PAGE.read_text().partition("```yaml\napiVersion: rbac.")[2].partition("```")[0]
    return list(yaml.safe_load_all("apiVersion: rbac." + block))


@contextmanager
def control_plane(folder: Path) -> Iterator[Real]:
    folder.mkdir()
    shared = folder / "shared"
    shared.mkdir()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (folder / "sa.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    (folder / "tokens.csv").write_text(f'{NODE},admin,admin,"system:masters"\n{RUNNER},runner,runner\n')
    store, port = f"http://127.0.0.1:{free()}", free()
    url = f"https://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(
            program(folder, "etcd", str(folder / "etcd"), store, f"http://127.0.0.1:{free()}")
        )
        api = stack.enter_context(
            program(
                folder, "apiserver", f"--etcd-servers={store}", "--bind-address=127.0.0.1",
                f"--secure-port={port}", f"--cert-dir={folder / 'certs'}", "--token-auth-file=tokens.csv",
                "--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
                "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
            )
        )  # fmt: skip
        ready(url, api, folder / "apiserver.log")
        authority = (folder / "certs" / "apiserver.crt").read_bytes()
        (folder / "ca.pem").write_bytes(authority)
        admin = kubeconfig(folder / "admin", url, authority, {"token": NODE})
        stack.enter_context(
            program(
                folder, "manager", f"--kubeconfig={admin}", "--leader-elect=false", "--secure-port=0",
                "--controllers=job-controller,garbage-collector-controller,ttl-after-finished-controller",
            )
        )  # fmt: skip
        http = client(url, folder / "ca.pem", NODE)
        stack.callback(http.close)
        strict = {"pod-security.kubernetes.io/enforce": "restricted"}
        post(http, "/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": strict}})
        for one in documents():
            kind = f"{one['kind'].lower()}s"
            post(http, f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/{kind}", one)
        node = Kubelet(client(url, folder / "ca.pem", NODE), NAMESPACE)
        stack.callback(node.close)
        config = kubeconfig(folder / "config", url, authority, {"token": RUNNER})
        yield Real(http, node, config, shared)


def post(http: httpx.Client, path: str, body: dict[str, Any]) -> None:
    answer = http.post(path, json=body)
    assert answer.is_success, answer.text
