import json

import pytest

from faultwire.events import Request, header
from faultwire.mock import telemetry
from faultwire.mock.answering import Answerer
from faultwire.mock.hosts import routes

PROTOBUF = (("content-type", "application/x-protobuf"),)
JSON = (("content-type", "application/json"),)


def ask(host, path, method="POST", headers=JSON, body=b"{}"):
    return Answerer()(Request(method, "https", host, 443, path, headers, body))


@pytest.mark.parametrize(
    ("host", "path", "method", "status"),
    [
        ("api.openai.com", "/v1/traces/ingest", "POST", 200),
        ("api.smith.langchain.com", "/info", "GET", 200),
        ("api.smith.langchain.com", "/runs/multipart", "POST", 202),
        ("api.smith.langchain.com", "/runs/batch", "POST", 202),
        ("api.smith.langchain.com", "/runs", "POST", 202),
        ("api.smith.langchain.com", "/runs/0190", "PATCH", 202),
        ("cloud.langfuse.com", "/api/public/ingestion", "POST", 207),
        ("logfire-eu.pydantic.dev", "/v1/info", "GET", 200),
        ("us.i.posthog.com", "/batch/", "POST", 200),
    ],
)
def test_telemetry_is_taken(host, path, method, status):
    answer = ask(host, path, method)
    assert answer.status == status
    assert isinstance(json.loads(answer.body), dict)


@pytest.mark.parametrize(("headers", "body"), [(PROTOBUF, b""), (JSON, b"{}"), ((), b"")])
def test_otlp_is_answered_in_its_own_form(headers, body):
    answer = ask("cloud.langfuse.com", "/api/public/otel/v1/traces", headers=headers, body=b"\x0a")
    assert (answer.status, answer.body) == (200, body)
    assert header(answer.headers, "content-type") == (dict(headers) or dict(PROTOBUF))["content-type"]


def test_other_paths_are_not_taken():
    assert telemetry.answer(Request("POST", "https", "api.openai.com", 443, "/v1/nothing")) is None
    assert ask("api.openai.com", "/v1/nothing").status == 404


def test_its_hosts_lead_to_the_mock():
    assert {"api.smith.langchain.com", "cloud.langfuse.com", "telemetry.crewai.com"} < set(routes(80))
