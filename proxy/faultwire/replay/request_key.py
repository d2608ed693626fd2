"""What a request asks, in the form in which tapes hold requests: its secrets replaced.

A recorded request and a live one are compared in this form only. Nothing of a live request that a
tape would not hold gets into a key, a difference or a report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.replay.mask import Masks, blind
from faultwire.tape.record.body import Body

if TYPE_CHECKING:
    from faultwire.events import Kind, Request
    from faultwire.tape.redact.redactor import Redactor
    from faultwire.wire.protocol import Protocol

Place = tuple[str, str, str]
"""Method, host with port, and path without its query."""

_ASKING = frozenset({"x-amz-target", "soapaction", "x-http-method-override"})
"""Header fields that say what is asked; all others count for nothing."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """One request as it is compared. `key` takes placeholders as they are, `blind` takes them for equal;
    `secrets` are the placeholders in order."""

    request: Request
    kind: Kind
    protocol: Protocol | None
    key: str
    blind: str
    secrets: tuple[str, ...]
    masked: tuple[str, ...] = ()
    """Places in the body that count for nothing, as masks name them."""
    sender: str | None = None
    """The agent that asks, empty where no mark tells; None where nobody looks."""

    @property
    def place(self) -> Place:
        """Where it goes."""
        return place_of(self.request)


def place_of(request: Request) -> Place:
    """Method, host with port, and bare path."""
    host = request.host.lower().rstrip(".")
    return request.method, f"{host}:{request.port}", request.path.partition("?")[0]


def clean(request: Request, redactor: Redactor) -> Request:
    """A live request as a tape would hold it."""
    counts: dict[str, int] = {}
    head = redactor.head(request.headers, counts)
    path = redactor.path(request.path, counts, request.host)
    event = redactor.checked({"path": path, "headers": head.headers}, counts)
    body = request.body
    if body:
        gathered = Body(redactor, head, counts)
        gathered.add(((0, body),))
        body = b"".join(data for data, _ in gathered.pieces(final=True))
    headers = tuple((name, value) for name, value in event["headers"])
    return replace(request, path=event["path"], headers=headers, body=body)


def asked(request: Request, masks: Masks) -> RequestKey:
    """What a request without secrets asks."""
    found = wire.classify(request)
    also = masks.paths(request)
    path, body = masks.path(request), request.body or b""
    same = replace(request, path=path, body=body)
    key = around(request) + wire.fingerprint(same, found.kind, found.protocol, also)
    open_path, of_path = blind(path)
    text, of_body = blind(body.decode("latin-1"))
    secrets = (*of_path, *of_body)
    other = key
    if secrets:
        same = replace(request, path=open_path, body=text.encode("latin-1"))
        other = around(request) + wire.fingerprint(same, found.kind, found.protocol, also)
    own = found.protocol.volatile if found.protocol is not None else ()
    masked = (*(wire.VOLATILE if found.kind == "llm" else own), *also)
    return RequestKey(request, found.kind, found.protocol, key, other, secrets, masked)


def around(request: Request) -> str:
    """What belongs to the question and is in no fingerprint, because no dice depend on it."""
    asking = "".join(
        f"{name.lower()}={value}\n" for name, value in request.headers if name.lower() in _ASKING
    )
    return f"{request.scheme}:{request.port}\n{asking}"
