"""The user's own proxies: which of them leads to a server. Pure; no credentials in any text.

They are read from the environment as curl and Python read it (curl(1), "ENVIRONMENT"; `urllib.request`):
`HTTPS_PROXY` for TLS, `HTTP_PROXY` for the rest, `ALL_PROXY` where the first two say nothing, each in lower
case first. `NO_PROXY` lists what is called directly: a name with all names below it, with or without a dot or
`*.` in front, an address, a network such as `10.0.0.0/8`, each with or without a port, or `*` for everything.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from faultwire.errors import UsageError
from faultwire.mitm.network.egress_guard import is_local

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORTS = {"http": 80, "socks5": 1080, "socks5h": 1080}
"""By supported scheme. Both kinds of SOCKS5 leave the look-up of names to the proxy."""
_LONGEST = 255
"""Bytes of a user and of a password in SOCKS5 (RFC 1929 §2)."""


@dataclass(frozen=True, slots=True)
class UpstreamProxy:
    """One proxy, and the variable that names it."""

    scheme: str
    host: str
    port: int
    variable: str
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """Its URL without credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class UpstreamProxies:
    """The proxies for servers with and without TLS, and what is called directly."""

    http: UpstreamProxy | None = None
    https: UpstreamProxy | None = None
    no_proxy: tuple[str, ...] = ()

    def find(self, host: str, port: int, *, tls: bool) -> UpstreamProxy | None:
        """The proxy that leads to a server; None where it is called directly, as this machine always is."""
        proxy = self.https if tls else self.http
        if proxy is None or is_local(host) or any(_exempts(entry, host, port) for entry in self.no_proxy):
            return None
        return proxy

    @property
    def urls(self) -> tuple[str, ...]:
        """Each proxy once, without credentials, with the variable that names it."""
        each = (proxy for proxy in (self.https, self.http) if proxy is not None)
        return tuple(dict.fromkeys(f"{proxy.url} ({proxy.variable})" for proxy in each))


def from_environment(environment: Mapping[str, str]) -> UpstreamProxies | None:
    """The proxies that an environment names; None where it names none.

    Raises UsageError (`usage.proxy`) for one that cannot be used: it is not passed over.
    """
    found = {scheme: _named(environment, f"{scheme}_proxy") for scheme in ("http", "https")}
    if not any(found.values()):
        return None
    _, exempt = _value(environment, "no_proxy")
    entries = tuple(entry.lower() for entry in exempt.replace(",", " ").split())
    return UpstreamProxies(found["http"], found["https"], entries)


def _named(environment: Mapping[str, str], name: str) -> UpstreamProxy | None:
    for variable, value in (_value(environment, name), _value(environment, "all_proxy")):
        if value:
            return _parsed(variable, value)
    return None


def _value(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """The variable that is set, and its value, empty where neither is."""
    for variable in (name, name.upper()):
        if environment.get(variable, "").strip():
            return variable, environment[variable].strip()
    return name, ""


def _parsed(variable: str, value: str) -> UpstreamProxy:
    expected = "expected `http://HOST:PORT` or `socks5://HOST:PORT`"
    hint = f"correct `{variable}`, or unset it to call servers directly"
    # Nothing of the value is quoted but its scheme: it may hold a password.
    scheme, mark, _ = value.partition("://")
    scheme = scheme.lower() if mark else "http"
    if scheme not in DEFAULT_PORTS:
        known = scheme.isascii() and scheme.isalnum() and len(scheme) <= 10
        kind = f"a proxy of the kind `{scheme}`" if known else "a proxy of an unknown kind"
        raise UsageError(f"found {kind} in `{variable}`, {expected}", code="usage.proxy", hint=hint)
    try:
        parts = urlsplit(value if mark else f"http://{value}")
        host, port = parts.hostname or "", parts.port
        username, password = unquote(parts.username or ""), unquote(parts.password or "")
    except ValueError:
        host = ""
    if not host or port == 0:
        message = f"found no proxy's address in `{variable}`, {expected}"
        raise UsageError(message, code="usage.proxy", hint=hint)
    if scheme != "http" and max(len(username.encode()), len(password.encode())) > _LONGEST:
        message = f"found a user or password of more than {_LONGEST} bytes in `{variable}`, expected fewer"
        raise UsageError(message, code="usage.proxy", hint=hint)
    return UpstreamProxy(scheme, host, port or DEFAULT_PORTS[scheme], variable, username, password)


def _exempts(entry: str, host: str, port: int) -> bool:
    """Does an entry of `NO_PROXY` cover a server? Names are not looked up."""
    if entry == "*":
        return True
    pattern, wanted = _divided(entry)
    if wanted is not None and wanted != port:
        return False
    name = host.lower().rstrip(".")
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        suffix = pattern.removeprefix("*").strip(".")
        return bool(suffix) and (name == suffix or name.endswith(f".{suffix}"))
    try:
        return address in ipaddress.ip_network(pattern, strict=False)
    except ValueError:
        return False


def _divided(entry: str) -> tuple[str, int | None]:
    """An entry without its port, and the port."""
    if entry.startswith("["):
        address, _, rest = entry[1:].partition("]")
        return address, _number(rest.removeprefix(":"))
    name, mark, digits = entry.partition(":")
    if mark and ":" not in digits and _number(digits) is not None:
        return name, _number(digits)
    return entry, None


def _number(digits: str) -> int | None:
    return int(digits) if digits.isascii() and digits.isdigit() else None
