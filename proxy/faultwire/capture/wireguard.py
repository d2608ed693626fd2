"""The keys of a WireGuard tunnel to the proxy, and the configuration with which a device opens it.

Keys are those of X25519 in Base64, the file is as `wg-quick(8)` and WireGuard's own programs read it. Both
are kept beside the authority's key, so that a device is set up once. Whoever has the device's key may send
traffic through the proxy, and nobody else.
"""

from __future__ import annotations

import base64
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS, CONF = "wireguard.json", "wireguard.conf"
ADDRESSES = "10.66.87.2/32, fd66:6177:6972:65ff::2/128"
"""The device's own in the tunnel."""
NAME_SERVER = "10.66.87.1"
"""Any address does: whatever asks for names through the tunnel is answered by us."""


@dataclass(frozen=True, slots=True, repr=False)
class WireGuardKeys:
    """The private keys of both ends, in Base64."""

    ours: str
    device: str


def keys_in(folder: Path) -> WireGuardKeys:
    """The keys that are kept there, or new ones. Raises UsageError for a file that holds none, or that others
    may read."""
    path = folder / KEYS
    try:
        mode = path.stat().st_mode
        found = json.loads(path.read_text(encoding="ascii"))
        keys = WireGuardKeys(found["ours"], found["device"])
        for one in (keys.ours, keys.device):
            public(one)
    except FileNotFoundError:
        return _made(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"`{path}` holds no keys: {error}",
            code="capture.wireguard",
            hint="remove it: new keys are made, and devices need the new wireguard.conf",
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(
            f"`{path}` has mode {stat.S_IMODE(mode):04o}, expected 0600: others may have read its keys",
            code="capture.wireguard",
            hint="remove it: new keys are made, and devices need the new wireguard.conf",
        )
    return keys


def _made(path: Path) -> WireGuardKeys:
    keys = WireGuardKeys(*(_base64(X25519PrivateKey.generate().private_bytes_raw()) for _ in range(2)))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(path, json.dumps({"ours": keys.ours, "device": keys.device}), new=True)
    return keys


def write_conf(folder: Path, keys: WireGuardKeys, endpoint: str, others: Sequence[str] = ()) -> Path:
    """Write the device's configuration, with `endpoint` (`host:port`) as the place of this proxy, and
    `others` at which it may be reached, too; its path."""
    lines = [
        "[Interface]",
        f"PrivateKey = {keys.device}",
        f"Address = {ADDRESSES}",
        f"DNS = {NAME_SERVER}",
        "",
        "[Peer]",
        f"PublicKey = {public(keys.ours)}",
        "AllowedIPs = 0.0.0.0/0, ::/0",
        f"Endpoint = {endpoint}",
        *(f"# or: {one}" for one in others),
        "",
    ]
    path = folder / CONF
    _write(path, "\n".join(lines))
    return path


def public(private: str) -> str:
    """The public key of a private one. Raises ValueError for what is no key."""
    key = X25519PrivateKey.from_private_bytes(base64.b64decode(private, validate=True)).public_key()
    return _base64(key.public_bytes_raw())


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _write(path: Path, text: str, *, new: bool = False) -> None:
    """Never followed through a link, and never readable for others, not even while it is written."""
    if not new:
        path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
