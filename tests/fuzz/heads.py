"""Heads of HTTP/1, and fields of HTTP/2: what our validation takes, others read as the same single request.

The judges are h11 and mitmproxy's parser and writer, and for HTTP/2 the rules of RFC 9113 written once more.
"""

from __future__ import annotations

import json
import re

import h11
from hypothesis import strategies as st
from mitmproxy.net.http.http1 import assemble, read
from tests.attacks import payloads
from tests.fuzz.targets import Target, damaged, pieces

from faultwire.mitm.compat.heads import HeadBuffer, request_flaw, response_flaw, trailers_flaw

WORDS = (
    *(*payloads.BREAKS.values(), b" ", b"\t", b":", b": ", b"::", b",", b";", b'"', b"\r\n\r\n", b"\n\n"),
    *(b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2", b"http/1.1", b"Host: x\r\n", b"Content-Length: 1\r\n"),
    *(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n"),
    *(
        b"Expect: 100-continue\r\n",
        b"\xff",
        b"\xc3\xa9",
        b"%0d%0a",
        b"%00",
        b"..",
        b"@",
        b"#",
        b"*",
        b"[::1]",
    ),
    b"a" * 300,
)
METHODS = (b"GET", b"POST", b"HEAD", b"OPTIONS", b"CONNECT", b"PUT", b"PRI", b"get", b"M-SEARCH", b"")
PATHS = (
    *(b"/", b"/a?b=c", b"*", b"http://x/", b"https://x:1/a", b"x:443", b"//x", b"", b"/%0a", b"ftp://x/"),
    b"http://",
)
NAMES = (
    *(b"Host", b"X-A", b"Content-Length", b"Transfer-Encoding", b"Connection", b"Upgrade", b"Expect", b"TE"),
    *(b"Cookie", *payloads.NAMES),
)
VALUES = (
    *(b"x", b"x:443", b"0", b"1", b"chunked", b"close", b"keep-alive", b"h2c", b"websocket", b"100-continue"),
    *(b"", b"trailers", *payloads.CODINGS),
)

REQUEST_LINES = st.tuples(
    st.sampled_from(METHODS),
    st.just(b" "),
    st.sampled_from(PATHS),
    st.just(b" "),
    st.sampled_from((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0")),
).map(b"".join)
STATUS_LINES = st.tuples(
    st.sampled_from((b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/1.1  ", b"HTTP/9 ")),
    st.sampled_from((b"200", b"101", b"100", b"204", b"304", b"999", b"20", b"2000", b"-20", b"")),
    st.sampled_from((b" OK", b"", b" ", b" \xe9", b" a b")),
).map(b"".join)
LINES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from((b": ", b":", b" : ")), st.sampled_from(VALUES)).map(
        b"".join
    ),
    max_size=5,
)
HEADS_OF = st.tuples(REQUEST_LINES | STATUS_LINES, LINES).map(
    lambda made: b"\r\n".join([made[0], *made[1], b"", b""])
)


def _parts(head: bytes) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """Start line and fields, read with nothing but what RFC 9112 §2.1 and §5 state."""
    first, *lines = head[:-4].split(b"\r\n")
    fields = []
    for line in lines:
        name, colon, value = line.partition(b":")
        assert colon, "a line without a colon was taken"
        assert re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name), name
        assert not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value), value
        fields.append((name, value.strip(b" \t")))
    return first.split(b" ", 2), fields


def _same(found: object, fields: list[tuple[bytes, bytes]]) -> None:
    assert [(n.lower(), v) for n, v in found] == [(n.lower(), v) for n, v in fields]  # type: ignore[attr-defined]


def check_head(data: bytes) -> bool:
    """A head is found wherever it is divided; one that is taken is one, and the same, for everybody."""
    found = []
    for cuts in ([], list(range(0, len(data), 3)), [len(data) - 1, len(data) - 2]):
        buffer, head = HeadBuffer(), None
        for piece in pieces(data, cuts):
            buffer += piece
            head = buffer.head() if head is None else head
        found.append(head)
    head = found[0]
    assert found[1:] == [head, head], "where its bytes are divided makes a difference"
    if head is None:
        return False
    return _check_response(head) if head.startswith(b"HTTP/") else _check_request(head)


def _check_request(head: bytes) -> bool:
    flaw = request_flaw(head)
    if flaw is not None:
        assert flaw.isprintable()
        return False
    (method, target, version), fields = _parts(head)
    # Two things are taken on purpose that h11 refuses: letters beyond ASCII in a path, as agents send them,
    # and a CONNECT without a host field.
    plain = re.sub(rb"[\x80-\xff]", b"%", target)
    added = b"" if method != b"CONNECT" or b"\r\nhost:" in head.lower() else b"Host: x\r\n"
    judge = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    judge.receive_data(head.replace(target, plain, 1)[:-2] + added + b"\r\n")
    read_by_h11 = judge.next_event()
    assert isinstance(read_by_h11, h11.Request), read_by_h11
    assert (read_by_h11.method, read_by_h11.target) == (method, plain)
    _same(read_by_h11.headers, [*fields, (b"host", b"x")] if added else fields)
    try:
        request = read.read_request_head(head[:-4].split(b"\r\n"))
    except ValueError:
        return True  # mitmproxy takes less than we do: it answers 400 by itself
    written = assemble.assemble_request_head(request)
    assert written.count(b"\r\n\r\n") == 1
    assert written.endswith(b"\r\n\r\n")
    again = _parts(written)
    assert again[1] == fields
    assert (again[0][0], again[0][2]) == (method, version)
    return True


def _check_response(head: bytes) -> bool:
    flaw = response_flaw(head)
    if flaw is not None:
        assert flaw.isprintable()
        return False
    line, fields = _parts(head)
    response = read.read_response_head(head[:-4].split(b"\r\n"))
    assert response.status_code == int(line[1])
    written = assemble.assemble_response_head(response)
    assert written.count(b"\r\n\r\n") == 1
    assert written.endswith(b"\r\n\r\n")
    assert _parts(written)[1] == fields
    return True


# ---------------------------------------------------------------- HTTP/2

PSEUDO = (b":method", b":scheme", b":authority", b":path", b":status", b":protocol", b":", b":Path")
BASE = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"x"), (b":path", b"/")]
TOKENS = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
H2_NAMES = (
    *PSEUDO,
    b"x-a",
    b"host",
    b"content-length",
    b"transfer-encoding",
    b"te",
    b"connection",
    b"X-A",
    b"cookie",
)
TEXTS = (
    *VALUES,
    b"GET",
    b"CONNECT",
    b"/",
    b"https",
    b"/ HTTP/1.1\r\nx: y",
    b"x\r\n",
    b"\x00",
    b"trailers",
    b" x",
    b"x ",
)
FIELD_LISTS = st.tuples(
    st.permutations(BASE) | st.just(BASE) | st.just(BASE[:2]),
    st.lists(
        st.tuples(
            damaged(st.sampled_from(H2_NAMES), WORDS[:14]), damaged(st.sampled_from(TEXTS), WORDS[:14])
        ),
        max_size=4,
    ),
    st.integers(0, 8),
).map(lambda made: [*made[0][: made[2]], *made[1], *made[0][made[2] :]])


