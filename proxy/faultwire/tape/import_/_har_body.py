"""Bodies as HAR writes them: text, Base64 or form fields, without the codings that the header names."""

from __future__ import annotations

import codecs
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from faultwire.errors import WireError
from faultwire.tape.import_._api import Found
from faultwire.wire.framing.content_coding import decoded, is_encoded

if TYPE_CHECKING:
    from faultwire.events import Headers

_CHARSET = re.compile(r"charset=\"?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_BOUNDARY = re.compile(r"boundary=\"?([^\";,\s]{1,70})", re.IGNORECASE)
_AS_TEXT = frozenset(("ascii", "cp1252", "iso8859-1", "iso8859-15", "shift_jis", "gbk", "big5", "euc_jp"))


class Malformed(ValueError):
    """A body that is not what it says."""


def content(entry: dict[str, Any], headers: Headers, found: list[Found]) -> tuple[bytes, bool]:
    """The body of a response, and whether it still has its content codings. Raises Malformed."""
    text, size = entry.get("text"), entry.get("size")
    if not isinstance(text, str):
        if isinstance(size, (int, float)) and size > 0:
            found.append(
                Found("har_content_missing", f"a body of {size} bytes is not in the file", note=True)
            )
        return b"", False
    if entry.get("encoding") == "base64":
        body = unbase64(text)
        packed = _is_packed(body, headers)
    else:
        body, packed = _bytes(text, str(entry.get("mimeType") or "")), False
    # mitmproxy counts the packed bytes, browsers those that are left: either may differ for a good reason.
    if isinstance(size, int) and size >= 0 and size != len(body) and not is_encoded(headers):
        problem = f"the file says that a body has {str(size)[:30]} bytes, and holds {len(body)}"
        found.append(Found("har_size_differs", problem, note=True))
    return body, packed


def posted(entry: dict[str, Any], found: list[Found]) -> tuple[bytes, bool]:
    """The body of a request, and whether it still has its content codings. Raises Malformed."""
    text, kind = entry.get("text"), str(entry.get("mimeType") or "")
    # `postData` has no member for an encoding: ours has it in its comment, Chromium in one of its own.
    if isinstance(text, str) and "base64" in (
        entry.get("comment"),
        entry.get("_encoding"),
        entry.get("encoding"),
    ):
        return unbase64(text), True
    if isinstance(text, str) and text:
        return _bytes(text, kind), False
    params = entry.get("params")
    if not isinstance(params, list) or not params:
        return b"", False
    found.append(Found("har_body_rebuilt", "the request's body was put together from its fields", note=True))
    fields = [one for one in params if isinstance(one, dict)]
    boundary = _BOUNDARY.search(kind)
    if boundary:
        return _multipart(fields, boundary[1]), False
    pairs = [(str(one.get("name", "")), str(one.get("value") or "")) for one in fields]
    return urlencode(pairs, errors="replace").encode(), False


def unwrapped(headers: Headers, body: bytes, *, packed: bool) -> Headers:
    """Header fields that fit a body: without the codings that it no longer has, and with its length."""
    if packed or not is_encoded(headers):
        return headers
    gone = ("content-encoding", "content-length")
    kept = tuple(pair for pair in headers if pair[0].lower() not in gone)
    if len(headers) - len(kept) > 1:
        kept = (*kept, ("content-length", str(len(body))))
    return kept


def _is_packed(body: bytes, headers: Headers) -> bool:
    """Does a body that was not written as text still have the codings that its header names?"""
    if not is_encoded(headers):
        return False
    try:
        _, partial = decoded(body, headers)
    except WireError:
        return False
    return not partial


def _multipart(fields: list[dict[str, Any]], boundary: str) -> bytes:
    """multipart/form-data (RFC 7578) of form fields."""
    parts: list[str] = []
    for one in fields:
        name, file = _quoted(one.get("name")), one.get("fileName")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'
        head += f'; filename="{_quoted(file)}"' if file else ""
        head += f"\r\nContent-Type: {_quoted(one['contentType'])}" if one.get("contentType") else ""
        parts.append(f"{head}\r\n\r\n{one.get('value') or ''}\r\n")
    return f"{''.join(parts)}--{boundary}--\r\n".encode("utf-8", "replace")


def _quoted(value: Any) -> str:
    return str(value or "").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _bytes(text: str, kind: str) -> bytes:
    """Text in the charset that its media type names, where that is one that it fits; else in UTF-8."""
    named = _CHARSET.search(kind)
    if named and not text.isascii():
        try:
            known = codecs.lookup(named[1]).name
            if known in _AS_TEXT:
                return text.encode(known)
        except (LookupError, UnicodeEncodeError):
            pass
    return text.encode("utf-8", "replace")


def unbase64(text: str) -> bytes:
    """The bytes of Base64 text, blanks in it left out. Raises Malformed."""
    try:
        return b64decode("".join(text.split()), validate=True)
    except ValueError as error:
        raise Malformed("Base64") from error
