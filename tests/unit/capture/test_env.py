from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.capture.bundle import TrustFiles
from faultwire.capture.env import BUNDLE_VARIABLES, PERL_SWITCHES, PROXY_VARIABLES, changes, child_environment
from faultwire.capture.node import PRELOAD, with_preload

URL = "http://run-42:secret@127.0.0.1:9001"
TRUST = TrustFiles(Path("/t/bundle.pem"), Path("/t/ca.pem"), Path("/t/store.jks"))


def child(base: dict[str, str] | None = None, java_port: int | None = 9002) -> dict[str, str]:
    return child_environment(base or {}, proxy_url=URL, trust=TRUST, java_port=java_port)


@pytest.mark.parametrize("name", PROXY_VARIABLES)
def test_every_proxy_variable_is_set_in_both_cases(name: str) -> None:
    environment = child({name: "http://corporate:3128", name.lower(): "http://corporate:3128"})
    assert environment[name] == URL
    assert environment[name.lower()] == URL


@pytest.mark.parametrize(
    "name",
    [
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "AWS_CA_BUNDLE",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "GIT_SSL_CAINFO",
        "PIP_CERT",
        "CARGO_HTTP_CAINFO",
        "NIX_SSL_CERT_FILE",
        "PERL_LWP_SSL_CA_FILE",
        "MOJO_CA_FILE",
    ],
)
def test_variables_that_replace_the_roots_get_the_whole_bundle(name: str) -> None:
    assert name in BUNDLE_VARIABLES
    assert child({name: "/mine.pem"})[name] == "/t/bundle.pem"


@pytest.mark.parametrize("name", ["NODE_EXTRA_CA_CERTS", "DENO_CERT"])
def test_variables_that_add_roots_get_the_authority_or_what_the_user_had_as_well(name: str) -> None:
    assert child()[name] == "/t/ca.pem"
    assert child({name: "/mine.pem"})[name] == "/t/bundle.pem"


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy", "REQUEST_METHOD"])
def test_what_would_lead_past_the_proxy_is_gone(name: str) -> None:
    assert name not in child({name: "localhost"})


def test_everything_else_stays_and_the_base_is_untouched() -> None:
    base = {"PATH": "/bin", "NO_PROXY": "x", "OPENAI_API_KEY": "k"}
    environment = child(base)
    assert environment["PATH"] == "/bin"
    assert environment["OPENAI_API_KEY"] == "k"
    assert base == {"PATH": "/bin", "NO_PROXY": "x", "OPENAI_API_KEY": "k"}


def test_node_options_are_appended_to_and_never_twice() -> None:
    environment = child({"NODE_OPTIONS": "--max-old-space-size=512"})
    assert environment["NODE_OPTIONS"] == f"--max-old-space-size=512 --require {PRELOAD}"
    assert child(environment)["NODE_OPTIONS"] == environment["NODE_OPTIONS"]
    assert environment["NODE_USE_ENV_PROXY"] == "1"


@pytest.mark.parametrize(
    ("path", "quoted"),
    [("/a b/p.cjs", '"/a b/p.cjs"'), ('/a"b/p.cjs', '"/a\\"b/p.cjs"'), ("/plain/p.cjs", "/plain/p.cjs")],
)
def test_a_preload_path_with_blanks_is_quoted_as_node_reads_it(path: str, quoted: str) -> None:
    assert with_preload(None, Path(path)) == f"--require {quoted}"


def test_java_gets_options_with_its_own_port_after_the_users() -> None:
    options = child({"JAVA_TOOL_OPTIONS": "-Xmx1g"})["JAVA_TOOL_OPTIONS"].split()
    assert options[0] == "-Xmx1g"
    assert "-Dhttps.proxyHost=127.0.0.1" in options
    assert "-Dhttps.proxyPort=9002" in options
    assert "-Dhttp.nonProxyHosts=" in options
    assert "-Djavax.net.ssl.trustStore=/t/store.jks" in options


def test_java_is_left_alone_without_a_port_that_needs_no_credentials() -> None:
    assert "JAVA_TOOL_OPTIONS" not in child(java_port=None)
    assert child({"JAVA_TOOL_OPTIONS": "-Xmx1g"}, java_port=None)["JAVA_TOOL_OPTIONS"] == "-Xmx1g"


def test_capturing_a_captured_environment_changes_nothing() -> None:
    environment = child({"PATH": "/bin"})
    again = child(environment)
    assert {k: v for k, v in again.items() if environment[k] != v} == {
        "NODE_EXTRA_CA_CERTS": "/t/bundle.pem",
        "DENO_CERT": "/t/bundle.pem",
    }


def test_changes_name_what_is_set_and_what_must_go() -> None:
    assert changes({"A": "1", "B": "2", "C": "3"}, {"A": "1", "B": "x", "D": "4"}) == {
        "B": "x",
        "C": None,
        "D": "4",
    }


@pytest.mark.parametrize(
    ("theirs", "found"),
    [("", ":/t/php"), ("/mine", "/mine:/t/php"), ("/mine:", "/mine::/t/php"), (":/t/php", ":/t/php")],
)
def test_php_reads_our_settings_behind_its_own_or_the_users(theirs: str, found: str) -> None:
    trust = replace(TRUST, php_settings=Path("/t/php"))
    base = {"PHP_INI_SCAN_DIR": theirs} if theirs else {}
    assert child_environment(base, proxy_url=URL, trust=trust)["PHP_INI_SCAN_DIR"] == found


def test_without_such_settings_php_keeps_its_own() -> None:
    assert "PHP_INI_SCAN_DIR" not in child()
    assert child({"PHP_INI_SCAN_DIR": "/mine"})["PHP_INI_SCAN_DIR"] == "/mine"


def test_perl_looks_at_the_proxy_variables() -> None:
    assert {child({name: "0"})[name] for name in PERL_SWITCHES} == {"1"}
