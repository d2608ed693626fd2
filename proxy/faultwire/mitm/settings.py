"""What an engine is started with: one JSON document on its standard input."""

from __future__ import annotations

import os
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt, field_validator

from faultwire.errors import UsageError
from faultwire.mitm.captured_settings import NamespaceSettings, PacketSettings
from faultwire.mitm.network.upstream_proxy import UpstreamProxies
from faultwire.mitm.sessions.sources import PER_SOURCE
from faultwire.profile.entry_model import Frozen, On, Trigger
from faultwire.replay.settings import ReplaySettings, SessionAnswers
from faultwire.tape.record.overload_policy import FailurePolicy, RecordPolicy

MAX_LINE = 4 * 1024 * 1024
"""Bytes in one line of the control protocol, either way."""


ROUTE_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""How a route in base-URL mode may be called."""


RESPONSE_S = 600.0
"""Seconds for a server to say something: what the SDKs of OpenAI and Anthropic wait for by default."""
REQUEST_S = 60.0
"""Seconds for a client to send more of its request: what nginx waits for by default."""
HANDSHAKE_S = 30.0
"""Seconds for a client to say something at all in a connection, and in a tunnel."""


def _limit(variable: str, default: float, unit: str = "seconds") -> float:
    """A limit from the environment. Raises UsageError."""
    text = os.environ.get(variable, "")
    try:
        found = float(text) if text else default
    except ValueError:
        found = 0.0
    if not 0 < found < 1e9:
        raise UsageError(
            f"`{variable}` is `{text}`, expected a number of {unit} above 0",
            code="engine.settings",
            hint=f"leave it out for {default:g}",
        )
    return found


def _seconds(variable: str, default: float) -> Any:
    """A field that the environment sets."""
    return Field(default_factory=partial(_limit, variable, default), gt=0)


NATIVE = "FAULTWIRE_NATIVE"


HTTP2 = "FAULTWIRE_HTTP2"


def _switched_on(variable: str, default: str) -> bool:
    """Is this on by the environment, or where that says nothing by default? Raises UsageError."""
    found = os.environ.get(variable) or default
    if found not in ("on", "off"):
        raise UsageError(
            f"`{variable}` is `{found}`, expected `on` or `off`",
            code="engine.settings",
            hint=f"leave it out for `{default}`",
        )
    return found == "on"


def _per_source() -> int:
    return int(_limit("FAULTWIRE_CONNECTIONS", PER_SOURCE, "connections"))


class SessionSettings(Frozen):
    """A session to open. `profile` is a profile as JSON (`Profile.dump()`); `via` is the shared user that its
    traffic comes by, empty where it has one of its own. `dice` is the session whose dice it has, where that
    is another: repeats of one session make the same decisions. `answers` says what of a replayed tape answers
    it, where that is not all of it."""

    name: str = Field(pattern=r"^[A-Za-z0-9._#@:/+~-]{1,128}$")
    profile: dict[str, Any]
    seed: int
    agent: str = ""
    via: str = ""
    dice: str = ""
    answers: SessionAnswers | None = None


class ShareSettings(Frozen):
    """A user to share. With `unnamed`, traffic that names no user is of this one."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")
    unnamed: bool = False


class ClientsSettings(Frozen):
    """How clients name sessions of their own: behind the proxy's user and token (`client_sessions`). Each has
    the profile, as JSON, and the seed of the proxy."""

    user: str = Field(pattern=r"^[a-z0-9]{1,32}$")
    token: str = Field(pattern=r"^[a-z0-9]{16,64}$")
    profile: dict[str, Any]
    seed: int


class RadiusSettings(Frozen):
    """How much runtime control may touch at most: sessions, their share of all, calls with a fault."""

    sessions: PositiveInt | None = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    calls: PositiveInt | None = None


class InterventionSettings(Frozen):
    """Faults to arm while the engine runs, on whose calls, within which limits, and what ends them
    (`exchange.intervention`). Whoever arms them must say something every `lease_s` seconds."""

    profile: dict[str, Any]
    sessions: tuple[str, ...] = ()
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    headers: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    session_by: str | None = None
    after_s: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    for_s: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    radius: RadiusSettings = RadiusSettings()
    error_rate: Annotated[float, Field(ge=0, lt=1)] | None = None
    latency_s: Annotated[float, Field(gt=0)] | None = None
    min_calls: PositiveInt = 5
    window_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    lease_s: Annotated[float, Field(ge=1, le=60)] = 3.0


class BreakSettings(InterventionSettings):
    """A breakpoint: where it holds what matches `on` (`mitm.breakpoints`), at which event of a stream, and
    what becomes of what is held when whoever set it is gone."""

    profile: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    at: Literal["request", "response", "event", "tool_call", "tool_result"]
    on: On = On()
    trigger: Trigger = Trigger()
    event: PositiveInt = 1
    on_gone: Literal["resume", "cut"] = "resume"
    for_s: Annotated[float, Field(gt=0, le=86_400)] = 86_400.0


class CallEdit(Frozen):
    """Another tool call in place of the one at this place of the answer, from 0: its name, all its arguments
    as text, or single members of them."""

    at: Annotated[int, Field(ge=0)] = 0
    name: str | None = None
    arguments: str | None = None
    members: dict[str, Any] = {}  # noqa: RUF012


class DecisionSettings(Frozen):
    """What becomes of what is held, and how it is edited: `raw` is the whole body, event or answer, `text` an
    event's words, `texts` those of a request or of tool results by their place from 0."""

    held: str = Field(max_length=32)
    do: Literal["resume", "answer", "cut", "retry"] = "resume"
    raw: str | None = None
    text: str | None = None
    texts: dict[str, str] = {}  # noqa: RUF012
    calls: tuple[CallEdit, ...] = ()
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    headers: tuple[tuple[str, str], ...] | None = None


