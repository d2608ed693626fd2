"""Which certificates upstream servers must chain to: certifi's, the system's, and the user's own.

mitmproxy's setting replaces its default, so that the three have to be one file. Our own CA is not in it.
"""

from __future__ import annotations

import hashlib
import os
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import certifi
from cryptography import x509

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.mitm.network.client_certificates import ClientCertificates


def write_bundle(folder: Path, upstream_ca: Path | None) -> Path:
    """Write the bundle below `folder`, once for the same contents, and return its path.

    The name tells the contents, so that all runs share it. Raises UsageError where the user's file is
    not usable.
    """
    parts = [Path(certifi.where()).read_bytes()]
    system = ssl.get_default_verify_paths().cafile
    if system is not None:
        parts.append(Path(system).read_bytes())
    if upstream_ca is not None:
        parts.append(_checked(upstream_ca))
    data = b"\n".join(parts)
    target = folder / f"upstream-{hashlib.sha256(data).hexdigest()[:16]}.pem"
    if not target.exists():
        # Made with mode 0600, and whole before it has its name: other runs may be reading.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".upstream-", delete=False) as draft:
            draft.write(data)
        os.replace(draft.name, target)
    return target


def client_certificates(files: Mapping[str, Path], bundle: Path) -> ClientCertificates | None:
    """What we show to servers that ask who calls, None where there is nothing; `bundle` is whom such servers
    must chain to. Raises UsageError for a file that cannot be used."""
    if not files:
        return None
    from faultwire.mitm.network.client_certificates import ClientCertificates

    return ClientCertificates(files, str(bundle))


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
