"""Makes the errors of gRPC: a status with its details in the trailers, or in an answer of nothing else.

Source: gRPC over HTTP/2 ("Trailers-Only"), google.rpc.Code for the mapping from HTTP, and
google.rpc.{Status, RetryInfo, QuotaFailure} for the details.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from faultwire.events import Response, header
from faultwire.wire.editing import answers as http_answers
from faultwire.wire.framing import grpc_status
from faultwire.wire.grpc.protobuf import Field, Message, read, write

if TYPE_CHECKING:
    from faultwire.events import Headers

EDGE = frozenset({413, 502, *range(520, 528)})
"""What the load balancer answers by itself: a page, and no gRPC."""


_CODES = {
    400: 3, 401: 16, 403: 7, 404: 5, 408: 4, 409: 10, 412: 9, 416: 11, 429: 8, 499: 1, 500: 13, 501: 12,
    503: 14, 504: 4, 529: 14,
}  # fmt: skip
_TYPE = "type.googleapis.com/google.rpc."

_DURATION = Message(seconds=Field(1, "int"), nanos=Field(2, "int"))
_RETRY = Message(retryDelay=Field(1, "message", of=_DURATION))
_VIOLATION = Message(subject=Field(1, "string"), description=Field(2, "string"))
_QUOTA = Message(violations=Field(1, "message", repeated=True, of=_VIOLATION))
_ANY = Message(type_url=Field(1, "string"), value=Field(2, "bytes"))
_STATUS = Message(
    code=Field(1, "int"), message=Field(2, "string"), details=Field(3, "message", repeated=True, of=_ANY)
)


def code_of(status: int) -> int:
    """The gRPC code that stands for an HTTP status."""
    return _CODES.get(status) or (13 if status >= 500 else 9)


def trailers(code: int, message: str, retry_after_s: float | None = None) -> Headers:
    """The fields that end a call. Details are added where a client could act on them."""
    fields: tuple[tuple[str, str], ...] = (("grpc-status", str(code)), ("grpc-message", quoted(message)))
    details = _details(code, retry_after_s)
    if details:
        status = write({"code": code, "message": message, "details": details}, _STATUS)
        fields += (("grpc-status-details-bin", base64.b64encode(status).decode().rstrip("=")),)
    return fields


def answer(code: int, message: str, retry_after_s: float | None = None) -> Response:
    """A whole answer of nothing but trailers (`Trailers-Only`)."""
    headers = (("content-type", grpc_status.CONTENT_TYPE), *trailers(code, message, retry_after_s))
    return Response(200, "OK", headers, b"")


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for an HTTP status, as a gRPC server without words of its own would give it."""
    if status in EDGE:
        return http_answers.edge_page(status, message)
    code = code_of(status)
    return answer(code, message or grpc_status.WORDS[code].replace("_", " ").lower(), retry_after_s)


def retry_delay_s(headers: Headers) -> float | None:
    """How long the details ask to wait, None where they say nothing."""
    packed = header(headers, "grpc-status-details-bin")
    if packed is None:
        return None
    status = read(base64.b64decode(packed + "=" * (-len(packed) % 4)), _STATUS)
    for detail in status.get("details", []):
        if detail.get("type_url") == _TYPE + "RetryInfo":
            delay = read(base64.b64decode(detail.get("value", "")), _RETRY).get("retryDelay", {})
            return float(delay.get("seconds", 0)) + float(delay.get("nanos", 0)) / 1e9
    return None


def _details(code: int, retry_after_s: float | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if code == 8:
        violation = {"description": "generativelanguage.googleapis.com/generate_content_requests"}
        found.append(_packed("QuotaFailure", write({"violations": [violation]}, _QUOTA)))
    if retry_after_s is not None:
        seconds, rest = divmod(max(0.0, retry_after_s), 1)
        delay = {"seconds": int(seconds), "nanos": round(rest * 1e9)}
        found.append(_packed("RetryInfo", write({"retryDelay": delay}, _RETRY)))
    return found


def _packed(name: str, value: bytes) -> dict[str, Any]:
    return {"type_url": _TYPE + name, "value": base64.b64encode(value).decode()}


def quoted(message: str) -> str:
    """Percent-encoded as `grpc-message` is: everything but printable ASCII, and `%` itself."""
    encoded = message.encode("utf-8", "replace")
    return "".join(chr(b) if 0x20 <= b <= 0x7E and b != 0x25 else f"%{b:02X}" for b in encoded)
