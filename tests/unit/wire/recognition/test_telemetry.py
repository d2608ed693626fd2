import pytest

from faultwire.events import Request
from faultwire.wire.recognition.telemetry import is_telemetry


def asked(host, path, method="POST"):
    return Request(method, "https", host, 443, path)


@pytest.mark.parametrize(
    ("host", "path", "method"),
    [
        ("api.openai.com", "/v1/traces/ingest", "POST"),
        ("gateway.test", "/v1/traces/ingest?x=1", "POST"),
        ("api.smith.langchain.com", "/info", "GET"),
        ("API.smith.langchain.com.", "/runs/00000000", "PATCH"),
        ("langsmith.test", "/api/v1/runs/multipart", "POST"),
        ("collector.test", "/v1/metrics/", "POST"),
        ("cloud.langfuse.com", "/api/public/ingestion", "POST"),
    ],
)
def test_what_sdks_send_about_the_program(host, path, method):
    assert is_telemetry(asked(host, path, method))


@pytest.mark.parametrize(
    ("host", "path", "method"),
    [
        ("api.openai.com", "/v1/chat/completions", "POST"),
        ("api.openai.com", "/v1/traces", "GET"),
        ("notapi.smith.langchain.com.evil.test", "/x", "POST"),
        ("tools.test", "/ingest", "POST"),
        ("tools.test", "/info", "GET"),
    ],
)
def test_what_is_the_programs_own_work(host, path, method):
    assert not is_telemetry(asked(host, path, method))
