"""The environment of a captured program. Pure: a mapping in, a new one out.

What each runtime reads was tried out one by one; `docs/howto/capture.md` has the table.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.capture import java, node

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from faultwire.capture.bundle import TrustFiles

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY", "WS_PROXY", "WSS_PROXY")
"""Set in both cases: gRPC and urllib read only lower case, curl ignores an upper-case HTTP_PROXY."""

BUNDLE_VARIABLES = (
    "SSL_CERT_FILE",  # OpenSSL, httpx, aiohttp, Go, rustls, Ruby, uv, .NET
    "REQUESTS_CA_BUNDLE",  # requests, boto3
    "CURL_CA_BUNDLE",  # curl, requests, R
    "AWS_CA_BUNDLE",  # boto3 and the other AWS SDKs
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",  # gRPC, which reads no other
    "GIT_SSL_CAINFO",  # git
    "PIP_CERT",  # pip, for agents that start their tools with it
    "CARGO_HTTP_CAINFO",  # cargo, likewise
    "PERL_LWP_SSL_CA_FILE",  # Perl's LWP
    "MOJO_CA_FILE",  # Perl's Mojolicious
    "NIX_SSL_CERT_FILE",  # programs from nixpkgs prefer it to SSL_CERT_FILE
)
"""Each replaces the program's roots, so each gets the whole bundle."""

PERL_SWITCHES = ("PERL_LWP_ENV_PROXY", "MOJO_PROXY")
"""Perl's LWP and Mojolicious look at the proxy variables only where these, or the program, say so."""

REMOVED = ("NO_PROXY", "no_proxy", "REQUEST_METHOD")
"""Exceptions would hide traffic (and some values crash httpx 0.28); with REQUEST_METHOD set,
urllib, Go and reqwest take themselves for CGI scripts and ignore HTTP_PROXY."""


def child_environment(
    base: Mapping[str, str],
    *,
    proxy_url: str,
    trust: TrustFiles,
    java_port: int | None = None,
    preload: Path = node.PRELOAD,
) -> dict[str, str]:
    """`base` with everything set that makes some runtime use `proxy_url` and trust its authority.

    `java_port` is a port of the proxy that needs no credentials; without one Java is left alone.
    """
    child = {key: value for key, value in base.items() if key not in REMOVED}
    for name in PROXY_VARIABLES:
        child[name] = child[name.lower()] = proxy_url
    for name in BUNDLE_VARIABLES:
        child[name] = str(trust.bundle)
    # These two add to the runtime's own roots; parsing 150 more would only slow each start. But
    # where the user already named some, they are in the bundle.
    extra = trust.bundle if base.get("NODE_EXTRA_CA_CERTS") else trust.ca_cert
    child["NODE_EXTRA_CA_CERTS"] = str(extra)
    child["DENO_CERT"] = str(trust.bundle if base.get("DENO_CERT") else trust.ca_cert)
    child |= dict.fromkeys(PERL_SWITCHES, "1")
    if trust.php_settings is not None:
        child["PHP_INI_SCAN_DIR"] = _with_folder(base.get("PHP_INI_SCAN_DIR", ""), str(trust.php_settings))
    child["NODE_USE_ENV_PROXY"] = "1"  # Node from 22.21 and 24.5 on; earlier ones ignore it
    child["NODE_OPTIONS"] = node.with_preload(base.get("NODE_OPTIONS"), preload)
    if java_port is not None:
        host = urlsplit(proxy_url).hostname or "127.0.0.1"
        ours = java.options(host, java_port, trust.truststore, trust.truststore_password)
        theirs = base.get("JAVA_TOOL_OPTIONS")
        child["JAVA_TOOL_OPTIONS"] = f"{theirs} {ours}" if theirs and ours not in theirs else theirs or ours
    return child


def _with_folder(theirs: str, ours: str) -> str:
    """Their folders, or the empty one that stands for PHP's own; ours comes last, and prevails."""
    folders = theirs.split(os.pathsep)
    return os.pathsep.join([*(one for one in folders if one != ours), ours])


def changes(base: Mapping[str, str], child: Mapping[str, str]) -> dict[str, str | None]:
    """What `child` has that `base` has not, by name; None where a variable is to be removed."""
    changed: dict[str, str | None] = {k: v for k, v in child.items() if base.get(k) != v}
    return changed | {name: None for name in base if name not in child}
