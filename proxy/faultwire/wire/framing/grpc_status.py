"""How gRPC tells an error: HTTP 200, and a status in the trailers, or in the head where nothing else comes.

Source: gRPC over HTTP/2 ("Responses", "Trailers-Only"), google.rpc.Code for the mapping to HTTP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Headers, Response

CONTENT_TYPE = "application/grpc"
WORDS = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""The codes, by number."""

_HTTP = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 12: 501, 14: 503, 16: 401}


def http_of(code: int) -> int:
    """The HTTP status that stands for a gRPC code."""
    return 200 if code == 0 else _HTTP.get(code, 500)


def is_grpc(headers: Headers) -> bool:
    """Is this gRPC, in any encoding of its messages? (gRPC-Web is another protocol.)"""
    kind = (header(headers, "content-type") or "").split(";", 1)[0].strip().lower()
    return kind == CONTENT_TYPE or kind.startswith(CONTENT_TYPE + "+")


def parted(response: Response) -> tuple[Response, Headers]:
    """An answer of nothing but trailers as a head and trailers, where the head goes out before the end."""
    if status_of(response.headers) is None:
        return response, ()
    fields = tuple(pair for pair in response.headers if pair[0].lower().startswith("grpc-"))
    return replace(response, headers=tuple(p for p in response.headers if p not in fields)), fields


def shown(response: Response) -> str:
    """The status of an answer, for people."""
    code = status_of(response.headers)
    return str(response.status) if code is None else f"gRPC status {code[0]} ({word_of(code[0])})"


def word_of(code: int) -> str:
    """The name of a code."""
    return WORDS[code] if code < len(WORDS) else "UNKNOWN"


def status_of(headers: Headers) -> tuple[int, str] | None:
    """Code and message in a head or in trailers, None where there are none."""
    value = (header(headers, "grpc-status") or "").strip()
    if not (value.isascii() and value.isdigit() and len(value) <= 3):
        return None
    return int(value), unquoted(header(headers, "grpc-message") or "")


def unquoted(text: str) -> str:
    """The way back; what is badly encoded is kept as it stands."""
    from urllib.parse import unquote

    return unquote(text, "utf-8", "replace")
