"""Reading HTTP/1 bodies with their trailers (RFC 9112 §7.1.2), as much at a time as has come.

mitmproxy raises on trailers, and hands every chunk on by itself; here chunks that came together stay
together, which saves most of the work on streams of small events.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import h11
from h11._readers import ChunkedReader
from mitmproxy import http
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestTrailers, ResponseTrailers

from faultwire.mitm.compat.heads import HEAD_LIMIT, StrictChunkedReader, trailers_flaw

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

LAST_CHUNK = b"0\r\n"
_TOO_LARGE = h11.RemoteProtocolError("a chunk's line or the trailers are larger than 64 KiB")


class BodyReader(_http1.Http1Connection):
    """Reads bodies for either side of a connection."""

    def read_body(self, event: events.Event) -> Any:
        """Hand on what has come of a body, then its trailers and its end."""
        assert self.stream_id is not None
        if type(self.body_reader) is ChunkedReader:
            self.body_reader = StrictChunkedReader()  # nothing of the body has been read yet
        ended, parts, problem = self._read(event)
        rest: Iterable[commands.Command] = () if ended is None else self._over(ended)
        if problem is not None:
            rest = self._broken(problem)
        if not parts:
            return rest
        data = bytes(parts[0]) if len(parts) == 1 else b"".join(parts)
        received = ReceiveHttp(self.ReceiveData(self.stream_id, data))
        return chain((received,), rest) if rest else (received,)

    def _broken(self, problem: h11.ProtocolError) -> tuple[commands.Command, ...]:
        """What is wrong with a body ends its connection."""
        assert self.stream_id is not None
        message = f"HTTP/1 protocol error: {problem}"
        code: Any = self.ReceiveProtocolError.code
        error = ReceiveHttp(self.ReceiveProtocolError(self.stream_id, message, code))
        return (commands.CloseConnection(self.conn), error)

    def _over(self, ended: Any) -> Generator[commands.Command, Any, None]:
        """Hand on the trailers, say that a message is over, and be ready for the next one.

        A server's connection is ready first: where the client has sent its next request already, that comes
        while the end of this response is sent, and would be taken for a part of the request before it.
        """
        assert self.stream_id is not None
        assert self.request is not None
        is_request = isinstance(self, _http1.Http1Server)
        if ended.headers:
            trailers = http.Headers(list(ended.headers.raw_items()))
            made = RequestTrailers if is_request else ResponseTrailers
            yield ReceiveHttp(made(self.stream_id, trailers))
        end = ReceiveHttp(self.ReceiveEndOfMessage(self.stream_id))
        if is_request:
            if self.request.data.method.upper() != b"CONNECT":
                yield end
            yield from self.mark_done(request=True)
        elif self.response is not None and _http1.should_make_pipe(self.request, self.response):
            yield end
            yield from self.mark_done(response=True)
        else:
            yield from self.mark_done(response=True)
            yield end

    def _read(self, event: events.Event) -> tuple[Any, list[bytes], h11.ProtocolError | None]:
        """The end, where it has come; the data before it; and what is wrong with what follows."""
        parts: list[bytes] = []
        try:
            if isinstance(event, events.ConnectionClosed):
                return self.body_reader.read_eof(), parts, None
            if type(self.body_reader) is StrictChunkedReader:
                ended: Any = self.body_reader.read(self.buf, parts)
            else:
                while isinstance(ended := self.body_reader(self.buf), h11.Data):
                    if ended.data:
                        parts.append(ended.data)
            if ended is not None:
                return ended, parts, _flawed(ended) if ended.headers else None
        except h11.ProtocolError as error:
            return None, parts, error
        # What is left is the beginning of a line, or of trailers: data has been handed on.
        return None, parts, _TOO_LARGE if len(self.buf) > HEAD_LIMIT else None


def _flawed(ended: Any) -> h11.ProtocolError | None:
    """What is wrong with the trailers at a body's end."""
    fields = ended.headers.raw_items()
    if sum([len(name) + len(value) + 4 for name, value in fields]) > HEAD_LIMIT:
        return _TOO_LARGE
    flaw = trailers_flaw(fields, http2=False)
    return h11.RemoteProtocolError(f"the trailers are malformed: {flaw}") if flaw else None


def closing(
    sent: Iterable[commands.Command], trailers: http.Headers
) -> Generator[commands.Command, Any, None]:
    """The commands that end a message, with trailers behind its last chunk."""
    for command in sent:
        if isinstance(command, commands.SendData) and command.data == LAST_CHUNK + b"\r\n":
            command = commands.SendData(command.connection, LAST_CHUNK + bytes(trailers) + b"\r\n")
        yield command
