"""faultwire.wire.cohere.embed."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.wire.shapes import post

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Delivery, Recorded, Usage
from faultwire.wire.cohere.embed import CohereEmbed

PROTOCOL = CohereEmbed()
ASKED = {"model": "embed-v4.0", "texts": ["one", "two"], "input_type": "search_query"}
SHOWN = {"type": "image_url", "image_url": {"url": "data:"}}
PARTS = {
    "model": "embed-v4.0",
    "inputs": [{"content": [{"type": "text", "text": "one"}, SHOWN]}],
}


def answer(**billed: Any) -> dict[str, Any]:
    return {"id": "e", "embeddings": {"float": [[0.5]]}, "meta": {"billed_units": billed}}


def recorded(said: dict[str, Any], status: int = 200) -> Recorded:
    request = post("https://api.cohere.com/v2/embed", ASKED)
    found = wire.classify(request)
    assert found.protocol is not None
    made = Delivery(status, "OK", (("content-type", "application/json"),), json.dumps(said).encode())
    return Recorded(
        "s", 1, found.kind, found.protocol.name, found.provider, None, request, made, made,
        "complete", None, 0, 0, 9.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("url", "body", "name"),
    [
        ("https://api.cohere.com/v2/embed", None, "cohere_embed"),
        ("https://api.cohere.ai/v1/embed", ASKED, "cohere_embed"),
        ("https://gateway.example/cohere/v2/embed", PARTS, "cohere_embed"),
        ("https://gateway.example/v2/embed", {"model": "m", "texts": "x"}, None),
        ("https://gateway.example/v2/embed", {"html": "<a>"}, None),
        ("https://api.cohere.com/v2/embed-jobs", ASKED, None),
        ("http://localhost:11434/api/embed", {"model": "m", "input": "x"}, "ollama"),
    ],
)
def test_what_is_recognised(url: str, body: Any, name: str | None) -> None:
    found = wire.classify(post(url, body))
    assert (found.protocol.name if found.protocol else None) == name


def test_the_texts_are_turns() -> None:
    assert [turn.text for turn in PROTOCOL.request_view(json.dumps(ASKED).encode()).turns] == ["one", "two"]
    assert [turn.text for turn in PROTOCOL.request_view(json.dumps(PARTS).encode()).turns] == ["one"]
    with pytest.raises(WireError, match="something to embed"):
        PROTOCOL.request_view(b'{"model": "m"}')


def test_what_is_billed_has_a_price_and_an_image_has_none() -> None:
    found = wire.transcript_of(recorded(answer(input_tokens=1_000_000)))
    assert found is not None
    assert (found.model, found.charged, found.cost) == ("embed-v4.0", Usage(1_000_000, 0), Decimal("0.12"))
    for said in (answer(images=1), {"embeddings": []}):
        unknown = wire.transcript_of(recorded(said))
        assert unknown is not None
        assert (unknown.charged, unknown.cost) == (None, None)


def test_an_image_beside_a_text_makes_the_cost_unknown() -> None:
    found = wire.transcript_of(recorded(answer(input_tokens=5, images=1)))
    assert found is not None
    assert (found.charged, found.cost) == (None, None)


def test_errors_are_those_of_the_provider() -> None:
    found = wire.transcript_of(recorded({"message": "invalid request"}, 400))
    assert found is not None
    assert found.answer is not None
    assert found.answer.error == "invalid request"
    made = PROTOCOL.error(429, retry_after_s=3)
    assert (made.status, json.loads(made.body or b"")["message"][:4]) == (429, "You ")
    for provider in ("cohere", "openai", None):
        assert "message" in json.loads(PROTOCOL.error_by(provider, 500).body or b""), "never OpenAI's error"
    assert PROTOCOL.edits.failure("quota_exceeded").status == 429
    assert dict(made.headers)["retry-after"] == "3"
