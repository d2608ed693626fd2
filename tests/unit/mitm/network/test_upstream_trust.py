"""Which roots upstream servers must chain to."""

from __future__ import annotations

import ssl
from pathlib import Path

import certifi
import pytest

from faultwire.errors import UsageError
from faultwire.mitm.network import ca, upstream_trust


def test_the_user_s_roots_are_added_and_ours_are_not(tmp_path: Path) -> None:
    ours, theirs = ca.ensure(tmp_path / "ours"), ca.ensure(tmp_path / "theirs")
    bundle = upstream_trust.write_bundle(tmp_path, theirs.certificate).read_bytes()
    assert Path(certifi.where()).read_bytes() in bundle
    assert theirs.certificate.read_bytes() in bundle
    assert ours.certificate.read_bytes() not in bundle
    ssl.create_default_context(cadata=bundle.decode())


@pytest.mark.parametrize("content", [None, b"", b"not a certificate"])
def test_a_file_without_certificates_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "private.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        upstream_trust.write_bundle(tmp_path, path)
    assert refused.value.code == "engine.upstream_ca"
    assert "private.pem" in refused.value.message


def test_runs_share_one_file_that_nobody_else_may_read(tmp_path: Path) -> None:
    folder = tmp_path / "ca"
    theirs = ca.ensure(tmp_path / "theirs")
    folder.mkdir()
    first = upstream_trust.write_bundle(folder, None)
    assert upstream_trust.write_bundle(folder, None) == first
    other = upstream_trust.write_bundle(folder, theirs.certificate)
    assert sorted(folder.iterdir()) == sorted([first, other])
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
