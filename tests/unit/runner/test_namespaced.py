"""Which ports a command's namespace listens on."""

from __future__ import annotations

from faultwire.runner.namespaced import NamespaceOptions, ports

LISTENING = frozenset({53, 8000, 11434})
NONE = NamespaceOptions("exec", ("x",))


def test_web_ports_are_captured_and_nothing_else() -> None:
    assert ports(NONE, (), (), LISTENING) == ({80, 443}, set())


def test_options_add_ports() -> None:
    options = NamespaceOptions("exec", ("x",), (8080,), ("db.example:5432", "[2001:db8::1]:6379"))
    assert ports(options, (), (), LISTENING)[0] == {80, 443, 8080, 5432, 6379}


def test_allowed_services_of_this_machine_are_at_their_own_addresses() -> None:
    assert ports(NONE, ("localhost",), (), LISTENING)[1] == {8000, 11434}
    assert ports(NONE, ("127.0.0.1:9000",), (), LISTENING)[1] == {9000}
    assert ports(NONE, ("10.0.0.7:8080", "*.corp.example"), (), LISTENING) == ({80, 443, 8080}, set())


def test_urls_that_are_known_are_captured_where_they_lead() -> None:
    urls = ("https://llm.corp.example:8443/v1", "http://search.example:{8081,8082}/*", "*://x.example/*")
    assert ports(NONE, (), urls, LISTENING)[0] == {80, 443, 8443}


def test_a_url_on_this_machine_is_left_to_the_command_unless_somebody_serves_it() -> None:
    urls = ("http://127.0.0.1:11434/v1", "http://localhost:8001")
    assert ports(NONE, (), urls, LISTENING)[1] == {11434}


def test_names_are_never_captured() -> None:
    wide, local = ports(NONE, ("localhost",), ("http://a.example:53",), LISTENING)
    assert 53 not in wide | local
