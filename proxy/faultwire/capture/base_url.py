"""Base-URL mode: an agent that uses no proxy is given our address as its provider's.

The SDKs read their base URLs from the variables below (reference: their own sources). Code that names
a base URL itself cannot be captured like this. Pure: a mapping in, a new one out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.capture.env import PROXY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

OURS = "FAULTWIRE_URL_"
"""Before the name of a route that the user declared: the variable that holds our URL for it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider is by default, what its SDKs want behind the host, and which variables name it."""

    route: str
    url: str
    suffix: str
    variables: tuple[str, ...]


PROVIDERS = (
    Provider("openai", "https://api.openai.com", "/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    Provider(
        "anthropic",
        "https://api.anthropic.com",
        "",
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL", "ANTHROPIC_API_BASE"),
    ),
    Provider("gemini", "https://generativelanguage.googleapis.com", "", ("GOOGLE_GEMINI_BASE_URL",)),
    Provider("vertex", "https://aiplatform.googleapis.com", "", ("GOOGLE_VERTEX_BASE_URL",)),
    Provider("groq", "https://api.groq.com", "", ("GROQ_BASE_URL",)),
    Provider("cohere", "https://api.cohere.com", "", ("CO_API_URL",)),
    Provider("ollama", "http://127.0.0.1:11434", "", ("OLLAMA_HOST", "OLLAMA_BASE_URL", "OLLAMA_API_BASE")),
)
ONLY_THEIRS = ("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE")
"""Turned only where the user has set them: every customer has a host of their own."""
MOCKED = {"ollama": "https://ollama.com"}
"""Hosts for which the mock answers, where the default is on this machine."""
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

    `declared` are the user's own; each is told to the agent in `FAULTWIRE_URL_NAME`. With `providers`
    those that SDKs know are turned too. Where the user has named another base URL than the default,
    calls go there; except with `mock`, which stands in for the defaults only.
    """
    routes = dict(declared)
    variables = {f"{OURS}{_word(name)}": (name, "") for name in declared}
    if not providers:
        return Plan(routes, variables)
    for provider in PROVIDERS:
        for variable in provider.variables:
            theirs = "" if mock else _url(variable, base.get(variable, ""))
            name, suffix = (_route(variable), "") if theirs else (provider.route, provider.suffix)
            default = MOCKED.get(provider.route, provider.url) if mock else provider.url
            routes.setdefault(name, theirs or default)
            variables[variable] = (name, suffix)
    for variable in ONLY_THEIRS:
        theirs = _url(variable, base.get(variable, ""))
        if theirs:
            routes.setdefault(_route(variable), theirs)
            variables[variable] = (_route(variable), "")
    return Plan(routes, variables)


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
