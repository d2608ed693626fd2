"""gRPC: its frames, and services whose messages are not known here.

Of those only what gRPC itself says is read: the method, and how a call ended. Source: gRPC over HTTP/2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import ResponseView, header
from faultwire.wire.framing import content_coding, grpc_status
from faultwire.wire.grpc import errors as grpc_errors
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page, StreamEditor, StreamReader

if TYPE_CHECKING:
    from faultwire.events import Request, RequestView, Response, ToolResult
    from faultwire.wire.framing.split import Splitter
    from faultwire.wire.types import Rewrite

_OPAQUE = "found a gRPC service whose messages are not known here, expected one of a model"


def method_of(request: Request) -> tuple[str, str]:
    """Service and method, which are the path: `/package.Service/Method`."""
    service, _, method = recognition.bare_path(request).lstrip("/").partition("/")
    return service, method


def message(frame: bytes) -> bytes:
    """The message of one whole frame, unpacked. Raises WireError.

    Only gzip is undone, which is what libraries use; a change is always written unpacked, as every
    receiver must take it.
    """
    try:
        packed, data = _core.grpc_parse(frame)
    except ValueError as error:
        raise WireError(str(error)) from None
    if not packed:
        return data
    whole, partial = content_coding.at_once(data, (("content-encoding", "gzip"),))
    if partial:
        raise WireError("found a packed message that is too long or cut short, expected a whole one")
    return whole


def frame(data: bytes) -> bytes:
    """A message as a frame. Raises WireError where it is too long for one."""
    try:
        return _core.grpc_write(data)
    except ValueError as error:
        raise WireError(str(error)) from None


def attempts(request: Request) -> int | None:
    """The retries that came before, as the library's own retries tell them (gRFC A6); None without."""
    value = (header(request.headers, "grpc-previous-rpc-attempts") or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 3 else None


class Grpc(Protocol):
    """`POST /package.Service/Method` with `application/grpc`, of any service."""

    name = "grpc"
    signs = Signs(media=("application/grpc", "application/grpc+proto"))
    kind = "other"
    views = False
    errors = staticmethod(grpc_errors.error)
    request_ids = ()
    page = Page(
        "`POST /package.Service/Method` with `application/grpc`, of any other service",
        "the service's name",
        "service, method, and how the call ended",
        "nothing",
        "a status in the trailers",
        "no",
    )

    def recognise(self, request: Request) -> bool:
        """By content type and the form of the path."""
        if request.method != "POST" or not grpc_status.is_grpc(request.headers):
            return False
        service, method = method_of(request)
        return bool(service and method) and "/" not in method

    def provider(self, request: Request) -> str:
        """By host; else the service says it best."""
        return recognition.provider_of(request.host) or method_of(request)[0]

    def splitter(self, request: Request, response: Response) -> Splitter | None:
        """Every answer is frames; nobody can tell a single one from a stream beforehand."""
        return _core.GrpcSplitter() if grpc_status.is_grpc(response.headers) else None

    def attempt(self, request: Request) -> int | None:
        """By gRPC's own field."""
        return attempts(request)

    def request_view(self, body: bytes) -> RequestView:
        """Not known. Raises WireError."""
        raise WireError(_OPAQUE)

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """Whether there was a message; its words are not known."""
        return ResponseView(complete=bool(body), error=None if body else "the call ended without a message")

    def reader(self) -> StreamReader:
        """Counts nothing but that something came."""
        return _Counter()

    def is_terminal(self, event: bytes) -> bool:
        """No message closes a stream, the trailers do."""
        return False

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """Not known. Raises WireError."""
        raise WireError(_OPAQUE)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """Unchanged."""
        return body

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Unchanged."""
        return _Unchanged()


class _Counter(StreamReader):
    def __init__(self) -> None:
        self._started = False

    def feed(self, event: bytes) -> None:
        self._started = True

    def view(self) -> ResponseView:
        return ResponseView(complete=self._started)


class _Unchanged(StreamEditor):
    def feed(self, event: bytes) -> tuple[bytes, ...]:
        return (event,)
