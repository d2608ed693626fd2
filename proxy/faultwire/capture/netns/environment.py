"""The environment of a program in a namespace of ours. Pure: a mapping in, a new one out.

It needs no proxy: whatever it connects to is us. A proxy of the user's own is none of its matter, and would
not be reachable; the engine uses it. The variables that name roots are set all the same, for runtimes whose
roots are compiled in and that read no file unless they are told to (Node, Deno).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.capture.env import BUNDLE_VARIABLES, PROXY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.capture.bundle import TrustFiles

REMOVED = (
    *PROXY_VARIABLES,
    *(name.lower() for name in PROXY_VARIABLES),
    "NO_PROXY",
    "no_proxy",
    "LOCALDOMAIN",
)
"""Besides proxies, what would put a domain behind names that are asked for (`resolver(3)`)."""


def inside_environment(base: Mapping[str, str], trust: TrustFiles) -> dict[str, str]:
    """`base` without proxies, and with our authority where roots are named by variables."""
    child = {key: value for key, value in base.items() if key not in REMOVED}
    for name in BUNDLE_VARIABLES:
        child[name] = str(trust.bundle)
    child["NODE_EXTRA_CA_CERTS"] = str(trust.bundle if base.get("NODE_EXTRA_CA_CERTS") else trust.ca_cert)
    child["DENO_CERT"] = str(trust.bundle if base.get("DENO_CERT") else trust.ca_cert)
    return child
