"""Where the proxy is that an agent's traffic goes through, as seen from a server that the agent started.

MCP's SDKs give a stdio server little of the agent's environment (`HOME`, `PATH` and the like), so that the
variables of `exec` may not have come this far. On Linux the processes above still show them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHIMS = "FAULTWIRE_SHIMS"
"""Names the folder in which a shim tells the proxy on which port it listens."""
GENERATIONS = 12
"""How many processes up the tree are looked at."""


class Surroundings(NamedTuple):
    """The proxy's URL, credentials included; the folder, where there is one; and what the agent's other
    programs are given, to be handed on to the server."""

    proxy: str
    shims: Path | None
    variables: Mapping[str, str]


_CAPTURE = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_ENV_PROXY",
    "NODE_OPTIONS",
    SHIMS,
)


def find(environments: Iterable[Mapping[str, str]]) -> Surroundings:
    """What the nearest environment that names a proxy says. Raises UsageError where none does."""
    for environment in environments:
        proxy = environment.get("HTTPS_PROXY") or environment.get("HTTP_PROXY")
        if proxy:
            capture_variables = {name: environment[name] for name in _CAPTURE if name in environment}
            shims = environment.get(SHIMS)
            return Surroundings(proxy, Path(shims) if shims else None, capture_variables)
    raise UsageError(
        "found no `HTTPS_PROXY`, expected to be started by an agent behind the proxy",
        code="shim.no_proxy",
        hint="start the agent by `faultwire exec -- CMD`, or put `HTTPS_PROXY` into the server's `env`",
    )


def above(own: Mapping[str, str], pid: int, proc: Path = Path("/proc")) -> Iterable[Mapping[str, str]]:
    """Our own environment, then those of `pid` and the processes above it, nearest first, as far as we may
    read them."""
    yield own
    for _ in range(GENERATIONS):
        try:
            raw = (proc / str(pid) / "environ").read_bytes()
            status = (proc / str(pid) / "status").read_text("utf-8", "replace")
        except OSError:
            return
        pairs = (pair.partition("=") for pair in raw.decode("utf-8", "surrogateescape").split("\0"))
        yield {name: value for name, equals, value in pairs if equals}
        parents = [line.split()[1] for line in status.splitlines() if line.startswith("PPid:")]
        if not parents or parents[0] in ("0", str(pid)):
            return
        pid = int(parents[0])
