"""Which of the user's proxies leads to a server."""

from __future__ import annotations

import pytest

from faultwire.errors import UsageError
from faultwire.mitm.network.upstream_proxy import UpstreamProxies, UpstreamProxy, from_environment

SECRET = "p%40ss-word"


def found(**environment: str) -> UpstreamProxies:
    proxies = from_environment(environment)
    assert proxies is not None
    return proxies


def test_no_variable_is_no_proxy() -> None:
    assert from_environment({}) is None
    assert from_environment({"HTTPS_PROXY": "", "NO_PROXY": "*", "FTP_PROXY": "http://h"}) is None


def test_each_scheme_has_its_own_and_all_proxy_is_for_the_rest() -> None:
    proxies = found(HTTPS_PROXY="http://secure:1", ALL_PROXY="socks5h://any")
    assert (proxies.https, proxies.http) == (
        UpstreamProxy("http", "secure", 1, "HTTPS_PROXY"),
        UpstreamProxy("socks5h", "any", 1080, "ALL_PROXY"),
    )
    only = found(http_proxy="plain:3128")
    assert (only.http, only.https) == (UpstreamProxy("http", "plain", 3128, "http_proxy"), None)
    assert only.find("api.example", 443, tls=True) is None
    assert only.find("api.example", 80, tls=False) == only.http


def test_lower_case_goes_first() -> None:
    both = found(https_proxy="http://lower", HTTPS_PROXY="http://upper")
    assert both.https == UpstreamProxy("http", "lower", 80, "https_proxy")


def test_credentials_are_decoded_and_never_shown() -> None:
    proxies = found(HTTPS_PROXY=f"http://us%3Aer:{SECRET}@[fd00::1]:3128/")
    proxy = proxies.https
    assert proxy is not None
    assert (proxy.username, proxy.password) == ("us:er", "p@ss-word")
    assert proxies.urls == ("http://[fd00::1]:3128 (HTTPS_PROXY)",)
    for text in (repr(proxies), str(proxies.urls)):
        assert "ss-word" not in text
        assert "er:" not in text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("socks4://u:p4ss@h:1", "a proxy of the kind `socks4`"),
        ("https://u:p4ss@h", "a proxy of the kind `https`"),
        ("p4ss/wo rd://h", "a proxy of an unknown kind"),
        ("http://u:p4ss@", "no proxy's address"),
        ("http://u:p4ss@h:0", "no proxy's address"),
        ("http://u:p4ss@h:port", "no proxy's address"),
        ("http://u:p4ss@[h", "no proxy's address"),
        (f"socks5://u:p4ss{'x' * 256}@h", "a user or password of more than 255 bytes"),
    ],
)
def test_what_cannot_be_used_is_refused_without_its_credentials(value: str, kind: str) -> None:
    with pytest.raises(UsageError) as refused:
        from_environment({"ALL_PROXY": value})
    assert refused.value.exit_code == 2
    assert refused.value.code == "usage.proxy"
    assert f"found {kind} in `all_proxy`".lower() in str(refused.value).lower()
    assert "p4ss" not in refused.value.render()
    assert refused.value.hint is not None


def test_one_that_is_not_used_is_not_read() -> None:
    proxies = found(HTTP_PROXY="http://h", HTTPS_PROXY="http://h", ALL_PROXY="ftp://h")
    assert proxies.urls == ("http://h:80 (HTTPS_PROXY)", "http://h:80 (HTTP_PROXY)")


@pytest.mark.parametrize(
    ("entries", "host", "port", "direct"),
    [
        ("*", "api.example", 443, True),
        ("api.example", "api.example", 443, True),
        ("API.example", "api.Example.", 443, True),
        ("example", "api.example", 443, True),
        (".example", "api.example", 443, True),
        (".example", "example", 443, True),
        ("*.example", "api.example", 443, True),
        ("ample", "api.example", 443, False),
        ("api.example.com", "api.example", 443, False),
        ("other, api.example", "api.example", 443, True),
        ("other api.example", "api.example", 443, True),
        ("api.example:443", "api.example", 443, True),
        ("api.example:8443", "api.example", 443, False),
        ("10.0.0.0/8", "10.1.2.3", 443, True),
        ("10.0.0.1/8", "10.1.2.3", 443, True),
        ("10.0.0.0/8", "11.1.2.3", 443, False),
        ("10.1.2.3", "10.1.2.3", 443, True),
        ("10.1.2.3:80", "10.1.2.3", 443, False),
        ("fd00::/8", "fd00::1", 443, True),
        ("fd00::1", "fd00::1", 443, True),
        ("[fd00::1]:443", "fd00::1", 443, True),
        ("[fd00::1]:80", "fd00::1", 443, False),
        ("10.0.0.0/8", "ten.example", 443, False),
        ("", "api.example", 443, False),
        (" , .,", "api.example", 443, False),
    ],
)
def test_exceptions(entries: str, host: str, port: int, direct: bool) -> None:
    proxies = found(HTTPS_PROXY="http://h", no_proxy=entries)
    assert (proxies.find(host, port, tls=True) is None) == direct


@pytest.mark.parametrize("host", ["localhost", "x.localhost", "127.0.0.1", "::1"])
def test_this_machine_is_called_directly(host: str) -> None:
    assert found(ALL_PROXY="http://h").find(host, 80, tls=False) is None
