"""A kubeconfig is read as kubectl reads it, and refused where it would be asked less safely."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from faultwire.campaign.kube_config import access
from faultwire.campaign.kube_login import FileLogin
from faultwire.errors import UsageError


def pair() -> tuple[str, str]:
    """A certificate and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([]), datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    made = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
    formats = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return made, key.private_bytes(*formats).decode()


def data(text: str) -> str:
    return b64encode(text.encode()).decode()


def write(
    path: Path, *, server: str = "https://here:6443/", user: Any = None, cluster: Any = None, **more: Any
) -> Any:
    document = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {"token": "t"}}],
        **more,
    }
    path.write_text(json.dumps(document))
    return {"KUBECONFIG": str(path), "HOME": "/nonexistent"}


def test_the_current_context_has_a_server_and_a_token(tmp_path: Path) -> None:
    found = access(None, write(tmp_path / "config"))
    assert (found.server, found.login.token(), found.proxy) == ("https://here:6443", "t", None)
    assert found.tls.check_hostname


def test_of_several_files_the_first_that_has_an_entry_counts(tmp_path: Path) -> None:
    write(tmp_path / "a", users=[])
    write(tmp_path / "b", server="https://there", user={"token": "of b"})
    found = access("one", {"KUBECONFIG": f"{tmp_path / 'a'}:{tmp_path / 'b'}:{tmp_path / 'none'}"})
    assert (found.server, found.login.token()) == ("https://here:6443", "of b")


def test_the_file_of_the_home_folder_is_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config")
    assert access(None, {"HOME": str(tmp_path)}).login.token() == "t"


def test_an_authority_and_a_client_certificate_are_taken_as_data_and_as_files(tmp_path: Path) -> None:
    certificate, key = pair()
    (tmp_path / "ca.pem").write_text(certificate)
    (tmp_path / "key.pem").write_text(key)
    user = {"client-certificate-data": data(certificate), "client-key": "key.pem"}
    found = access(None, write(tmp_path / "config", user=user, cluster={"certificate-authority": "ca.pem"}))
    assert found.tls.cert_store_stats()["x509"] == 1
    assert found.login.token() is None
    other = {"client-certificate-data": data(certificate), "client-key-data": data(pair()[1])}
    with pytest.raises(UsageError, match="found no client certificate and key") as raised:
        access(None, write(tmp_path / "config", user=other))
    assert "PRIVATE" not in str(raised.value)


def test_within_a_pod_its_service_account_is_asked_with(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of the pod")
    (tmp_path / "ca.crt").write_text(pair()[0])
    environ = {
        "KUBERNETES_SERVICE_HOST": "fd00::1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "HOME": "/nonexistent",
    }
    found = access(None, environ, tmp_path)
    assert (found.server, found.login.token()) == ("https://[fd00::1]:6443", "of the pod")
    assert isinstance(found.login, FileLogin)
    with pytest.raises(UsageError, match="found no kubeconfig"):
        access("named", environ, tmp_path)  # a context that was named is another server's


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"cluster": {"insecure-skip-tls-verify": True}},
            "found `insecure-skip-tls-verify` in the cluster `c`",
        ),
        ({"cluster": {"tls-server-name": "other"}}, "found `tls-server-name`"),
        ({"user": {"auth-provider": {"name": "gcp"}}}, "found `auth-provider` in the user `u`"),
        ({"user": {"username": "admin", "password": "sk-secret"}}, "found `username`"),
        ({"user": {"token": "t", "as": "root"}}, "found `as`"),
        ({"server": "http://here"}, "expected `https://`"),
        ({"server": "https://user:sk-secret@here"}, "expected `https://`"),
        ({"server": "ftp://here"}, "expected `https://`"),
        ({"current-context": None}, "found no current context"),
        ({"current-context": "two"}, "found no context `two`"),
        ({"clusters": []}, "found no cluster `c`"),
        ({"users": [{"name": "u"}]}, "found no user `u`"),
        ({"cluster": {"certificate-authority-data": "%"}}, "cannot read `certificate-authority`"),
        ({"cluster": {"certificate-authority-data": data("none")}}, "found no certificate authority"),
        ({"cluster": {"certificate-authority": "none.pem"}}, "cannot read `certificate-authority`"),
    ],
)
def test_what_would_be_asked_less_safely_or_is_not_there_is_refused(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        access(None, write(tmp_path / "config", **change))
    assert raised.value.code == "usage.on"


@pytest.mark.parametrize("text", ["[1]", "a: [", "\x00"])
def test_what_is_no_kubeconfig_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(UsageError, match=r"cannot read|found no kubeconfig"):
        access(None, {"KUBECONFIG": str(tmp_path / "config")})


def test_without_tls_only_a_server_on_this_machine_is_asked(tmp_path: Path) -> None:
    assert access(None, write(tmp_path / "config", server="http://127.0.0.1:8080")).server
