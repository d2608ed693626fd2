"""`faultwire.tape.export.spans` and `faultwire.tape.export.otlp`: GenAI spans, and their JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes, http_attributes, server_attributes
from opentelemetry.semconv.schemas import Schemas

from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.export import otlp, spans
from faultwire.tape.record.writer import TapeWriter

ASK = b'{"model":"gpt-4o","messages":[{"role":"user","content":"SECRET QUESTION"}]}'
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "SECRET ANSWER"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }
).encode()
LINE = FaultFired("status", "status", "response", "fired", "rolled", "k", 0, 0, effect="answered 503")
JSON = (("content-type", "application/json"),)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="planner")
    chat = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, ASK)
    recording = writer.record(Exchange("s", 1, chat, "llm", "openai_chat", "openai"))
    recording.request(chat)
    recording.upstream_head(Response(200, "OK", JSON))
    recording.upstream_chunk(ANSWER)
    recording.end("complete", None, ())
    search = Request("GET", "http", "h.example", 80, "/search?q=x")
    recording = writer.record(Exchange("s", 2, search, "tool", tool="search"))
    recording.request(search)
    recording.delivered_head(Response(503, "No", (), b"no"))
    recording.end("complete", None, (LINE,))
    writer.close_session("s")
    writer.close()
    return path


def test_the_spans_of_a_session(tape: Path) -> None:
    root, chat, tool = spans.spans(tape)
    assert (root.name, root.parent, root.attributes["gen_ai.agent.name"]) == (
        "invoke_agent planner",
        None,
        "planner",
    )
    assert {one.trace for one in (root, chat, tool)} == {root.trace}
    assert {chat.parent, tool.parent} == {root.id}
    assert (chat.name, tool.name) == ("chat gpt-4o-2024-08-06", "execute_tool search")
    about = chat.attributes
    assert about["gen_ai.provider.name"] == "openai"
    assert (about["gen_ai.request.model"], about["gen_ai.response.model"]) == ("gpt-4o", "gpt-4o-2024-08-06")
    assert (about["gen_ai.usage.input_tokens"], about["gen_ai.usage.output_tokens"]) == (11, 5)
    assert about["gen_ai.response.finish_reasons"] == ("stop",)
    assert (tool.error, tool.attributes["error.type"], tool.attributes["gen_ai.tool.name"]) == (
        "503",
        "503",
        "search",
    )
    assert tool.events == (
        ("faultwire.fault", {"faultwire.fault": "status", "faultwire.effect": "answered 503"}),
    )


def test_every_attribute_is_one_of_the_conventions_or_marked_as_ours(tape: Path) -> None:
    known = {
        value
        for module in (gen_ai_attributes, http_attributes, server_attributes)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str)
    } | {
        "error.type",
        "url.full",
        "http.request.method",
        "http.request.resend_count",
        "http.response.status_code",
    }
    known |= {"server.address", "server.port"}
    used = {name for span in spans.spans(tape) for name in span.attributes}
    assert {name for name in used if not name.startswith("faultwire.")} <= known
    assert spans.SCHEMA in {one.value for one in Schemas}


def test_the_same_tape_gives_the_same_trace(tape: Path) -> None:
    assert [(one.trace, one.id) for one in spans.spans(tape)] == [
        (one.trace, one.id) for one in spans.spans(tape)
    ]
    assert len({one.id for one in spans.spans(tape)}) == 3


def test_the_file_is_otlp_json_without_what_was_said(tape: Path) -> None:
    out = io.BytesIO()
    assert otlp.write(tape, out) == 3
    assert b"SECRET" not in out.getvalue()
    (resource,) = json.loads(out.getvalue())["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    assert (resource["schemaUrl"], scope["scope"]["name"]) == (spans.SCHEMA, "faultwire")
    found: list[dict[str, Any]] = scope["spans"]
    assert [len(one["traceId"]) for one in found] == [32] * 3
    assert [one["kind"] for one in found] == [1, 3, 3]
    assert found[1]["parentSpanId"] == found[0]["spanId"]
    values = {one["key"]: one["value"] for one in found[1]["attributes"]}
    assert values["gen_ai.usage.input_tokens"] == {"intValue": "11"}
    assert values["gen_ai.response.finish_reasons"] == {"arrayValue": {"values": [{"stringValue": "stop"}]}}
    assert found[2]["status"] == {"code": 2, "message": "503"}
