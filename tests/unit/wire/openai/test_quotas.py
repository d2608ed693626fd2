"""How each provider tells a quota, and answers when it is used up."""

from __future__ import annotations

import json

import pytest

from faultwire.events import header
from faultwire.wire import protocol
from faultwire.wire.editing.api import Quota
from faultwire.wire.openai.quotas import BY_PROVIDER

QUOTA = Quota(requests=10, requests_left=3, tokens=500, tokens_left=120, reset_s=6.5)

TOLD = {
    ("openai_chat", "openai"): {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "3",
        "x-ratelimit-reset-requests": "6.5s",
        "x-ratelimit-limit-tokens": "500",
        "x-ratelimit-remaining-tokens": "120",
        "x-ratelimit-reset-tokens": "6.5s",
    },
    ("openai_responses", "azure"): {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "3",
        "x-ratelimit-reset-requests": "7",
        "x-ratelimit-limit-tokens": "500",
        "x-ratelimit-remaining-tokens": "120",
        "x-ratelimit-reset-tokens": "7",
    },
    ("openai_chat", "mistral"): {
        "x-ratelimit-limit-req-minute": "10",
        "x-ratelimit-remaining-req-minute": "3",
        "x-ratelimit-limit-tokens-minute": "500",
        "x-ratelimit-remaining-tokens-minute": "120",
    },
    ("cohere", "cohere"): {
        "x-trial-endpoint-call-limit": "10",
        "x-trial-endpoint-call-remaining": "3",
    },
    ("gemini", "google"): {},
    ("bedrock", "aws"): {},
    ("ollama", "ollama"): {},
}


@pytest.mark.parametrize(("name", "provider"), TOLD)
def test_a_quota_is_reported_in_the_providers_own_fields(name, provider):
    assert dict(protocol(name).edits.quota_by(provider, QUOTA)) == TOLD[name, provider]


def test_groq_reports_it_as_openai_does():
    edits = protocol("openai_chat").edits
    assert edits.quota_by("groq", QUOTA) == edits.quota(QUOTA)
    assert edits.quota_by(None, QUOTA) == edits.quota(QUOTA)
    assert "groq" not in BY_PROVIDER


def test_what_is_not_limited_is_not_reported():
    only = Quota(requests=None, requests_left=0, tokens=5, tokens_left=1, reset_s=1)
    for (name, provider), told in TOLD.items():
        found = dict(protocol(name).edits.quota_by(provider, only))
        assert not any("req" in key or "call" in key for key in found if "reset" not in key), provider
        assert bool(found) is bool(told and name != "cohere")


@pytest.mark.parametrize(
    ("name", "provider", "retry"),
    [
        ("openai_chat", "openai", {"retry-after": "2", "retry-after-ms": "1500"}),
        ("openai_chat", "azure", {"retry-after": "2", "retry-after-ms": "1500"}),
        ("openai_chat", "groq", {"retry-after": "2", "retry-after-ms": None}),
        ("openai_chat", "mistral", {"retry-after": "2", "retry-after-ms": None}),
        ("cohere", "cohere", {"retry-after": "2"}),
        ("bedrock", "aws", {"x-amz-retry-after": "1500", "retry-after": None}),
        ("gemini", "google", {"retry-after": None}),
    ],
)
def test_when_to_come_back(name, provider, retry):
    answer = protocol(name).error_by(provider, 429, retry_after_s=1.5)
    assert answer.status == 429
    assert {key: header(answer.headers, key) for key in retry} == retry


def test_google_shows_it_in_the_body_and_aws_by_the_exception():
    details = json.loads(protocol("gemini").error_by("google", 429, retry_after_s=1.5).body)["error"][
        "details"
    ]
    assert details[-1] == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}
    assert header(protocol("bedrock").error(429).headers, "x-amzn-errortype") == "ThrottlingException:"
    groq = protocol("openai_chat").error_by("groq", 429, retry_after_s=1.5)
    assert json.loads(groq.body)["error"]["message"].endswith("Please try again in 1.5s.")
    assert (header(groq.headers, "x-request-id") or "").startswith("req_")
    assert header(groq.headers, "x-ratelimit-remaining-requests") == "0"
