"""Scripts of a connection: what a client and a server say, in which order and pieces, and how it ends.

A case is made of a seed and a number alone. Most of them are what programs send; in some of them bytes are
damaged, messages end too early, or come when nobody asked.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from itertools import pairwise

HOST = b"api.example.com"

Step = tuple[str, bytes]
"""Who acts, and what is said: `client` and `server` say bytes, `client_end` and `server_end` end their side,
`reset` is the end of a server without a word, `time` lets the oldest wait of a fault end, `open` opens what
was asked for and `refuse` does not."""


@dataclass(frozen=True)
class Case:
    """One connection. `profile` is an index into `faults.profiles()`; `plain`: it is no tunnel, and what is
    asked for are `http` URLs."""

    name: str
    profile: int
    steps: tuple[Step, ...]
    plain: bool = False

    @property
    def orderly(self) -> bool:
        """Does nobody speak out of turn? Else what is said to whom depends on when bytes arrive."""
        return not {"damaged", "pipelined", "early", "switch"} & set(self.name.split())

    def divided(self, rng: random.Random) -> Case:
        """The same bytes in other pieces."""
        joined: list[Step] = []
        for who, data in self.steps:
            if joined and who in ("client", "server") and joined[-1][0] == who:
                joined[-1] = (who, joined[-1][1] + data)
            else:
                joined.append((who, data))
        return replace(self, steps=tuple(piece for step in joined for piece in cut(step, rng)))


def cut(step: Step, rng: random.Random) -> list[Step]:
    """One step, perhaps in several pieces."""
    who, data = step
    if who not in ("client", "server") or len(data) < 2:
        return [step]
    places = sorted({rng.randrange(1, len(data)) for _ in range(rng.choice((0, 0, 1, 2, 5, 9)))})
    ends = [0, *places, len(data)]
    return [(who, data[begin:end]) for begin, end in pairwise(ends)]


class Maker:
    """Makes the messages of one case."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: list[str] = []
        self.plain = self.rare(0.2)

    def one(self, *choices: bytes) -> bytes:
        """Any of these."""
        return self.rng.choice(choices)

    def rare(self, share: float = 0.1) -> bool:
        """Now and then."""
        return self.rng.random() < share

    # ------------------------------------------------------------ requests

    def request(self) -> tuple[bytes, bytes]:
        """A head and what follows it."""
        kind = self.rng.choice(
            ("get", "chat", "chat", "stream", "chunked", "put", "form", "websocket", "odd")
        )
        self.names.append(kind)
        made: tuple[bytes, bytes] = getattr(self, f"_{kind}")()
        return made

    def _head(self, method: bytes, path: bytes, *lines: bytes) -> bytes:
        version = self.one(*[b"HTTP/1.1"] * 9, b"HTTP/1.0")
        if self.plain and path.startswith(b"/"):
            path = b"http://" + self.one(HOST, HOST, HOST, HOST + b":81") + path
        host = self.one(b"host: ", b"Host: ", b"Host:", b"HOST:  ") + HOST
        fields = [host, *lines]
        if self.rare(0.3):
            fields.append(
                self.one(b"User-Agent: a/1", b"x-odd: \xe9 ", b"x-empty:", b"accept: */*", b"X-A: 1")
            )
        if self.rare(0.1):
            fields.append(self.one(b"Connection: close", b"connection: keep-alive", b"Connection: TE, close"))
        if self.rare(0.05):
            fields.append(self.one(b"Expect: 100-continue", b"expect: 100-Continue", b"Proxy-Connection: x"))
        return b"%s %s %s\r\n%s\r\n\r\n" % (method, path, version, b"\r\n".join(fields))

    def _get(self) -> tuple[bytes, bytes]:
        path = self.one(
            b"/", b"/v1/models", b"/a?b=c%20d", b"//x", b"/\xc3\xa9", b"*", b"http://api.example.com/u"
        )
        return self._head(self.one(b"GET", b"GET", b"HEAD", b"DELETE", b"OPTIONS"), path), b""

    def _chat(self, **more: object) -> tuple[bytes, bytes]:
        text = "x" * self.rng.choice((1, 3, 40, 3000))
        body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
        data = json.dumps(body).encode()
        path = self.one(b"/v1/chat/completions", b"/v1/messages", b"/v1/responses")
        lines = [b"content-type: application/json", b"content-length: %d" % len(data)]
        return self._head(b"POST", path, *lines), data

    def _stream(self) -> tuple[bytes, bytes]:
        return self._chat(stream=True)

    def _chunked(self) -> tuple[bytes, bytes]:
        coding = self.one(
            b"Transfer-Encoding: chunked", b"transfer-encoding:chunked", b"Transfer-Encoding: Chunked"
        )
        return self._head(b"POST", b"/v1/upload", coding), self.chunks()

    def _put(self) -> tuple[bytes, bytes]:
        data = self.rng.randbytes(self.rng.choice((0, 1, 9, 700, 70_000)))
        return self._head(b"PUT", b"/v1/files", b"Content-Length: %d" % len(data)), data

    def _form(self) -> tuple[bytes, bytes]:
        data = b"a=b&c=" + b"d" * self.rng.randrange(40)
        lines = (b"content-type: application/x-www-form-urlencoded", b"content-length: %d" % len(data))
        return self._head(b"POST", b"/form", *lines), data

    def _websocket(self) -> tuple[bytes, bytes]:
        lines = [b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13"]
        lines.append(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        return self._head(b"GET", b"/v1/realtime", *lines), b""

    def _odd(self) -> tuple[bytes, bytes]:
        lines = (
            *(b"Content-Length: 3\r\nContent-Length: 3", b"Content-Length: 3\r\nTransfer-Encoding: chunked"),
            *(b"Content-Length: +3", b"Transfer-Encoding: gzip", b"x: a\r\n b", b"x : y", b"x", b"x: \x00"),
            *(b"Transfer_Encoding: chunked", b"Host: other", b"Content-Length: 99999999999999999999"),
            *(
                b"Upgrade: h2c\r\nHTTP2-Settings: x",
                b"TE: trailers",
                b"x: " + b"y" * 66_000,
                b"Content-Length:",
            ),
        )
        method = self.one(b"POST", b"GET", b"CONNECT", b"get", b"P OST", b"")
        return self._head(method, self.one(b"/", b"x:443", b"", b"ftp://x/"), self.one(*lines)), b"abc"

    # ------------------------------------------------------------ bodies

    def chunks(self) -> bytes:
        """A chunked body with its end, perhaps with trailers."""
        made = []
        for _ in range(self.rng.randrange(5)):
            data = self.rng.randbytes(self.rng.choice((1, 5, 16, 300, 9000)))
            size = self.one(b"%x", b"%X", b"0%x") % len(data)
            made.append(size + self.one(b"", b"", b"", b";a=b", b" ", b";a") + b"\r\n" + data + b"\r\n")
        end = self.one(
            *[b"0\r\n\r\n"] * 5, b"000\r\n\r\n", b"0\r\nx-sum: 1\r\n\r\n", b"0\r\nA: b\r\nc:d\r\n\r\n"
        )
        return b"".join(made) + end

    def events(self) -> bytes:
        """The body of a stream of a chat model, not framed."""
        lines = []
        for number in range(self.rng.randrange(1, 7)):
            delta = {"id": "c", "choices": [{"index": 0, "delta": {"content": f"w{number} "}}]}
            lines.append(b"data: " + json.dumps(delta).encode() + self.one(b"\n\n", b"\n\n", b"\r\n\r\n"))
        if not self.rare():
            lines.append(b"data: [DONE]\n\n")
        return b"".join(lines)

    # ------------------------------------------------------------ responses

    def response(self) -> bytes:
        """A whole response, perhaps with others before it."""
        kind = self.rng.choice(("json", "json", "sse", "sse", "chunked", "none", "close", "switch", "bad"))
        self.names.append(kind)
        before = b""
        if self.rare():
            before = self.one(
                b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n"
            )
        made: bytes = getattr(self, f"_answer_{kind}")()
        return before + made

    def _status(self, code: bytes, *lines: bytes) -> bytes:
        fields = list(lines)
        if self.rare():
            fields.append(self.one(b"Connection: close", b"X-Odd:  a ", b"set-cookie: a\r\nset-cookie: b"))
        version = self.one(*[b"HTTP/1.1 "] * 9, b"HTTP/1.0 ")
        return b"\r\n".join([version + code, *fields, b"", b""])

    def _answer_json(self) -> bytes:
        body = json.dumps(
            {"id": "c", "choices": [{"message": {"role": "assistant", "content": "hello"}}]}
        ).encode()
        code = self.one(*[b"200 OK"] * 6, b"404 Not Found", b"500 ", b"429 Too Many\xe9", b"307 Moved")
        return self._status(code, b"content-type: application/json", b"Content-Length: %d" % len(body)) + body

    def _answer_sse(self) -> bytes:
        body, framed = self.events(), b""
        while body:
            size = self.rng.randrange(1, len(body) + 1)
            framed += b"%x\r\n%s\r\n" % (size, body[:size])
            body = body[size:]
        end = self.one(b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\ngrpc-status: 0\r\n\r\n")
        lines = (b"content-type: text/event-stream", b"transfer-encoding: chunked")
        return self._status(b"200 OK", *lines) + framed + end

    def _answer_chunked(self) -> bytes:
        return self._status(b"200 OK", b"Transfer-Encoding: chunked") + self.chunks()

    def _answer_none(self) -> bytes:
        return self._status(self.one(b"204 No Content", b"304 Not Modified", b"200 OK\r\nContent-Length: 0"))

    def _answer_close(self) -> bytes:
        return self._status(b"200 OK", b"content-type: text/plain") + b"until the end"

    def _answer_switch(self) -> bytes:
        accept = b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        head = self._status(b"101 Switching Protocols", b"upgrade: websocket", b"connection: upgrade", accept)
        return head + self.one(b"\x81\x02hi", b"\x81\x02hi\x88\x00", b"", b"\x89\x00", b"\xff\xff")

    def _answer_bad(self) -> bytes:
        return self.one(
            *(b"HTTP/1.1 200 OK\r\nx: \0\r\n\r\n", b"HTTP/1.1 20 OK\r\n\r\n", b"nothing of HTTP\r\n\r\n"),
            *(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}",),
            *(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",),
            *(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", b"HTTP/2 200\r\n\r\n"),
            *(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",),
            *(
                b"HTTP/1.1 200 OK\r\nx: " + b"y" * 66_000 + b"\r\n\r\n",
                b"HTTP/1.1 101 S\r\nupgrade: x\r\n\r\n",
            ),
        )

    # ------------------------------------------------------------ damage

    def damaged(self, data: bytes) -> bytes:
        """Bytes with some put in, taken out, doubled or flipped."""
        self.names.append("damaged")
        made = bytearray(data)
        for _ in range(self.rng.randrange(1, 4)):
            at = self.rng.randrange(len(made) + 1)
            end = min(len(made), at + self.rng.choice((1, 2, 9, 40)))
            how = self.rng.choice(("put", "put", "drop", "double", "flip"))
            if how == "put":
                made[at:at] = self.one(
                    b"\r\n", b"\n", b"\r", b" ", b":", b"\0", b"\t", b",", b"0", b"\r\n\r\n", b"\xff"
                )
            elif how == "drop":
                del made[at:end]
            elif how == "double":
                made[at:at] = made[at:end]
            elif at < len(made):
                made[at] ^= 1 << self.rng.randrange(8)
        return bytes(made)


def make(seed: int, number: int, profiles: int) -> Case:
    """The case of this number."""
    rng = random.Random(f"{seed}:{number}")
    maker = Maker(rng)
    steps: list[Step] = []
    pipelined = maker.rare()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        head, body = maker.request()
        asked, answer = head + body, maker.response()
        if maker.rare(0.06):
            asked = maker.damaged(asked)
        if maker.rare(0.06):
            answer = maker.damaged(answer)
        steps += _ordered(maker, [("client", asked)], [("server", answer)])
    if pipelined:
        maker.names.append("pipelined")
        steps.sort(key=lambda step: step[0] == "server")
    for _ in range(rng.choice((0, 1, 1, 2))):
        steps.insert(rng.randrange(len(steps) + 1), ("time", b""))
    if maker.rare(0.05):
        maker.names.append("refused")
        steps.insert(rng.randrange(len(steps) + 1), ("refuse", b""))
    if maker.plain:
        maker.names.append("plain")
    case = Case("", rng.randrange(profiles), tuple(_ended(maker, steps)), maker.plain)
    case = replace(case, name=" ".join(maker.names))
    return case.divided(rng)


def _ordered(maker: Maker, asked: list[Step], answer: list[Step]) -> list[Step]:
    """Both messages; at times the answer begins before the request has ended, or a connection opens late."""
    rng = maker.rng
    (_, one), (_, other) = asked[0], answer[0]
    if maker.rare(0.1) and len(one) > 2:
        at, to = rng.randrange(1, len(one)), rng.randrange(len(other) + 1)
        maker.names.append("early")
        first: list[Step] = [("client", one[:at]), ("open", b""), ("server", other[:to])]
        return [*first, ("client", one[at:]), ("server", other[to:])]
    late = [] if maker.rare(0.7) else [("open", b"")]
    return [*asked, *late, *answer]


def _ended(maker: Maker, steps: list[Step]) -> list[Step]:
    """The same, at times cut off in the middle of something."""
    if not maker.rare(0.25):
        return steps
    rng = maker.rng
    at = rng.randrange(len(steps))
    who, data = steps[at]
    kept = [*steps[:at], (who, data[: rng.randrange(len(data) + 1)])]
    end = rng.choice(("client_end", "server_end", "server_end", "reset"))
    maker.names.append(end)
    rest = steps[at + 1 :] if maker.rare(0.3) else []
    return [*kept, (end, b""), *rest]
