"""Base-URL mode: an agent that uses no proxy is given our address as its provider's.

The SDKs read their base URLs from variables that their protocols name (`Protocol.base_urls`; reference: the
SDKs' own sources). Code that names
a base URL itself cannot be captured like this. Pure: a mapping in, a new one out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire import wire
from faultwire.capture.env import PROXY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.wire.types import BaseUrl

OURS = "FAULTWIRE_URL_"
"""Before the name of a route that the user declared: the variable that holds our URL for it."""


OLLAMA_PORT = 11434


@dataclass(frozen=True, slots=True)
class Plan:
    """Which routes there are (name to base URL), and which variable gets which route and suffix."""

    routes: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def environment(self, base: Mapping[str, str], ours: str) -> dict[str, str]:
        """`base` with every variable set to our URL below `ours`, which holds the session's token."""
        child = dict(base)
        for variable, (route, suffix) in self.variables.items():
            child[variable] = f"{ours}/{route}{suffix}"
        if any(base.get(each) or base.get(each.lower()) for each in PROXY_VARIABLES):
            # A proxy of the user's own stays for the rest, but must not be asked for our address.
            for name in ("NO_PROXY", "no_proxy"):
                child[name] = ",".join(filter(None, (base.get(name), urlsplit(ours).hostname)))
        return child


def plan(
    base: Mapping[str, str], declared: Mapping[str, str], *, providers: bool, mock: bool = False
) -> Plan:
    """The routes for an agent with the environment `base`.

    `declared` are the user's own; each is passed to the agent in `FAULTWIRE_URL_NAME`. With `providers`
    those that SDKs know are turned too. Where the user has named another base URL than the default,
    calls go there; except with `mock`, which stands in for the defaults only.
    """
    routes = dict(declared)
    variables = {f"{OURS}{_word(name)}": (name, "") for name in declared}
    if not providers:
        return Plan(routes, variables)
    for provider in base_urls():
        default = (provider.mocked if mock else "") or provider.url
        for variable in provider.variables:
            theirs = "" if mock and default else _url(variable, base.get(variable, ""))
            if not (theirs or default):
                continue
            name, suffix = (_route(variable), "") if theirs else (provider.route, provider.suffix)
            routes.setdefault(name, theirs or default)
            variables.setdefault(variable, (name, suffix))
    return Plan(routes, variables)


def base_urls() -> tuple[BaseUrl, ...]:
    """What the known protocols say of their providers' base URLs; those of plug-ins come last."""
    known = wire.protocols().values()
    return tuple(dict.fromkeys(one for protocol in known for one in protocol.base_urls))


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name.upper())


def _route(variable: str) -> str:
    return variable.lower().replace("_", "-")


def _url(variable: str, value: str) -> str:
    """A base URL that the user has set, empty where it is none. Ollama's is often a mere address."""
    if not value:
        return ""
    bare = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(bare)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    if not variable.startswith("OLLAMA"):
        return value if "://" in value else ""
    host = "127.0.0.1" if parts.hostname == "0.0.0.0" else parts.netloc.rpartition("@")[2].rpartition(":")[0]
    host = host or parts.hostname
    if port is None:
        port = {"https": 443}.get(parts.scheme, OLLAMA_PORT if "://" not in value else 80)
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"
