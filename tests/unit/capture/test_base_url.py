from __future__ import annotations

import pytest

from faultwire.capture.base_url import base_urls, plan

OURS = "http://127.0.0.1:9/t0ken"


def test_every_variable_of_a_provider_leads_to_its_route() -> None:
    made = plan({}, {}, providers=True)
    child = made.environment({"PATH": "/bin"}, OURS)
    assert child["OPENAI_BASE_URL"] == child["OPENAI_API_BASE"] == f"{OURS}/openai/v1"
    assert child["ANTHROPIC_BASE_URL"] == f"{OURS}/anthropic"
    assert child["OLLAMA_HOST"] == f"{OURS}/ollama"
    assert made.routes["openai"] == "https://api.openai.com"
    assert made.routes["ollama"] == "http://127.0.0.1:11434"
    assert child["PATH"] == "/bin"
    names = {name for provider in base_urls() if provider.url for name in provider.variables}
    assert set(child) == names | {"PATH"}


def test_a_base_url_of_the_users_own_is_where_the_calls_go() -> None:
    theirs = {
        "OPENAI_BASE_URL": "https://gw.corp.test/llm/v1",
        "AZURE_OPENAI_ENDPOINT": "https://me.openai.azure.com",
    }
    made = plan(theirs, {}, providers=True)
    child = made.environment(theirs, OURS)
    assert child["OPENAI_BASE_URL"] == f"{OURS}/openai-base-url"
    assert made.routes["openai-base-url"] == "https://gw.corp.test/llm/v1"
    assert child["OPENAI_API_BASE"] == f"{OURS}/openai/v1"
    assert made.routes[child["AZURE_OPENAI_ENDPOINT"].rpartition("/")[2]] == "https://me.openai.azure.com"


def test_the_mock_stands_in_for_the_defaults() -> None:
    theirs = {"OPENAI_BASE_URL": "https://gw.corp.test/llm/v1"}
    made = plan(theirs, {}, providers=True, mock=True)
    assert made.environment(theirs, OURS)["OPENAI_BASE_URL"] == f"{OURS}/openai/v1"
    assert made.routes["ollama"] == "https://ollama.com"


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box.lan", "http://box.lan:11434"),
        ("box.lan:8000", "http://box.lan:8000"),
        ("https://box.lan/ollama/", "https://box.lan:443/ollama"),
        ("http://[::1]:7", "http://[::1]:7"),
        ("box:port", None),
    ],
)
def test_ollamas_address_is_read_as_ollama_reads_it(value: str, url: str | None) -> None:
    made = plan({"OLLAMA_HOST": value}, {}, providers=True)
    assert made.routes.get("ollama-host") == url


@pytest.mark.parametrize("value", ["not a url", "ftp://x.test", "https://[broken", "https://"])
def test_what_is_no_base_url_is_left_out(value: str) -> None:
    made = plan({"OPENAI_BASE_URL": value}, {}, providers=True)
    assert made.variables["OPENAI_BASE_URL"] == ("openai", "/v1")


def test_declared_routes_are_given_in_a_variable_each() -> None:
    made = plan({}, {"my-search": "https://s.test/api"}, providers=False)
    assert made.routes == {"my-search": "https://s.test/api"}
    assert made.environment({}, OURS) == {"FAULTWIRE_URL_MY_SEARCH": f"{OURS}/my-search"}


def test_a_declared_route_wins_over_a_providers() -> None:
    made = plan({}, {"openai": "http://localhost:1"}, providers=True)
    assert made.routes["openai"] == "http://localhost:1"


def test_a_proxy_of_the_users_own_is_not_asked_for_us() -> None:
    made = plan({}, {}, providers=True)
    child = made.environment({"https_proxy": "http://corp:3128", "NO_PROXY": "intra.test"}, OURS)
    assert child["NO_PROXY"] == "intra.test,127.0.0.1"
    assert child["no_proxy"] == "127.0.0.1"
    assert child["https_proxy"] == "http://corp:3128"
    assert "NO_PROXY" not in made.environment({}, OURS)
