import pytest

from faultwire.events import AgentResult, Delivery, History, Recorded, Request

OK = Delivery(200, "OK", (("content-type", "application/json"),), b"{}")
LIMITED = Delivery(429, "Too Many Requests", (), b"{}")


def exchange(
    number, *, body=b'{"a": 1}', delivered=OK, ending="complete", retry=None, at_ms=None, path="/v1/chat"
):
    headers = () if retry is None else (("x-stainless-retry-count", str(retry)),)
    return Recorded(
        session="s",
        number=number,
        kind="llm",
        protocol=None,
        provider=None,
        tool=None,
        request=Request("POST", "https", "api.openai.com", 443, path, headers, body),
        upstream=delivered,
        delivered=delivered,
        ending=ending,
        error=None,
        attempt=0,
        started_ms=1000 * number if at_ms is None else at_ms,
        duration_ms=1.0,
    )


@pytest.fixture
def ok():
    return exchange


@pytest.fixture
def limited():
    def make(number, **changes):
        return exchange(number, **{"delivered": LIMITED, **changes})

    return make


@pytest.fixture
def history():
    def make(answer="", *exchanges, exit_code=0, stderr="", timed_out=False):
        return History("s", tuple(exchanges), AgentResult(answer, exit_code, 1.0, stderr, timed_out))

    return make