def check_fields(found: list[tuple[bytes, bytes]] | bytes) -> bool:
    """What is taken for a request holds the rules of RFC 9113 §8.2 and §8.3, and is one request in HTTP/1."""
    if isinstance(found, bytes):  # of the corpus
        found = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in json.loads(found)]
    for flaw in (response_flaw(found), trailers_flaw(found, http2=True), trailers_flaw(found, http2=False)):
        assert flaw is None or flaw.isprintable()
    flaw = request_flaw(found)
    if flaw is not None:
        assert flaw.isprintable()
        return False
    pseudo = [name for name, _ in found if name.startswith(b":")]
    assert pseudo == [name for name, _ in found[: len(pseudo)]], "a pseudo-header field after others"
    assert len(pseudo) == len(set(pseudo))
    known = dict(found[: len(pseudo)])
    assert known.keys() <= {b":method", b":scheme", b":authority", b":path", b":protocol"}
    assert known[b":method"] == b"CONNECT" or {b":scheme", b":path"} <= known.keys()
    for name, _ in found[len(pseudo) :]:
        assert TOKENS.fullmatch(name), name
        assert name not in (
            b"connection",
            b"transfer-encoding",
            b"upgrade",
            b"keep-alive",
            b"proxy-connection",
        )
    for _, value in found:
        assert not re.search(rb"[\x00\r\n]", value), value
        assert value == value.strip(b" \t"), value
    assert not re.search(rb"[\x00-\x20\x7f]", b"".join(known.values())), known
    return True


HEADS = Target("heads", damaged(HEADS_OF, WORDS), check_head)
FIELDS = Target("fields", FIELD_LISTS, check_fields)
