"""One question to each protocol, as its clients ask it, and the mock's answer to it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.unit.mock.conversations import chat, messages

from faultwire import _core
from faultwire.events import Request, Response
from faultwire.mock.answering import Answerer
from faultwire.wire.google import gemini_proto
from faultwire.wire.grpc import protobuf

KEY = (
    ("authorization", "Bearer sk-x"),
    ("x-goog-api-key", "x"),
    ("content-type", "application/json"),
)
MCP_HEADS = (*KEY, ("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2026-07-28"))
UPGRADE = (
    *KEY,
    ("connection", "Upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


class Question(NamedTuple):
    """A request, and the protocol that it is of."""

    protocol: str
    host: str
    path: str
    body: Any = None
    headers: tuple[tuple[str, str], ...] = KEY
    method: str = "POST"

    @property
    def request(self) -> Request:
        """As it comes to the mock."""
        packed = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        body = b"" if self.body is None else packed
        return Request(self.method, "https", self.host, 443, self.path, self.headers, body)

    @property
    def head(self) -> Request:
        """Without its body."""
        return self.request.__class__(self.method, "https", self.host, 443, self.path, self.headers)


def answered(question: Question, answerer: Answerer | None = None) -> Response:
    """The mock's answer, whole."""
    answer = (answerer or Answerer())(question.request)
    body = answer.body if answer.events is None else b"".join(answer.events)
    return Response(answer.status, "", answer.headers, body)


def _frame(document: dict[str, Any]) -> bytes:
    return _core.grpc_write(protobuf.write(document, gemini_proto.REQUEST))


def _gemini(text: str) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def _rpc(method: str, params: dict[str, Any], ident: Any = "ask-7") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def _message(text: str) -> dict[str, Any]:
    return {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}]}}


def _invoke(text: str) -> dict[str, Any]:
    body = messages(text, anthropic_version="bedrock-2023-05-31")
    del body["model"]
    return body


OPENAI, GOOGLE = "api.openai.com", "generativelanguage.googleapis.com"
AWS, MODEL = "bedrock-runtime.us-east-1.amazonaws.com", "/v1beta/models/g"
CONVERSE = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
GRPC = (("x-goog-api-key", "x"), ("content-type", "application/grpc"), ("te", "trailers"))
SERVICE = "/google.ai.generativelanguage.v1beta.GenerativeService/"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

