"""What protocols declare, and faultwire.wire.protocol_retries: a new protocol is one new file."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from tests.unit.wire.shapes import post

from faultwire import wire
from faultwire.events import Request, Response
from faultwire.wire.openai.chat import OpenAIChat
from faultwire.wire.protocol import _plain_error
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.declared import gathered
from faultwire.wire.registry import BUILTIN, collect, declared


def _gone(status: int, message: str | None, retry_after_s: float | None) -> Response:
    return Response(status, "", (("x-made-by", "new"),), (message or f"{retry_after_s}").encode())


class New(OpenAIChat):
    """Everything that a new provider needs, in one place."""

    name = "new"
    hosts = (("llm.new.example", "new"), ("openai.com", "somebody"))
    settled = ("/v9/talk",)
    by_body = settled
    text_members = frozenset(("utterance",))
    errors = staticmethod(_gone)
    errors_by = MappingProxyType({"other": lambda status, message, retry_after_s: Response(status, "other")})

    def attempt(self, request: Request) -> int | None:
        return 7


def test_what_a_plug_in_declares_is_gathered_with_the_rest() -> None:
    found = gathered(collect((*BUILTIN, New), ()).values())
    assert ("llm.new.example", "new") in found.hosts
    assert "/v9/talk" in found.settled
    assert "/v9/talk" in found.by_body
    assert "utterance" in found.text_members
    assert "utterance" not in declared().text_members, "nobody declares it here"


def test_longer_domains_go_before_shorter_ones() -> None:
    sizes = [len(domain) for domain, _ in gathered(collect((*BUILTIN, New), ()).values()).hosts]
    assert sizes == sorted(sizes, reverse=True)


def test_the_first_of_two_that_claim_a_domain_has_it() -> None:
    class Thief(OpenAIChat):
        name = "thief"
        hosts = (("api.openai.com", "thief"),)

    found = gathered(collect((*BUILTIN, Thief), ()).values()).hosts
    assert next(provider for domain, provider in found if domain == "api.openai.com") == "openai"


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("API.OpenAI.com.", "openai"),
        ("eu.api.openai.com", "openai"),
        ("evilapi.openai.com", None),
        ("api.openai.com.evil.example", None),
        ("me.openai.azure.com", "azure"),
        ("api.mistral.ai", "mistral"),
        ("openrouter.ai", "openrouter"),
        ("api.together.xyz", "together"),
        ("api.deepseek.com", "deepseek"),
        ("api.anthropic.com", "anthropic"),
        ("claude.googleapis.com", "anthropic"),
        ("storage.googleapis.com", None),
        ("us-aiplatform.googleapis.com", "google"),
        ("aiplatform.googleapis.com", "google"),
        ("bedrock-runtime.us-east-1.amazonaws.com", "aws"),
        ("api.cohere.com", "cohere"),
        ("ollama.com", "ollama"),
        ("localhost", None),
        ("", None),
    ],
)
def test_hosts_and_who_runs_them(host: str, provider: str | None) -> None:
    assert wire.provider_of(host) == provider


@pytest.mark.parametrize("path", ["/v1/traces", "/api/public/ingestion", "/v1/messages/count_tokens", "/x:y"])
def test_paths_that_settle_what_they_are(path: str) -> None:
    assert recognition.is_settled(path)
    assert not recognition.is_contested(path)


def test_paths_that_others_have_too() -> None:
    for path in ("/v1/messages", "/v1/responses", "/api/chat", "/v2/chat"):
        assert recognition.is_settled(path), path
        assert recognition.is_contested(path), path
    assert not recognition.is_settled("/ask")


def test_the_members_that_carry_text_in_every_known_stream() -> None:
    said = {"content", "text", "arguments", "partial_json", "thinking", "reasoning", "reasoning_content"}
    more = {"refusal", "delta", "response", "transcript", "output", "input", "token"}
    assert said | more <= wire.text_members()


def test_errors_are_made_by_what_is_declared() -> None:
    assert New().error(500, retry_after_s=2).body == b"2"
    assert New().error_by("openai", 500, message="m").body == b"m"
    assert New().error_by(None, 500).headers == (("x-made-by", "new"),)
    assert New().error_by("other", 503).reason == "other"


def test_a_protocol_that_declares_no_errors_answers_plainly() -> None:
    class Silent(OpenAIChat):
        errors = staticmethod(_plain_error)
        errors_by = MappingProxyType({})

    assert Silent().error(418, message="tea").body == b'{"error":{"message":"tea","status":418}}'


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({}, None),
        ({"x_stainless_retry_count": "0"}, 0),
        ({"X_Stainless_Retry_Count": " 2 "}, 2),
        ({"x_stainless_retry_count": ""}, None),
        ({"x_stainless_retry_count": "x"}, None),
        ({"x_stainless_retry_count": "-1"}, None),
        ({"x_stainless_retry_count": "\uff11"}, None),
        ({"x_stainless_retry_count": "9" * 5000}, None),
        ({"amz_sdk_request": "attempt=1; max=3"}, 0),
        ({"amz_sdk_request": "ttl=x; attempt=3; max=3"}, 2),
        ({"amz_sdk_request": "attempt=0"}, 0),
        ({"amz_sdk_request": "attempt=9999"}, None),
        ({"amz_sdk_request": "max=3"}, None),
        ({"x_stainless_retry_count": "1", "amz_sdk_request": "attempt=5"}, 1),
    ],
)
def test_retries_in_the_sdk_s_own_words(headers: dict[str, str], told: int | None) -> None:
    request = post("https://corp.example/ask", {}, **headers)
    assert wire.attempt(request, None) == told
    for name in ("openai_chat", "anthropic", "bedrock", "bedrock_invoke", "gemini", "ollama", "cohere"):
        assert wire.attempt(request, wire.protocol(name)) == told


def test_a_protocol_may_count_in_its_own_way() -> None:
    assert wire.attempt(post("https://corp.example/ask"), New()) == 7
