"""Hosts whose exchanges go elsewhere."""

from __future__ import annotations

from mitmproxy import http

from faultwire.mitm.flow.routes import Routes

ROUTES = Routes({"api.openai.com": "http://127.0.0.1:9/base", "*.example": "https://mock.test"})


def test_a_name_goes_before_a_pattern_and_others_stay() -> None:
    named = Routes({"*.example": "http://one.test", "a.example": "http://two.test"})
    found = named.find("A.example")
    assert found is not None
    assert found.hostname == "two.test"
    assert ROUTES.find("example") is None
    assert Routes({}).find("a.example") is None


def test_the_path_is_put_below_that_of_the_route() -> None:
    request = http.Request.make("GET", "https://api.openai.com/v1/models")
    assert ROUTES.destination(request) == (("127.0.0.1", 9), False)
    assert request.path == "/base/v1/models"
    other = http.Request.make("GET", "http://x.example/y")
    assert ROUTES.destination(other) == (("mock.test", 443), True)
    assert other.path == "/y"
    stays = http.Request.make("GET", "http://elsewhere.test:81/z")
    assert ROUTES.destination(stays) == (("elsewhere.test", 81), False)


def test_a_host_that_is_kept_goes_where_it_wants() -> None:
    kept = Routes(
        {"api.openai.com": "http://127.0.0.1:9", "*.example": "http://127.0.0.1:9"}, ["api.openai.com"]
    )
    assert kept.find("API.openai.com") is None
    assert kept.find("a.example") is not None
    request = http.Request.make("GET", "https://api.openai.com/v1/models")
    assert kept.destination(request) == (("api.openai.com", 443), True)
