"""The mock's answers to what SDKs send about the program: it is taken and forgotten."""

from __future__ import annotations

import orjson

from faultwire.events import Request, header
from faultwire.mock._api import Answer
from faultwire.wire.recognition.telemetry import OTLP, is_telemetry

_JSON = (("content-type", "application/json"),)


def answer(request: Request) -> Answer | None:
    """The success that the service would answer with; None where the request is something else."""
    if not is_telemetry(request):
        return None
    path = request.path.partition("?")[0].rstrip("/")
    if path.endswith(OTLP):  # an empty message of protobuf has no bytes
        kind = header(request.headers, "content-type") or "application/x-protobuf"
        return Answer(200, (("content-type", kind),), b"{}" if "json" in kind else b"")
    if path.endswith("/ingestion"):
        return Answer(207, _JSON, orjson.dumps({"successes": [], "errors": []}))
    if "/runs" in path:
        return Answer(202, _JSON, orjson.dumps({"message": "accepted"}))
    if path.endswith("/info"):
        return Answer(200, _JSON, orjson.dumps({"version": "mock", "project_name": "mock"}))
    return Answer(200, _JSON, b"{}")
