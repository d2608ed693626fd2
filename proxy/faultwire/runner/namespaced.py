"""A command in a network namespace of its own: which ports are captured, and which files are its own."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.capture import sock_diag
from faultwire.capture.bundle import certificates
from faultwire.capture.java import truststore
from faultwire.capture.netns import name_service, trust_stores
from faultwire.capture.netns.namespace import MOST_PORTS, Namespace, begin
from faultwire.errors import UsageError
from faultwire.mitm.captured_settings import NamespaceSettings
from faultwire.runner.hosts import LOOPBACK, allowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import ExitStack

    from faultwire.capture.bundle import TrustFiles

USUAL = frozenset({80, 443})
DNS = 53
"""Answered by ourselves, at every address."""


@dataclass(frozen=True, slots=True)
class NamespaceOptions:
    """What the user wants of the namespace: the session whose it is, the command, `ports` that are captured
    besides 80 and 443, `relays` (`host:port`) that are passed on unread, and `urls` (globs too) that are
    known to be called."""

    session: str
    command: tuple[str, ...]
    ports: tuple[int, ...] = ()
    relays: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


def started(
    options: NamespaceOptions, allow_hosts: Sequence[str], environ: Mapping[str, str], stack: ExitStack
) -> Namespace:
    """Begin to make it, for a command with this environment; it ends with the stack.

    Raises CaptureError, or UsageError for services of this machine that are too many.
    """
    listening = frozenset(sock_diag.read(()).listening)
    wide, local = ports(options, allow_hosts, [*options.urls, *_urls(environ)], listening)
    if len(wide | local) > MOST_PORTS:
        raise UsageError(
            f"found {len(wide | local)} ports to capture, expected {MOST_PORTS} at most",
            code="usage.ports",
            hint="name the services of this machine one by one: `--allow-host localhost:PORT`",
        )
    return stack.enter_context(begin(wide, local))


def ports(
    options: NamespaceOptions, allow_hosts: Sequence[str], urls: Iterable[str], listening: frozenset[int]
) -> tuple[set[int], set[int]]:
    """Ports that are captured at every address, and those at this machine's own alone. Pure.

    A port of this machine is only taken where a service is there: the command may want to serve on others.
    """
    wide = {*USUAL, *options.ports, *(_place(rule)[1] for rule in options.relays)}
    local: set[int] = set()
    for rule in allow_hosts:
        host, port = _place(rule)
        if host in LOOPBACK:
            local |= {port} if port else listening
        elif port:
            wide.add(port)
    for url in urls:
        host, port = _url_place(url)
        if port and host in LOOPBACK:
            local |= {port} & listening
        elif port:
            wide.add(port)
    return wide - {DNS}, local - wide - {DNS}


def engine_settings(space: Namespace, options: NamespaceOptions) -> NamespaceSettings:
    """What the engine is told of it, once it is there. Raises CaptureError."""
    space.made()
    held = space.sockets
    return NamespaceSettings(
        session=options.session,
        listeners=(*held.get("tcp4", ()), *held.get("tcp6", ())),
        dns=(*held.get("dns4", ()), *held.get("dns6", ())),
        refusals=(*held.get("refused4", ()), *held.get("refused6", ())),
        relays=allowed(options.relays),
        ipv6="tcp6" in held,
    )


def furnish(
    space: Namespace, options: NamespaceOptions, trust: TrustFiles, folder: Path, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Put our authority where the command's runtimes look for roots, and our name server where they look for
    one; what could not be replaced, each with the reason. `folder` is the run's.

    From here on only the engine, which has been started, has the sockets.
    """
    space.release()
    files = [(str(trust.bundle), path) for path in trust_stores.bundles(options.command, environ)]
    files += [(str(trust.truststore), path) for path in trust_stores.java_stores(options.command, environ)]
    for path, password in trust_stores.own_java_stores(options.command, environ):
        files.append((_own_store(path, password, trust, folder), path))
    files += _name_service(folder)
    folders = {path: trust_stores.folder_entries(path, trust) for path in trust_stores.folders()}
    inside = tuple(f"{path}/" for path in folders)
    # What lies directly in a folder that is replaced is put there with it.
    kept = [one for one in files if not (one[1].startswith(inside) and os.path.dirname(one[1]) in folders)]
    return tuple(space.mount(kept, folders))


def _own_store(path: str, password: str | None, trust: TrustFiles, folder: Path) -> str:
    if password in (None, trust.truststore_password):
        return str(trust.truststore)
    made = (folder / f"truststore-{hashlib.sha256(path.encode()).hexdigest()[:16]}.jks").absolute()
    made.write_bytes(truststore(certificates(trust.bundle.read_bytes()), password or ""))
    return str(made)


def _name_service(folder: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    texts = {name_service.RESOLV_PATH: name_service.RESOLV_CONF}
    if os.path.isfile(name_service.NSSWITCH_PATH):
        text = Path(name_service.NSSWITCH_PATH).read_text(encoding="utf-8", errors="replace")
        texts[name_service.NSSWITCH_PATH] = name_service.nsswitch(text)
    for path, text in texts.items():
        if os.path.exists(path):
            ours = folder / Path(path).name
            ours.write_text(text, encoding="utf-8")
            ours.chmod(0o644)
            found.append((str(ours.absolute()), os.path.realpath(path)))
    return found + [("/dev/null", path) for path in name_service.covered_sockets()]


def _place(rule: str) -> tuple[str, int]:
    """Host and port of `host:port` or `[address]:port`; port 0 where there is none."""
    host, _, port = rule.rpartition(":")
    if port.isdigit() and host and (host.startswith("[") or ":" not in host):
        return host.strip("[]").lower(), int(port)
    return rule.strip("[]").lower(), 0


def _urls(environ: Mapping[str, str]) -> list[str]:
    return [
        value
        for name, value in environ.items()
        if value.startswith(("http://", "https://")) and not name.lower().endswith("_proxy")
    ]


def _url_place(url: str) -> tuple[str, int]:
    """Host and port of a URL, or of a glob over URLs; port 0 where it says none, or the usual one."""
    _, between, rest = url.partition("://")
    try:
        parts = urlsplit(f"//{rest if between else url}")
        return (parts.hostname or "").lower(), parts.port or 0
    except ValueError:
        return "", 0
