"""Where a recorded call was sent, for tapes of tracefork that hold no URL.

tracefork records the SDKs of Anthropic, OpenAI, Google and AWS. Which one it was is read from the answer,
else from the request; 0.1.0 (schema 1, envelope 1) records the Anthropic SDK only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from faultwire.tape.import_._source import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 4 << 20
"""A longer body is not parsed to find out whose it is."""
_HOSTS = {
    "anthropic": "api.anthropic.com",
    "openai": "api.openai.com",
    "google": "generativelanguage.googleapis.com",
    "bedrock": "bedrock-runtime.us-east-1.amazonaws.com",
}
"""The default host of each SDK."""


def address(asked: bytes | None, answered: bytes | None, host: str | None, *, oldest: bool) -> str | None:
    """The URL of a call by its bodies, at `host` where that is given; None where they do not tell.

    `oldest`: the tape is one of tracefork 0.1.0.
    """
    request = _object(asked)
    sdk, path = next(
        (found for found in (*_by_answers(request, answered), _by_request(request)) if found), (None, None)
    )
    if sdk is None and oldest and "messages" in request:
        sdk, path = "anthropic", "/v1/messages"
    if host is None and sdk is None:
        return None
    return f"https://{host or _HOSTS[str(sdk)]}{path or '/'}"


def _by_answers(request: dict[str, Any], answered: bytes | None) -> Iterator[tuple[str, str] | None]:
    """What each object of an answer says, of the first few of a stream."""
    data = answered or b""
    if not data.lstrip()[:6].startswith((b"event:", b"data:", b":")):
        yield _by_answer(request, _object(data))
        return
    lines = (line[5:] for line in data[:_MOST].splitlines() if line.startswith(b"data:"))
    for _, line in zip(range(8), lines, strict=False):
        yield _by_answer(request, _object(line))


def _by_answer(request: dict[str, Any], answer: dict[str, Any]) -> tuple[str, str] | None:
    kind = str(answer.get("type", ""))
    made = str(answer.get("object", ""))
    if kind in ("message", "message_start") or (kind == "error" and "request_id" in answer):
        return "anthropic", "/v1/messages"
    if made.startswith("chat.completion"):
        return "openai", "/v1/chat/completions"
    if made == "text_completion":
        return "openai", "/v1/completions"
    if made == "response" or kind.startswith("response."):
        return "openai", "/v1/responses"
    if made == "list" and "input" in request:
        return "openai", "/v1/embeddings"
    if "candidates" in answer or "promptFeedback" in answer:
        model = quote(str(answer.get("modelVersion") or "unknown"), safe="")
        return "google", f"/v1beta/models/{model}:generateContent"
    if "output" in answer and "stopReason" in answer:
        return "bedrock", "/model/unknown/converse"
    return None


def _by_request(request: dict[str, Any]) -> tuple[str, str] | None:
    """Only what no other SDK sends. A list `messages` with `max_tokens` may be anybody's."""
    model = str(request.get("model", ""))
    if "contents" in request:
        return "google", "/v1beta/models/unknown:generateContent"
    if "messages" in request and model.startswith("claude"):
        return "anthropic", "/v1/messages"
    if "messages" in request and model.startswith(("gpt-", "o1", "o3", "o4")):
        return "openai", "/v1/chat/completions"
    return None


def _object(data: bytes | None) -> dict[str, Any]:
    if not data or len(data) > _MOST:
        return {}
    try:
        value = parsed(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
