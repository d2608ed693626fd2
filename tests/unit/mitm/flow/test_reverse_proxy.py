"""Base-URL mode's routes and links, without any socket."""

from __future__ import annotations

import json

import pytest
from mitmproxy import http

from faultwire.mitm.flow.reverse_proxy import (
    BODY_LIMIT,
    AgentCard,
    ResponseRewriter,
    ReverseProxy,
    Route,
    split,
)

BASE = "http://127.0.0.1:9/t0ken"
REVERSE = ReverseProxy(
    {
        "openai": "https://api.openai.com",
        "gateway": "http://llm.corp.test:8080/openai/",
        "anthropic": "https://api.anthropic.com",
        "agent": "https://agent.test",
        "deep": "https://agent.test/deep",
    }
)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/t/openai/v1/models", ("t", "openai", "/v1/models")),
        ("/t/openai/v1?a=/b/c", ("t", "openai", "/v1?a=/b/c")),
        ("/t/openai/", ("t", "openai", "/")),
        ("/t/openai", ("t", "openai", "")),
        ("/t/openai?x=1", ("t", "openai", "?x=1")),
        ("/t/openai//evil.test/x", ("t", "openai", "//evil.test/x")),
        ("/t", None),
        ("/", None),
        ("*", None),
        ("http://x/t/openai", None),
    ],
)
def test_a_path_is_token_route_and_rest(path: str, parts: tuple[str, str, str] | None) -> None:
    assert split(path) == parts


@pytest.mark.parametrize(
    ("name", "rest", "path"),
    [
        ("openai", "/v1/models?x=1", "/v1/models?x=1"),
        ("openai", "", "/"),
        ("gateway", "/v1/models", "/openai/v1/models"),
        ("gateway", "", "/openai"),
        ("anthropic", "/v1/messages", "/v1/messages"),
        ("anthropic", "/messages?beta=true", "/v1/messages?beta=true"),
        ("openai", "/messages", "/messages"),
        ("openai", "//evil.test/../x", "//evil.test/../x"),
    ],
)
def test_what_stands_behind_the_route_stands_behind_its_path(name: str, rest: str, path: str) -> None:
    route = REVERSE.find(name)
    assert route is not None
    assert route.target(rest) == path
    assert route.host in ("api.openai.com", "llm.corp.test", "api.anthropic.com")


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("https://api.openai.com/v1/x?y=1", f"{BASE}/openai/v1/x?y=1"),
        ("https://API.openai.com:443/v1", f"{BASE}/openai/v1"),
        ("https://agent.test", f"{BASE}/agent"),
        ("https://agent.test/deep/er", f"{BASE}/deep/er"),
        ("https://agent.test/deeper", f"{BASE}/agent/deeper"),
        ("http://llm.corp.test:8080/openai/v1", f"{BASE}/gateway/v1"),
        ("http://llm.corp.test:8080/admin", None),
        ("http://api.openai.com/v1", None),
        ("https://api.openai.com.evil.test/", None),
        ("https://elsewhere.test/", None),
        ("grpc://agent.test", None),
        ("https://[broken", None),
        ("", None),
    ],
)
def test_only_links_to_a_declared_upstream_are_ours(url: str, ours: str | None) -> None:
    assert REVERSE.ours(url, BASE) == ours


def test_a_route_keeps_what_its_url_says() -> None:
    assert Route.of("x", "https://[::1]:8/base/") == Route("x", "https", "::1", 8, "/base")
    assert ReverseProxy({}).names == []
    assert not ReverseProxy({})


# ---------------------------------------------------------------- what is told


def answering(path: str = "/.well-known/agent-card.json", method: str = "GET") -> ResponseRewriter:
    request = http.Request.make(method, f"https://agent.test{path}")
    route = REVERSE.find("agent")
    assert route is not None
    return ResponseRewriter(REVERSE, BASE, route, request)


def response(status: int = 200, **headers: str) -> http.Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return http.Response.make(status, b"", {"content-type": "application/json", **fields})


@pytest.mark.parametrize(
    ("told", "turned"),
    [
        ("https://agent.test/next", f"{BASE}/agent/next"),
        ("/deep/next?x=1", f"{BASE}/deep/next?x=1"),
        ("https://elsewhere.test/", "https://elsewhere.test/"),
        ("next", "next"),
    ],
)
def test_where_a_response_points_to_is_turned(told: str, turned: str) -> None:
    made = response(307, location=told)
    answering("/x").head(made)
    assert made.headers["location"] == turned


def test_a_card_leads_back_to_us_and_only_its_addresses_change() -> None:
    card = b'{"name": "a",  "url": "https://agent.test/a2a", "additionalInterfaces": [{"url": "https://b.test/"}]}'
    made = answering()
    assert made.head(response())
    turned = made.body(response(), card)
    assert turned == card.replace(b"https://agent.test/a2a", f"{BASE}/agent/a2a".encode())
    assert json.loads(turned)["additionalInterfaces"][0]["url"] == "https://b.test/"
    assert made.body(response(), b"not a card") == b"not a card"
    assert AgentCard().rewrite(b"\xff{", made.ours) == b"\xff{"


def test_other_bodies_are_not_held() -> None:
    assert not answering("/v1/messages").head(response())
    assert not answering(method="HEAD").head(response())
    assert not answering().head(response(404))
    assert not answering().head(response(content_encoding="gzip"))
    large = response()
    large.headers["content-length"] = str(BODY_LIMIT + 1)
    assert not answering().head(large)
    assert not answering().head(http.Response.make(200, b"", {"content-type": "text/html"}))
