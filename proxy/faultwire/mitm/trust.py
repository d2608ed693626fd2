"""Which certificates upstream servers must chain to: certifi's, the system's, and the user's own.

mitmproxy's setting replaces its default, so that the three have to be one file. Our own CA is not in it.
"""

from __future__ import annotations

import ssl
from pathlib import Path

import certifi
from cryptography import x509

from faultwire.errors import UsageError


def write_bundle(target: Path, upstream_ca: Path | None) -> Path:
    """Write the bundle and return its path. Raises UsageError where the user's file is not usable."""
    parts = [Path(certifi.where()).read_bytes()]
    system = ssl.get_default_verify_paths().cafile
    if system is not None:
        parts.append(Path(system).read_bytes())
    if upstream_ca is not None:
        parts.append(_checked(upstream_ca))
    target.write_bytes(b"\n".join(parts))
    return target


def _checked(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        found = x509.load_pem_x509_certificates(data)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it holds no PEM certificate"
        raise UsageError(f"upstream CA `{path}` cannot be used: {why}", code="engine.upstream_ca") from error
    if not found:
        raise UsageError(f"upstream CA `{path}` holds no certificate", code="engine.upstream_ca")
    return data
