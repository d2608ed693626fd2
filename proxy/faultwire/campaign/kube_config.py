"""Where the API server is and who asks it: a kubeconfig, or the service account of the pod that this is in.

The format is Kubernetes' `Config` of `v1`; `exec` follows `client.authentication.k8s.io`, v1 and v1beta1.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from faultwire.campaign.kube_login import ExecLogin, FileLogin, Login, NoLogin, TokenLogin
from faultwire.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LARGEST = 1 << 20
LOCAL = ("127.0.0.1", "localhost", "::1")
NOT_HERE = {
    "insecure-skip-tls-verify": "give the cluster's `certificate-authority` instead",
    "tls-server-name": "name the server as its certificate does",
    "auth-provider": "`exec` took its place in Kubernetes 1.26",
    "username": "API servers take no passwords since Kubernetes 1.19",
    "as": "give the user its own entry",
}
"""Keys of a cluster or user that would change whom we ask or who asks, and why they are refused."""


@dataclass(frozen=True, slots=True)
class Access:
    """An API server, by `tls` where it is not on this machine, and what proves who asks."""

    server: str
    tls: ssl.SSLContext
    login: Login
    proxy: str | None = None


def access(context: str | None, environ: Mapping[str, str], pod: Path = POD) -> Access:
    """The access of a context, by default the current one. Raises UsageError where there is none."""
    named = [Path(one) for one in environ.get("KUBECONFIG", "").split(os.pathsep) if one]
    paths = named or [Path(environ.get("HOME") or "/nonexistent") / ".kube" / "config"]
    found = [(path, _read(path)) for path in paths if path.is_file()]
    if found:
        return _of_context(found, context)
    if context is None and (pod / "token").is_file() and environ.get("KUBERNETES_SERVICE_HOST"):
        return _of_pod(environ, pod)
    raise UsageError(
        f"found no kubeconfig (`{printable(str(paths[0]))}`), expected one for `--on kube://…`",
        code="usage.on",
        hint="KUBECONFIG names it; within a cluster the pod's service account is used",
    )


def _of_pod(environ: Mapping[str, str], pod: Path) -> Access:
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT", "443")
    tls = _context((pod / "ca.crt").read_text(), str(pod / "ca.crt"))
    return Access(f"https://{f'[{host}]' if ':' in host else host}:{port}", tls, FileLogin(pod / "token"))


def _read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        found = yaml.safe_load(data) if len(data) <= LARGEST else None
    except (OSError, yaml.YAMLError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"cannot read `{path}`: {printable(first)}", code="usage.on") from error
    if not isinstance(found, dict):
        raise UsageError(f"found no kubeconfig in `{path}`, expected a mapping", code="usage.on")
    return found


def _of_context(files: list[tuple[Path, dict[str, Any]]], name: str | None) -> Access:
    """Of several files the first that has an entry counts, as with kubectl."""
    wanted = name or next(
        (str(one["current-context"]) for _, one in files if one.get("current-context")), None
    )
    if wanted is None:
        raise UsageError(
            f"found no current context in `{files[0][0]}`, expected one",
            code="usage.on",
            hint="`context=NAME` in `--on kube://…`, or `kubectl config use-context NAME`",
        )
    _, context = _entry(files, "contexts", "context", wanted)
    home, cluster = _entry(files, "clusters", "cluster", str(context.get("cluster")))
    of_user, user = (files[0][0], {}) if not context.get("user") else _entry(
        files, "users", "user", str(context["user"])
    )  # fmt: skip
    server = str(cluster.get("server") or "")
    url = urlsplit(server)
    if url.scheme not in ("https", "http") or not url.hostname or url.username:
        raise UsageError(
            f"found the server `{printable(server)}` in `{home}`, expected `https://`", code="usage.on"
        )
    if url.scheme == "http" and url.hostname not in LOCAL:
        raise UsageError(
            f"found the server `{printable(server)}` in `{home}`, expected `https://`",
            code="usage.on",
            hint="without TLS only a server on this machine is asked",
        )
    authority = _data(cluster, "certificate-authority", home)
    tls = _context(authority, str(home))
    certificate = _data(user, "client-certificate", of_user)
    if certificate is not None:
        present(tls, certificate, _data(user, "client-key", of_user) or "", str(of_user))
    proxy = cluster.get("proxy-url")
    login = _login(user, of_user, tls, {"server": server, "certificate-authority-data": authority})
    return Access(server.rstrip("/"), tls, login, None if proxy is None else str(proxy))


def _login(user: Mapping[str, Any], home: Path, tls: ssl.SSLContext, cluster: dict[str, Any]) -> Login:
    if user.get("tokenFile"):
        return FileLogin(home.parent / str(user["tokenFile"]))
    if user.get("token"):
        return TokenLogin(str(user["token"]))
    if user.get("exec"):
        login = ExecLogin(user["exec"], home, cluster)
        pair = login.certificate()
        if pair is not None:
            present(tls, *pair, str(home))
        return login
    return NoLogin()


def _entry(
    files: list[tuple[Path, dict[str, Any]]], plural: str, kind: str, name: str
) -> tuple[Path, dict[str, Any]]:
    for path, document in files:
        for one in document.get(plural) or ():
            if isinstance(one, dict) and one.get("name") == name and isinstance(one.get(kind), dict):
                return path, _usable(one[kind], kind, name, path)
    raise UsageError(f"found no {kind} `{printable(name)}` in `{files[0][0]}`, expected one", code="usage.on")


def _usable(found: dict[str, Any], kind: str, name: str, path: Path) -> dict[str, Any]:
    for key, hint in NOT_HERE.items():
        if found.get(key):
            raise UsageError(
                f"found `{key}` in the {kind} `{printable(name)}` of `{path}`, which is not supported",
                code="usage.on",
                hint=hint,
            )
    return found


def _data(found: Mapping[str, Any], key: str, home: Path) -> str | None:
    """What `KEY-data` has, or the file that `KEY` names, seen from the kubeconfig's folder."""
    try:
        if found.get(f"{key}-data"):
            return b64decode(str(found[f"{key}-data"]), validate=True).decode()
        return (home.parent / str(found[key])).read_text() if found.get(key) else None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{key}` of `{home}`: {error}", code="usage.on") from error


def _context(authority: str | None, home: str) -> ssl.SSLContext:
    """TLS towards a cluster: its own authority, or those of the system."""
    try:
        return ssl.create_default_context(cadata=authority)
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(f"found no certificate authority in `{home}`: {error}", code="usage.on") from error


def present(tls: ssl.SSLContext, certificate: str, key: str, home: str) -> None:
    """Have a client certificate presented. Raises UsageError where the pair is none.

    OpenSSL reads it from a file only; one in memory where there is such a thing, so that no disk has the key.
    """
    pem = f"{certificate.strip()}\n{key.strip()}\n".encode()
    try:
        if hasattr(os, "memfd_create"):
            with os.fdopen(os.memfd_create("client"), "wb") as file:
                file.write(pem)
                file.flush()
                tls.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "client.pem"
            path.touch(0o600)
            path.write_bytes(pem)
            tls.load_cert_chain(path)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise UsageError(
            f"found no client certificate and key in `{home}`: {error}", code="usage.on"
        ) from error
