"""HTTP/2 by hand: hyperframe and hpack alone, so that nothing between a test and the wire mends a head."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from hpack import Decoder, Encoder
from hyperframe.frame import DataFrame, Frame, HeadersFrame, RstStreamFrame, SettingsFrame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
Fields = Iterable[tuple[bytes, bytes]]


def head_frame(stream: int, fields: Fields, *, end: bool) -> bytes:
    frame = HeadersFrame(stream, data=Encoder().encode(list(fields), huffman=False), flags=["END_HEADERS"])
    if end:
        frame.flags.add("END_STREAM")
    return bytes(frame.serialize())


def request(fields: Fields, body: bytes = b"", trailers: Fields = ()) -> bytes:
    """A connection's bytes that ask once."""
    out = PREFACE + SettingsFrame(0).serialize()
    trailers = list(trailers)
    out += head_frame(1, fields, end=not body and not trailers)
    if body:
        out += DataFrame(1, data=body, flags=[] if trailers else ["END_STREAM"]).serialize()
    return out + (head_frame(1, trailers, end=True) if trailers else b"")


def answer(sock: socket.socket) -> tuple[int | None, bytes, bool]:
    """Status and body of stream 1, and whether the stream or the connection was broken off."""
    decoder, data, status, body = Decoder(), b"", None, b""
    while True:
        while len(data) >= 9:
            frame, size = Frame.parse_frame_header(memoryview(data[:9]))
            if len(data) < 9 + size:
                break
            frame.parse_body(memoryview(data[9 : 9 + size]))
            data = data[9 + size :]
            if isinstance(frame, HeadersFrame):
                found = dict(decoder.decode(frame.data, raw=True))
                status = int(found[b":status"]) if b":status" in found else status
            elif isinstance(frame, DataFrame):
                body += frame.data
            elif isinstance(frame, RstStreamFrame):
                return status, body, True
            if frame.stream_id == 1 and "END_STREAM" in frame.flags:
                return status, body, False
        try:
            piece = sock.recv(65536)
        except OSError:
            return status, body, True
        if not piece:
            return status, body, True
        data += piece
