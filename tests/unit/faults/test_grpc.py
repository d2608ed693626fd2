"""Faults on gRPC calls, by way of a pipeline: of a model, of a service that is not known, of a named tool."""

from __future__ import annotations

import pytest
from tests.unit.exchange.test_pipeline import context, sent, through
from tests.unit.wire.google.test_gemini_grpc import FRAMES, HEAD, REQUEST, STREAM, WHOLE, ask

from faultwire import _core
from faultwire.events import Action, Cut, Headers, Request, Reset, Response, Wait
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.wire.framing import grpc_status

BODY = _core.grpc_write(REQUEST)
OK: Headers = (("grpc-status", "0"),)
ORDERS = Request("POST", "https", "shop.example", 443, "/shop.v1.Orders/Place", HEAD.headers)
NAMED = """
name: shop
description: the shop is named by its host
faults:
  - status: {code: 503}
    on: {kind: other, host: shop.example}
"""
TOOL = """
name: shop
description: the shop is a tool
tools: {place_order: {url: "https://shop.example/shop.v1.Orders/*"}}
faults:
  - status: {code: 503}
    on: {tool: place_order}
"""


def stream(*faults: str) -> tuple[ExchangePipeline, list[Action]]:
    pipeline = ExchangePipeline(context(*faults), ask("StreamGenerateContent"))
    return pipeline, through(pipeline, BODY, HEAD, [b"".join(FRAMES)])


def code(headers: Headers) -> int | None:
    told = grpc_status.status_of(headers)
    return None if told is None else told[0]


@pytest.mark.parametrize(
    ("fault", "grpc"),
    [
        ("status: {code: 500}", 13),
        ("rate_limit: {retry_after_s: 2}", 8),
        ("overloaded: {}", 14),
        ("auth_error: {}", 16),
        ("quota_exceeded: {}", 8),
        ("context_length: {}", 3),
    ],
)
def test_an_answer_is_a_status(fault: str, grpc: int) -> None:
    for method in ("GenerateContent", "StreamGenerateContent"):
        pipeline = ExchangePipeline(context(fault), ask(method))
        answer = pipeline.request(BODY).answer
        assert answer is not None
        assert (answer.status, answer.body, code(answer.headers)) == (200, b"", grpc)
        (line,) = pipeline.ledger()
        assert line.outcome == "fired"


@pytest.mark.parametrize(("profile", "kind"), [(NAMED, "other"), (TOOL, "tool")])
def test_services_that_are_not_known_have_statuses_too(profile: str, kind: str) -> None:
    pipeline = ExchangePipeline(context(profile=profile), ORDERS)
    answer = pipeline.request(_core.grpc_write(b"\x08\x01")).answer
    assert answer is not None
    assert code(answer.headers) == 14
    assert pipeline.exchange.kind == kind
    (line,) = pipeline.ledger()
    assert line.effect == "answered gRPC status 14 (UNAVAILABLE)"


def test_an_answer_that_was_called_for_and_replaced_ends_with_its_own_trailers() -> None:
    pipeline = ExchangePipeline(context("status: {code: 403, call_upstream: true}"), ask("GenerateContent"))
    assert pipeline.request(BODY).answer is None
    head = pipeline.head(HEAD)
    assert code(head.headers) is None, "a head that goes out by itself has no status"
    assert sent([*pipeline.feed(_core.grpc_write(WHOLE)), *pipeline.finish()]) == b""
    assert code(pipeline.trailers(OK)) == 7


def test_an_error_inside_a_stream_is_in_the_trailers() -> None:
    pipeline, actions = stream("stream_error: {after_events: 1, type: server_error}")
    assert sent(actions) == FRAMES[0]
    assert actions[-1] == Cut(clean=True)
    assert code(pipeline.trailers(())) == 13
    (line,) = pipeline.ledger()
    assert line.effect == "error in the trailers after 1 events"


def test_frames_are_the_events_of_a_stream() -> None:
    _, actions = stream("drop_event: {at: 2}")
    assert sent(actions) == FRAMES[0] + FRAMES[2]
    _, actions = stream("duplicate_event: {at: 1}")
    assert sent(actions) == FRAMES[0] + b"".join(FRAMES)
    _, actions = stream("cut_stream: {after_events: 2}")
    assert (sent(actions), actions[-1]) == (FRAMES[0] + FRAMES[1], Cut())
    _, actions = stream("stall: {after_events: 1, for_ms: 50}")
    assert Wait(0.05) in actions
    assert sent(actions) == b"".join(FRAMES)
    pipeline, actions = stream("truncate_response: {max_tokens: 2}")
    assert len(sent(actions)) < len(b"".join(FRAMES))
    assert pipeline.trailers(OK) == OK


def test_a_stream_is_cut_inside_its_text_or_inside_a_frame() -> None:
    pipeline, actions = stream("cut_stream: {inside: text}")
    assert (sent(actions), actions[-1]) == (FRAMES[0], Cut())
    assert pipeline.ledger()[0].outcome == "fired"
    _, actions = stream("reset: {at: {after_bytes: 20}}")
    assert (sent(actions), actions[-1]) == (FRAMES[0][:20], Reset())


def test_a_whole_answer_is_no_stream() -> None:
    pipeline = ExchangePipeline(context("drop_event: {at: 1}"), ask("GenerateContent"))
    actions = through(pipeline, BODY, HEAD, [_core.grpc_write(WHOLE)])
    assert sent(actions) == _core.grpc_write(WHOLE)
    (line,) = pipeline.ledger()
    assert (line.outcome, line.reason) == ("inapplicable", "the request asks for no stream")


def test_what_no_table_knows_is_left_alone() -> None:
    pipeline = ExchangePipeline(context("truncate_response: {max_tokens: 1}"), ORDERS)
    told = _core.grpc_write(STREAM[0])
    assert (
        sent(through(pipeline, _core.grpc_write(b"\x08\x01"), Response(200, "", HEAD.headers), [told]))
        == told
    )
    assert [line.outcome for line in pipeline.ledger()] in ([], ["inapplicable"])
