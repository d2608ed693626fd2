"""Gemini over gRPC, answered: what its JSON dialect says, as protobuf in frames, with trailers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import with_header
from faultwire.mock import _shared
from faultwire.mock._api import Dialect, Refused
from faultwire.mock.gemini import GeminiDialect
from faultwire.wire import json_bytes
from faultwire.wire.google import gemini_proto
from faultwire.wire.grpc import protobuf, unknown_service as grpc

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Conversation, Reply
    from faultwire.wire.protocol import Protocol

_NAMES = {
    "GenerateContent": "generateContent",
    "StreamGenerateContent": "streamGenerateContent",
    "EmbedContent": "embedContent",
    "BatchEmbedContents": "batchEmbedContents",
}
"""Methods, and what they are called in paths."""


class GeminiGrpcDialect(Dialect):
    """`GenerativeService/{Stream}GenerateContent`, and the methods that embed; over HTTP/2 alone."""

    protocol = "gemini_grpc"
    path = "/google.ai.generativelanguage.v1beta.GenerativeService/GenerateContent"
    base = ""
    provider = "Google Gemini over gRPC"
    whole_type = "application/grpc"
    stream_type = "application/grpc"

    def __init__(self) -> None:
        self._json = GeminiDialect()

    def answers(self, request: Request) -> bool:
        """By the protocol's own paths."""
        return self._wire.recognise(request)

    def check_key(self, request: Request) -> None:
        """As over HTTP: the metadata are header fields."""
        try:
            self._json.check_key(request)
        except Refused:
            text = "Method doesn't allow unregistered callers (callers without established identity)."
            raise _shared.refuse(self._wire, text, 403) from None

    def receive(self, request: Request) -> Conversation:
        """By way of the JSON form."""
        method = grpc.method_of(request)[1]
        table = gemini_proto.EMBED.get(method, (gemini_proto.REQUEST,))[0]
        try:
            document = protobuf.read(grpc.message(request.body or b""), table)
        except WireError as error:
            raise _shared.refuse(self._wire, error.message) from None
        if method not in gemini_proto.EMBED and not document.get("contents"):
            raise _shared.refuse(self._wire, "* GenerateContentRequest.contents: contents is not specified")
        model = json_bytes.string(document.get("model")).removeprefix("models/")
        path = f"/v1beta/models/{model}:{_NAMES[method]}"
        if method == "StreamGenerateContent":
            path += "?alt=sse"
        headers = with_header(request.headers, "content-type", "application/json")
        as_json = type(request)(
            request.method, request.scheme, request.host, request.port, path, headers, orjson.dumps(document)
        )
        return self._json.receive(as_json)

    def read(self, body: bytes) -> Conversation:
        """The conversation alone."""
        try:
            document = protobuf.read(grpc.message(body), gemini_proto.REQUEST)
        except WireError as error:
            raise _shared.refuse(self._wire, error.message) from None
        return self._json.read(orjson.dumps(document))

    def headers(self, conversation: Conversation) -> Headers:
        """What Google's front end says on gRPC."""
        return (("server-timing", "gfet4t7; dur=12"),)

    def trailers(self, conversation: Conversation) -> Headers:
        """A call that went well."""
        return (("grpc-status", "0"),)

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One message."""
        document = json_bytes.load_object(self._json.whole(conversation, reply))
        table = gemini_proto.RESPONSE
        for method, (_, answered) in gemini_proto.EMBED.items():
            if ("embeddings" if method == "BatchEmbedContents" else "embedding") in document:
                table = answered
        return grpc.frame(protobuf.write(document, table))

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """A message for every piece."""
        chunks = self._json.events(conversation, reply)
        documents = (json_bytes.load_object(event.strip().removeprefix(b"data: ")) for event in chunks)
        return tuple(grpc.frame(protobuf.write(one, gemini_proto.RESPONSE)) for one in documents)

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)
