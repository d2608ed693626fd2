"""A tape as OpenTelemetry spans after the GenAI semantic conventions, version 1.44.0.

One trace a session, one span an exchange, ids derived from the tape's origin, so that the same tape always
gives the same trace. The texts of models and tools are left out: spans go to systems that keep them for long,
and the conventions make content opt-in. `write` makes an OTLP/JSON file
(opentelemetry.io/docs/specs/otlp, "File Exporter"); `send` goes through `opentelemetry-sdk`, extra `[otel]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.tape.read.reader import TapeReader
from faultwire.wire.transcript.prices import UNDATED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.events import Recorded
    from faultwire.wire.transcript.exchange import Transcript

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"

Value = str | int | float | tuple[str, ...]

PROVIDERS = {
    "aws": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Our words where `gen_ai.provider.name` has another well-known value."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span. Ids are bytes (16 and 8), instants nanoseconds since the epoch."""

    trace: bytes
    id: bytes
    parent: bytes | None
    name: str
    client: bool
    start_ns: int
    end_ns: int
    attributes: dict[str, Value]
    events: tuple[tuple[str, dict[str, Value]], ...] = ()
    instants: tuple[int, ...] = ()
    """When each event was; without them, at the start."""
    error: str | None = None

    @property
    def dated_events(self) -> list[tuple[str, dict[str, Value], int]]:
        """The events with their instants."""
        at = self.instants or (self.start_ns,) * len(self.events)
        return [(name, about, instant) for (name, about), instant in zip(self.events, at, strict=True)]


def session_ids(origin: str, session: str) -> tuple[bytes, bytes]:
    """The trace of a session, and the id of the session's own span."""
    trace = sha256(f"{origin}\n{session}".encode()).digest()[:16]
    return trace, sha256(trace).digest()[:8]


def spans(path: Path) -> Iterator[Span]:
    """The spans of a tape, the session's before those of its exchanges. Raises TapeError."""
    with TapeReader.open(path) as reader:
        origin = reader.info().origin
        for session in reader.sessions():
            trace, root = session_ids(origin, session.name)
            start, end = session.started_ms, session.ended_ms or session.started_ms
            about: dict[str, Value] = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.conversation.id": session.name,
                "faultwire.profile": session.profile,
                "faultwire.seed": str(session.seed),
            }
            if session.agent:
                about["gen_ai.agent.name"] = session.agent
            name = f"invoke_agent {session.agent}".strip()
            yield Span(trace, root, None, name, False, start * 1_000_000, end * 1_000_000, about)
            for recorded in reader.exchanges(session.name):
                yield exchange_span(recorded, trace, root)


def exchange_span(recorded: Recorded, trace: bytes, root: bytes) -> Span:
    """The span of an exchange, below that of its session."""
    transcript = wire.transcript_of(recorded)
    operation, subject = _operation(recorded, transcript)
    about = _http(recorded)
    if operation is not None:
        about["gen_ai.operation.name"] = operation
    if transcript is not None:
        about |= _model(recorded, transcript)
    if recorded.tool:
        about["gen_ai.tool.name"] = recorded.tool
    status = recorded.delivered.status if recorded.delivered else 0
    error: str | None = recorded.ending if recorded.ending not in ("complete", "open") else None
    error = error or (str(status) if status >= 400 else None)
    if error:
        about["error.type"] = error
    start = recorded.started_ms * 1_000_000
    return Span(
        trace,
        sha256(trace + recorded.number.to_bytes(8, "big")).digest()[:8],
        root,
        f"{operation or recorded.request.method} {subject}".strip(),
        True,
        start,
        start + int(recorded.duration_ms * 1e6),
        about,
        tuple(
            ("faultwire.fault", {"faultwire.fault": one.fault, "faultwire.effect": one.effect or one.reason})
            for one in recorded.faults
            if one.outcome == "fired"
        ),
        error=error,
    )


def _operation(recorded: Recorded, transcript: Transcript | None) -> tuple[str | None, str]:
    """`gen_ai.operation.name`, None where the conventions have none, and what the span's name adds."""
    if recorded.kind == "tool":
        return "execute_tool", recorded.tool or ""
    if recorded.kind == "agent":
        return "invoke_agent", ""
    if transcript is None:
        return None, ""
    known = {
        "embeddings": "embeddings",
        "cohere_embed": "embeddings",
        "completions": "text_completion",
        "gemini": "generate_content",
    }
    return known.get(recorded.protocol or "", "chat"), transcript.model


def _http(recorded: Recorded) -> dict[str, Value]:
    request = recorded.request
    about: dict[str, Value] = {
        "http.request.method": request.method,
        "server.address": request.host,
        "server.port": request.port,
        "url.full": request.url,
        "http.request.resend_count": recorded.attempt,
        "faultwire.exchange": recorded.number,
        "faultwire.ending": recorded.ending,
    }
    if recorded.delivered:
        about["http.response.status_code"] = recorded.delivered.status
    return about


def _model(recorded: Recorded, transcript: Transcript) -> dict[str, Value]:
    provider = recorded.provider or "unknown"
    about: dict[str, Value] = {"gen_ai.provider.name": PROVIDERS.get(provider, provider)}
    if transcript.request and transcript.request.model:
        about["gen_ai.request.model"] = transcript.request.model
    if transcript.first_event_ms is not None:
        about["gen_ai.response.time_to_first_chunk"] = transcript.first_event_ms / 1000
    if transcript.cost is not None:
        about["faultwire.cost_usd"] = float(transcript.cost)
        about["faultwire.prices_as_of"] = transcript.prices_as_of or UNDATED
    answer = transcript.answer
    if answer is None:
        return about
    if answer.model:
        about["gen_ai.response.model"] = answer.model
    if answer.finish_reason:
        about["gen_ai.response.finish_reasons"] = (answer.finish_reason,)
    if answer.usage:
        about["gen_ai.usage.input_tokens"] = answer.usage.input_tokens
        about["gen_ai.usage.output_tokens"] = answer.usage.output_tokens
        parts = {
            "gen_ai.usage.cache_read.input_tokens": answer.usage.cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": answer.usage.cache_write_tokens,
            "gen_ai.usage.reasoning.output_tokens": answer.usage.reasoning_tokens,
            "faultwire.usage.audio_input_tokens": answer.usage.audio_input_tokens,
            "faultwire.usage.audio_output_tokens": answer.usage.audio_output_tokens,
            "faultwire.usage.tool_use_tokens": answer.usage.tool_use_tokens,
        }
        about |= {name: count for name, count in parts.items() if count}
    return about
