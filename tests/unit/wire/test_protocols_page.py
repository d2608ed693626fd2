"""What `docs/reference/protocols.md` says beside its generated tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import faultwire
from faultwire import wire
from faultwire.events import Request
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import size_limit
from faultwire.wire.transcript import prices

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "protocols.md").read_text()
JSON = (("content-type", "application/json"),)
CHAT = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'


def test_a_body_that_is_too_heavy_is_so_where_it_says() -> None:
    told = re.search(r"more than (\d+) MiB of text, or of more than (\d+) JSON values, pass unread", PAGE)
    assert told is not None
    text, values = int(told[1]) << 20, int(told[2])
    heavy = size_limit.is_heavy
    assert (heavy(b'"%s"' % (b"a" * (text - 1024))), heavy(b'"%s"' % (b"a" * (text + 1024)))) == (False, True)
    assert heavy(b"[%s1]" % (b"1," * (values + 10)))
    assert not heavy(b"[%s1]" % (b"1," * (values - values // 64)))


def test_header_fields_with_the_request_id() -> None:
    told = PAGE.partition("*The request id*")[2].partition("\n- ")[0]
    declared = {name for one in wire.protocols().values() for name in one.request_ids}
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", told))
    assert named <= declared
    assert {"x-request-id", "request-id", "x-amzn-requestid", "x-debug-trace-id"} <= named


@pytest.mark.parametrize(
    "path", ["/v1/models", "/v1/messages/count_tokens", "/v1/batches", "/v1/files", "/v1/moderations",
             "/v1/traces", "/v1/rerank", "/v2/rerank", "/runs/multipart", "/api/public/ingestion",
             "/oauth/token"]
)  # fmt: skip
@pytest.mark.parametrize("host", ["api.openai.com", "api.anthropic.com", "gateway.test"])
def test_what_is_never_taken_for_model_traffic(host: str, path: str) -> None:
    for method, body in (("GET", None), ("POST", CHAT), ("POST", b'{"query": "x", "documents": ["y"]}')):
        if path.endswith(("/models", "/rerank", "/token")) and body == CHAT:
            continue  # nobody sends a conversation there
        assert wire.classify(Request(method, "https", host, 443, path, JSON, body)).kind == "other"


@pytest.mark.parametrize("prefix", ["", "/gateway/openai", "/a/b/c"])
@pytest.mark.parametrize("port", [443, 8080])
def test_any_host_port_prefix_and_query(prefix: str, port: int) -> None:
    path = f"{prefix}/v1/chat/completions?x=1"
    found = wire.classify(Request("POST", "https", "models.test", port, path, JSON, CHAT))
    assert (found.kind, found.provider) == ("llm", "openai")
    groq = wire.classify(Request("POST", "https", "api.groq.com", port, path, JSON, CHAT))
    assert groq.protocol is found.protocol
    assert groq.provider == "groq"


def test_what_a_protocol_declares_exists() -> None:
    table = PAGE.partition("| it declares | with |")[2].partition("\n\n")[0]
    names = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[2])}
    assert names > {"recognise", "edits", "page"}
    assert {name for name in names if name.islower() and not hasattr(Protocol, name)} == set()
    for name in re.findall(r"`faultwire\.([A-Z]\w+)`", table):
        assert hasattr(faultwire, name), name


def test_the_table_of_prices_on_the_page_is_read(tmp_path: Path) -> None:
    text = PAGE.partition("```yaml\nas_of")[2].partition("```")[0]
    path = tmp_path / "prices.yaml"
    path.write_text(f"as_of{text}")
    found = prices.load(path, over=prices.builtin())
    assert found is not None
    assert found != prices.builtin()
