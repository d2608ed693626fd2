"""The service as a program: its database, its place for tapes, its audit log, and where it listens."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.certificate.witness import Witness
from faultwire.errors import UsageError
from faultwire.ingestion.serve import SHORTEST_TOKEN
from faultwire.service.acts import Acts
from faultwire.service.app import application
from faultwire.service.audit import Audit
from faultwire.service.browsers import Browsers
from faultwire.service.guard import Gate
from faultwire.store.database import open_engine
from faultwire.workbench.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from faultwire.ingestion.serve import Listen
    from faultwire.service.oidc import Oidc
    from faultwire.service.settings import Settings
    from faultwire.store.objects import Objects
    from faultwire.tape.evidence.signed_note import SignerKey, VerifierKey


WITNESS = "faultwire-witness"
"""What a witness is called, as by `faultwire witness`."""


@dataclass(frozen=True, slots=True)
class Logs:
    """The logs whose checkpoints the service cosigns, by origin, and the folder of what it has cosigned."""

    keys: Mapping[str, VerifierKey]
    folder: Path


@dataclass(frozen=True, slots=True)
class Ready:
    """Where a service is reached, its audit log, and the key by which it cosigns, if it does."""

    url: str
    audit: Path
    witness: str | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """What one service is made of. `address` is how browsers reach it, where that is not where it listens."""

    store: str
    settings: Settings
    listen: Listen
    objects: Objects | None
    audit: Path
    origin: str
    signer: SignerKey
    key: bytes
    address: str | None = None
    scraper: str | None = None
    """The token of who may read `/metrics`; without one nobody may."""
    logs: Logs | None = None


def serve(service: Service, ready: Callable[[Ready], None]) -> int | None:
    """Serve until SIGINT or SIGTERM, which is returned; `ready` is called once it listens.

    Raises UsageError and FaultwireError where the store, the settings or the place cannot be used.
    """
    oidc = _provider(service.settings)
    with ExitStack() as stack:
        engine = open_engine(service.store)
        stack.callback(engine.dispose)
        bound = stack.enter_context(closing(service.listen.bind()))
        port = int(bound.getsockname()[1])
        tls = service.listen.certificate is not None
        base = service.address or f"{'https' if tls else 'http'}://{_host(service.listen)}:{port}"
        audit = stack.enter_context(
            closing(Audit(service.audit, service.origin, service.signer, service.key))
        )
        witness = None
        if service.logs is not None:
            witness = Witness(service.logs.folder, WITNESS, service.logs.keys)
            stack.callback(witness.close)
        browsers = Browsers(base.startswith("https://"))
        hosts = service.listen.hosts(port) | _named(base)
        scheme = base.partition("://")[0]
        gate = Gate(engine, browsers, audit, hosts, frozenset(f"{scheme}://{host}" for host in hosts))
        acts = Acts(engine, service.settings, metrics=gate.metrics)
        made = application(acts, gate, service.objects, oidc, base, service.scraper, witness)
        server = HttpServer(made, lambda: None, service.listen.certificate, service.listen.key)
        ready(Ready(base, audit.path, None if witness is None else str(witness.key)))
        server.run(sockets=[bound])
        return server.ended_by


def scraper_token(path: Path) -> str:
    """The token for `/metrics`. A group may read its file, since that is how containers mount secrets.

    Raises UsageError where it is none, or where everybody can read it.
    """
    try:
        mode, found = path.stat().st_mode & 0o777, path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `--metrics-token {path}`: {error}", code="usage.token") from error
    if mode & 0o007:
        raise UsageError(
            f"`{path}` has mode {mode:03o}, expected 440 or less",
            code="usage.token",
            hint=f"chmod 440 {path}",
        )
    if len(found) < SHORTEST_TOKEN or not found.isascii() or not found.isprintable() or " " in found:
        raise UsageError(
            f"`{path}` holds no token: expected {SHORTEST_TOKEN} or more printable characters",
            code="usage.token",
            hint="for example `openssl rand -hex 32 > FILE`",
        )
    return found


def _provider(settings: Settings) -> Oidc | None:
    if settings.oidc is None:
        return None
    try:
        from faultwire.service.oidc import Oidc
    except ImportError as error:
        raise UsageError(
            f"found no `{error.name}`, expected it for `oidc`",
            code="usage.service",
            hint="pip install 'faultwire[service]'",
        ) from error
    path = settings.oidc.client_secret_file
    try:
        secret = None if path is None else path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read `client_secret_file: {path}`: {error}", code="usage.service"
        ) from error
    return Oidc(settings.oidc, secret)


def _host(listen: Listen) -> str:
    return f"[{listen.host}]" if ":" in listen.host else listen.host


def _named(base: str) -> frozenset[str]:
    """What a `Host` field says to a service that is reached by this address."""
    host = base.partition("://")[2].rstrip("/").lower()
    return frozenset((host,))
