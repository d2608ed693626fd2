"""Where SDKs and frameworks send traces, metrics and usage data of their own.

Nothing that an agent says depends on these requests, and the SDKs pass over their failures. Paths and hosts
are those of openai-agents 0.x, langsmith 0.15, langfuse 5, logfire 5 and the OTLP specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.events import Request

HOSTS = (
    "api.smith.langchain.com",
    "eu.api.smith.langchain.com",
    "cloud.langfuse.com",
    "us.cloud.langfuse.com",
    "logfire-api.pydantic.dev",
    "logfire-eu.pydantic.dev",
    "logfire-us.pydantic.dev",
    "telemetry.crewai.com",
    "api.traceloop.com",
    "us.i.posthog.com",
)
"""Hosts that serve nothing else."""
OTLP = ("/v1/traces", "/v1/metrics", "/v1/logs")
"""Endings of paths of the OpenTelemetry protocol over HTTP."""
PATHS = ("/v1/traces/ingest", "/runs/multipart", "/runs/batch", "/api/public/ingestion", *OTLP)
"""Endings of paths to which data is posted, at any host: gateways and own collectors have them, too."""


def is_telemetry(request: Request) -> bool:
    """Is it a request of an SDK about the program, and none of the program's work?"""
    if request.host.lower().rstrip(".") in HOSTS:
        return True
    return request.method == "POST" and request.path.partition("?")[0].rstrip("/").endswith(PATHS)
