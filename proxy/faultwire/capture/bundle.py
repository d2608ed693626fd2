"""The certificates that a captured program trusts: everything it trusted before, and our authority.

Most of the variables that name a file of roots *replace* the program's own roots, so the file must
hold those as well, or every connection past the proxy would fail for the wrong reason.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re  # noqa: TID251 - the patterns below are fixed
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.capture.java import PASSWORD, truststore
from faultwire.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT_VARIABLES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "GIT_SSL_CAINFO",
    "PERL_LWP_SSL_CA_FILE",
    "MOJO_CA_FILE",
)
"""Variables by which a user may already have named roots of their own: those are kept."""

SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, Alpine, BSD
)
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----")

_OURS = re.compile(r"(trust|authority)-[0-9a-f]{16}\.pem")


@dataclass(frozen=True, slots=True)
class TrustFiles:
    """What a captured program is pointed at. `truststore` is for Java, with `truststore_password`.
    `php_settings` is a folder with an ini file for PHP, None where the bundle's path does not fit in one."""

    bundle: Path
    ca_cert: Path
    truststore: Path
    truststore_password: str = PASSWORD
    php_settings: Path | None = None


def certificates(pem: bytes) -> list[bytes]:
    """The DER of every certificate in PEM text; what is not base64 is left out."""
    found: list[bytes] = []
    for match in _CERTIFICATE.finditer(pem):
        try:
            found.append(base64.b64decode(b"".join(match[1].split()), validate=True))
        except binascii.Error:
            continue
    return found


def pem(der: bytes) -> bytes:
    """One certificate as PEM."""
    return ssl.DER_cert_to_PEM_cert(der).encode("ascii")


def sources(environment: Mapping[str, str]) -> list[Path]:
    """The files with roots on this machine: named by the user, the system's, certifi's."""
    import certifi

    named = [environment[name] for name in ROOT_VARIABLES if environment.get(name)]
    # Inside a captured program these name a bundle of ours, with an authority that may be gone.
    named = [path for path in named if not _OURS.fullmatch(Path(path).name)]
    defaults = ssl.get_default_verify_paths()
    system = [path for path in (defaults.openssl_cafile, *SYSTEM_BUNDLES) if path]
    ordered = dict.fromkeys(Path(path) for path in (*named, *system, certifi.where()))
    return [path for path in ordered if path.is_file()]


def write_trust(folder: Path, ca_pem: Path, environment: Mapping[str, str]) -> TrustFiles:
    """Write bundle, authority and trust store into `folder`; the names tell the contents.

    The same contents are written once, whole, so that programs of parallel runs may read them at
    any time.
    """
    ours = certificates(_read(ca_pem))
    if not ours:
        raise CaptureError(
            f"found no certificate in `{ca_pem}`, expected the proxy's authority",
            code="capture.no_authority",
            hint="renew it with `faultwire ca renew`",
        )
    roots = dict.fromkeys(der for path in sources(environment) for der in certificates(_read(path)))
    every = list(dict.fromkeys([*ours, *roots]))
    name = hashlib.sha256(b"".join(every)).hexdigest()[:16]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    bundle = _write(folder / f"trust-{name}.pem", map(pem, every))
    return TrustFiles(
        bundle=bundle,
        php_settings=_php_settings(folder / f"php-{name}", bundle),
        ca_cert=_write(folder / f"authority-{hashlib.sha256(ours[0]).hexdigest()[:16]}.pem", map(pem, ours)),
        truststore=_write(folder / f"trust-{name}.jks", [truststore(every)]),
    )


def remove_trust(folder: Path) -> None:
    """Delete what `write_trust` wrote, for any authority."""
    for pattern in ("trust-*.pem", "trust-*.jks", "authority-*.pem", "upstream-*.pem", "php-*/*.ini"):
        for path in folder.glob(pattern):
            path.unlink()
    for path in folder.glob("php-*"):
        path.rmdir()


def _php_settings(folder: Path, bundle: Path) -> Path | None:
    """PHP reads no variable that names roots (its curl extension has some compiled in), but folders of ini
    files. Nothing is escaped between single quotes in these."""
    path = str(bundle)
    if "'" in path or os.pathsep in str(folder.absolute()) or not path.isprintable():
        return None
    folder.mkdir(mode=0o755, exist_ok=True)
    lines = f"curl.cainfo='{path}'\nopenssl.cafile='{path}'\n"
    return _write(folder / "faultwire.ini", [lines.encode()]).parent


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaptureError(
            f"cannot read the certificates in `{path}`: {error.strerror}", code="capture.unreadable_roots"
        ) from error


def _write(target: Path, parts: Iterable[bytes]) -> Path:
    if target.exists():
        return target.absolute()
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as draft:
        draft.write(b"".join(parts))
    # A child may run as another user, and nothing here is secret; the folder above decides who may enter.
    os.chmod(draft.name, 0o644)
    os.replace(draft.name, target)
    return target.absolute()