class HeldSettings(Frozen):
    """What is held and looked at."""

    held: str = Field(max_length=32)


class DisarmSettings(Frozen):
    """An intervention to disarm, and why, for the tape."""

    id: str = Field(max_length=32)
    why: str = Field(default="disarmed by a controller", max_length=500)


class EngineSettings(Frozen):
    """The settings of one engine.

    `routes` maps a host name (or one with `*`) to the base URL that its exchanges go to instead;
    `allow_hosts` are hosts (`name`, `name:port`, or with `*`) whose addresses may be private; `implicit`
    is the session of traffic that names none. With `local_only`, no address but those of this machine is
    connected to, except for `remote_hosts` (`name`, or with `*`), which `routes` do not cover either.

    `reverse` maps the name of a route in base-URL mode to the base URL that its calls go to.

    `redact` is what is redacted besides secrets, as in a configuration (`tape.redact_rules`);
    `record_policy` and `on_tape_failure` say what becomes of exchanges that the tape cannot take.

    `replay` answers from a tape in place of every server.

    `max_exchanges` may be in flight at once; more are answered 503. `first_byte_s` is how long a server may
    take to begin its response once it has the request, `idle_body_s` how long it may say nothing in between.
    `idle_request_s` and `handshake_s` say the same of clients, of their request bodies and of connections in
    which they have said nothing yet; `per_source` connections may come from one source at a time.
    """

    run_dir: Path
    number: PositiveInt = 1
    """Which engine of its run it is."""
    agents: str = ""
    """The mark of its agents' processes (`process_tree`), which end with the engine."""
    ca_dir: Path
    covers: datetime | None = None
    """An instant at which our certificates must be valid, besides now."""
    listen: str = "127.0.0.1:0"
    auth: bool = True
    """Must clients without a session's token be processes of our own user, and on an address that others can
    reach have one in any case?"""
    tape: Path | None = None
    tape_settings: dict[str, Any] = Field(default_factory=dict)
    record_policy: RecordPolicy = "block"
    on_tape_failure: FailurePolicy = "fail"
    redact: dict[str, Any] = Field(default_factory=dict)
    encrypt_bodies: bool = False
    """Are bodies encrypted on the tape? In a replay of a tape on which they are, they are in any case."""
    upstream_ca: Path | None = None
    client_certs: dict[str, Path] = Field(default_factory=dict)
    """Certificates with their keys that servers are shown, by host or glob of hosts."""
    routes: dict[str, str] = Field(default_factory=dict)
    reverse: dict[Annotated[str, Field(pattern=ROUTE_NAME)], str] = Field(default_factory=dict)
    allow_hosts: tuple[str, ...] = ()
    local_only: bool = False
    remote_hosts: tuple[str, ...] = ()
    upstream_proxies: UpstreamProxies | None = None
    """The user's own proxies, with their credentials: these settings are written nowhere."""
    implicit: SessionSettings | None = None
    clients: ClientsSettings | None = None
    """How clients name sessions, where they may; the implicit one has the same user and token."""
    handed: int | None = None
    """A descriptor by which the engine is given its connections. It then listens at no address: `listen` is
    that of whoever accepts them."""
    replay: ReplaySettings | None = None
    namespace: NamespaceSettings | None = None
    packets: PacketSettings | None = None
    radius: RadiusSettings = RadiusSettings()
    """What runtime control may touch at most, whoever controls."""
    max_exchanges: int = Field(default=1024, ge=1)
    head_timeout_s: float = Field(default=10.0, gt=0)
    first_byte_s: float = _seconds("FAULTWIRE_FIRST_BYTE_S", RESPONSE_S)
    idle_body_s: float = _seconds("FAULTWIRE_IDLE_BODY_S", RESPONSE_S)
    idle_request_s: float = _seconds("FAULTWIRE_IDLE_REQUEST_S", REQUEST_S)
    handshake_s: float = _seconds("FAULTWIRE_HANDSHAKE_S", HANDSHAKE_S)
    per_source: int = Field(default_factory=_per_source, ge=1)
    native: bool = Field(default_factory=partial(_switched_on, NATIVE, "on"))
    """Are TLS and HTTP/1.1 of tunnels the core's, where it does all that a tunnel needs?"""
    http2: bool = Field(default_factory=partial(_switched_on, HTTP2, "on"))
    """Is HTTP/2 agreed on with every client that offers it, not only with those that offer nothing else?"""
    drain_s: float = Field(default=5.0, ge=0)

    @field_validator("routes")
    @classmethod
    def _routes(cls, routes: dict[str, str]) -> dict[str, str]:
        _check_urls(routes)
        return {host.lower(): target for host, target in routes.items()}

    @field_validator("reverse")
    @classmethod
    def _reverse(cls, routes: dict[str, str]) -> dict[str, str]:
        _check_urls(routes)
        return routes

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on. Raises UsageError where `listen` is not `HOST:PORT`."""
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise UsageError(
                f"found `{self.listen}`, expected `HOST:PORT`", code="engine.listen", hint="try `127.0.0.1:0`"
            )
        return host.strip("[]"), int(port)


def _check_urls(routes: dict[str, str]) -> None:
    for name, target in routes.items():
        parts = urlsplit(target)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"route of `{name}`: found `{target}`, expected a base URL with a host")


def engine_file(name: str, number: int) -> str:
    """What a file of engine `number`, from 1, is called: the first one's is `name` itself."""
    stem, dot, kind = name.rpartition(".")
    return name if number == 1 else f"{stem}{number}{dot}{kind}"
