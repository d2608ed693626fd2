"""Messages about entries that never fire; `tests/property/test_never_fires.py` holds that they are right."""

from __future__ import annotations

import pytest

from faultwire.errors import ProfileError
from faultwire.profile.load import parse
from faultwire.profile.never import MCP
from faultwire.profile.never_asked import KEYS

OTHER = "or choose another fault"


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ("{dns_failure: , on: {tool: search}}",
         "found `tool` for `dns_failure`, which acts when a connection is made, before there is a request",
         "match it with `kind`, `provider`, `host` or `session`"),
        ("{tls_failure: , on: {kind: tool}}",
         "found `kind: tool` for `tls_failure`, which acts on `llm` or `other` only",
         f"remove `kind`, {OTHER}"),
        ("{mcp_error: , on: {kind: llm}}",
         "found `kind: llm` for `mcp_error`, which acts on `tool`, `agent` or `other` only",
         f"remove `kind`, {OTHER}"),
        ("{mcp_error: , on: {model: gpt-4o}}",
         "found `model` for `mcp_error`, which acts on `mcp` only", f"remove `model`, {OTHER}"),
        ("{memory_poisoning: , on: {status: 200}}",
         "found `status` for `memory_poisoning`, which acts before there is an answer", "remove `status`"),
        ("{refusal: , on: {method: PUT}}",
         "found `method: PUT`, but models are called with `GET` or `POST`", "remove `method`"),
        ("{refusal: , on: {provider: anthropic, host: api.openai.com}}",
         "found `provider: anthropic` with `host: api.openai.com`, which is known for `openai`",
         "remove `provider` or `host`"),
        ("{tool_error: , on: {site: http, provider: openai}}",
         "found `provider` with `site: http`, which no exchange has together", "remove `provider` or `site`"),
        ("{reset: , on: {kind: tool, provider: openai}}",
         f"found `provider: openai` with a tool, whose provider is `{MCP}` or none", "remove `provider`"),
        ("{truncate_body: {fraction: 0.5}, on: {kind: llm, stream: true}}",
         "found `stream: true` for `truncate_body`, which does not act there: the response is a stream",
         f"remove `stream`, {OTHER}"),
        ("{truncate_response: {max_tokens: 5}, on: {status: [404, 503]}}",
         "found `status: [404, 503]` for `truncate_response`, which does not act there: the response has "
         "status 404", f"remove `status`, {OTHER}"),
        ("{timeout_after_commit: , on: {status: 500}}",
         "found `status: 500` for `timeout_after_commit`, which does not act there: upstream answered 500, "
         "so nothing was done", f"remove `status`, {OTHER}"),
        ("{websocket_close: , on: {turn: 2}}",
         "found `turn: 2` for `websocket_close`, which does not act there: the response opens no WebSocket",
         f"remove `turn`, {OTHER}"),
        ("{agent_card_spoofed: {url: 'http://x'}, on: {text: hi}}",
         "found `text: hi` for `agent_card_spoofed`, which does not act there: no card is read",
         f"remove `text`, {OTHER}"),
        ("{refusal: , on: {model: gpt-4o, stream: false, method: GET}}",
         "found `stream`, `method` and `model` for `refusal`, which no exchange has together",
         "remove one of them"),
        ("{latency: {ms: 1}, on: {tool: a, agent: b, host: c}}",
         "found `agent` with `tool`, which no exchange has together", "remove `agent` or `tool`"),
    ],
)  # fmt: skip
def test_every_message(entry: str, message: str, hint: str) -> None:
    with pytest.raises(ProfileError) as caught:
        parse(f"faults:\n  - {entry}\n", "p.yaml")
    error = caught.value
    assert (error.message, error.hint) == (message, hint)
    assert (error.code, error.exit_code, error.also) == ("profile.never_fires", 2, ())
    assert error.where is not None
    assert error.where.line == 2


@pytest.mark.parametrize(
    "entry",
    [
        "{dns_failure: , on: {kind: [llm, tool]}}",
        "{latency: {ms: 1}, on: {edge: 'a->writer', model: gpt-4o}}",
        "{latency: {ms: 1}, on: {kind: tool, provider: mcp}}",
        "{latency: {ms: 1}, on: {kind: agent, method: PUT}}",
        "{refusal: , on: {provider: openai, host: '127.0.0.1'}}",
        "{refusal: , on: {provider: [aws, openai], host: api.openai.com}}",
        "{truncate_response: {max_tokens: 5}, on: {status: [200, 503]}}",
        "{tool_error: , on: {tool: search, model: gpt-4o, turn: 2}}",
        "{websocket_close: , on: {model: gpt-realtime, method: GET}}",
        "{mcp_error: , on: {site: mcp, tool: search}}",
        "{drop_event: {at: 1}, on: {kind: other, host: a.test}}",
        "{tool_slow: {ms: 1}, on: {site: [http, result]}}",
    ],
)
def test_what_looks_odd_and_can_fire(entry: str) -> None:
    assert parse(f"faults: [{entry}]", "p").entries


def test_keys_that_are_asked_about_are_named_once() -> None:
    assert len(set(KEYS)) == len(KEYS)