EVERY: dict[str, Question] = {
    "chat": Question("openai_chat", OPENAI, "/v1/chat/completions", chat("hi")),
    "chat, streamed": Question("openai_chat", OPENAI, "/v1/chat/completions", chat("hi", stream=True)),
    "azure": Question("openai_chat", "x.openai.azure.com", "/openai/v1/chat/completions", chat("hi")),
    "groq": Question("openai_chat", "api.groq.com", "/openai/v1/chat/completions", chat("hi")),
    "mistral": Question("openai_chat", "api.mistral.ai", "/v1/chat/completions", chat("hi")),
    "mistral, streamed": Question(
        "openai_chat", "api.mistral.ai", "/v1/chat/completions", chat("hi", stream=True)
    ),
    "anthropic": Question("anthropic", "api.anthropic.com", "/v1/messages", messages("hi")),
    "anthropic, streamed": Question(
        "anthropic", "api.anthropic.com", "/v1/messages", messages("hi", stream=True)
    ),
    "responses": Question("openai_responses", OPENAI, "/v1/responses", {"model": "m", "input": "hi"}),
    "responses, streamed": Question(
        "openai_responses", OPENAI, "/v1/responses", {"model": "m", "input": "hi", "stream": True}
    ),
    "completions": Question("completions", OPENAI, "/v1/completions", {"model": "m", "prompt": "hi"}),
    "completions, streamed": Question(
        "completions", OPENAI, "/v1/completions", {"model": "m", "prompt": "hi", "stream": True}
    ),
    "embeddings": Question("embeddings", OPENAI, "/v1/embeddings", {"model": "m", "input": "hi"}),
    "gemini": Question("gemini", GOOGLE, f"{MODEL}:generateContent", _gemini("hi")),
    "gemini, array": Question("gemini", GOOGLE, f"{MODEL}:streamGenerateContent", _gemini("hi")),
    "gemini, sse": Question("gemini", GOOGLE, f"{MODEL}:streamGenerateContent?alt=sse", _gemini("hi")),
    "gemini, embedding": Question(
        "gemini", GOOGLE, f"{MODEL}:embedContent", {"content": {"parts": [{"text": "hi"}]}}
    ),
    "gemini, embeddings": Question(
        "gemini",
        GOOGLE,
        f"{MODEL}:batchEmbedContents",
        {"requests": [{"model": "models/g", "content": {"parts": [{"text": "hi"}]}}]},
    ),
    "gemini, grpc": Question(
        "gemini_grpc", GOOGLE, f"{SERVICE}GenerateContent", _frame({"model": "g", **_gemini("hi")}), GRPC
    ),
    "gemini, grpc streamed": Question(
        "gemini_grpc",
        GOOGLE,
        f"{SERVICE}StreamGenerateContent",
        _frame({"model": "g", **_gemini("hi")}),
        GRPC,
    ),
    "interactions": Question("interactions", GOOGLE, "/v1beta/interactions", {"model": "g", "input": "hi"}),
    "interactions, streamed": Question(
        "interactions", GOOGLE, "/v1beta/interactions", {"model": "g", "input": "hi", "stream": True}
    ),
    "ollama": Question("ollama", "localhost", "/api/chat", chat("hi")),
    "ollama, whole": Question("ollama", "localhost", "/api/chat", chat("hi", stream=False)),
    "ollama, generate": Question("ollama", "localhost", "/api/generate", {"model": "m", "prompt": "hi"}),
    "ollama, embed": Question("ollama", "localhost", "/api/embed", {"model": "m", "input": "hi"}),
    "ollama, embeddings": Question("ollama", "localhost", "/api/embeddings", {"model": "m", "prompt": "hi"}),
    "cohere": Question("cohere", "api.cohere.com", "/v2/chat", chat("hi")),
    "cohere, streamed": Question("cohere", "api.cohere.com", "/v2/chat", chat("hi", stream=True)),
    "bedrock": Question("bedrock", AWS, "/model/m/converse", CONVERSE),
    "bedrock, streamed": Question("bedrock", AWS, "/model/m/converse-stream", CONVERSE),
    "bedrock, invoke": Question("bedrock_invoke", AWS, "/model/claude/invoke", _invoke("hi")),
    "bedrock, invoke streamed": Question(
        "bedrock_invoke", AWS, "/model/claude/invoke-with-response-stream", _invoke("hi")
    ),
    "realtime": Question("realtime", OPENAI, "/v1/realtime?model=gpt-realtime", None, UPGRADE, "GET"),
    "responses socket": Question("responses_socket", OPENAI, "/v1/responses", None, UPGRADE, "GET"),
    "mcp": Question(
        "mcp",
        "mcp.mock.test",
        "/mcp",
        _rpc("tools/list", {"_meta": META}),
        (*MCP_HEADS, ("mcp-method", "tools/list")),
    ),
    "a2a": Question(
        "a2a", "agent.test", "/a2a", _rpc("SendMessage", _message("hi")), (*KEY, ("a2a-version", "1.0"))
    ),
    "a2a, streamed": Question(
        "a2a",
        "agent.test",
        "/a2a",
        _rpc("SendStreamingMessage", _message("hi")),
        (*KEY, ("a2a-version", "1.0")),
    ),
    "a2a, http": Question(
        "a2a_http", "agent.test", "/a2a/message:send", _message("hi"), (*KEY, ("a2a-version", "1.0"))
    ),
    "a2a, http streamed": Question(
        "a2a_http", "agent.test", "/a2a/message:stream", _message("hi"), (*KEY, ("a2a-version", "1.0"))
    ),
}
"""By a word for it. Of the protocols that are known, `grpc` alone is not here: nobody knows its answers."""
