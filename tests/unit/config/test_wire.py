"""`faultwire.config.wire`: proxy and tools."""

from __future__ import annotations

import pytest

from faultwire.config.wire import is_file
from faultwire.profile.model import ToolSite


def test_the_proxy(config, tmp_path):
    (tmp_path / "talk.yaml").write_text("turns: []")
    found = config(
        "proxy: {capture: base-url, allow_hosts: localhost:11434, seed: 7, mock: true, script: talk.yaml, "
        "reverse: {mine: 'http://h'}, redact: {pii: true}, listen: '127.0.0.1:8080'}"
    ).proxy
    assert (found.capture, found.allow_hosts, found.seed, found.mock) == (
        "base-url",
        ("localhost:11434",),
        7,
        True,
    )
    assert found.script == tmp_path / "talk.yaml"
    assert config("proxy: {mock: true, mock_except: a.example}").proxy.mock_except == ("a.example",)
    assert config("proxy: {mock: true, mock_except: ['*.a', '::1']}").proxy.mock_except == ("*.a", "::1")
    assert (found.redact, found.listen) == ({"pii": True}, "127.0.0.1:8080")


def test_client_certificates_start_from_the_files_folder_and_keep_their_order(config, tmp_path):
    for name in ("one.pem", "two.pem"):
        (tmp_path / name).touch()
    found = config("proxy: {client_certs: {api.example: two.pem, '*.example': one.pem}}").proxy
    assert list(found.client_certs.items()) == [
        ("api.example", tmp_path / "two.pem"),
        ("*.example", tmp_path / "one.pem"),
    ]
    assert config("proxy: {seed: 1}").proxy.client_certs == {}


def test_redact_may_stand_at_the_top_as_other_commands_read_it(config, refused):
    assert config("redact: {pii: true}").proxy.redact == {"pii": True}
    assert refused("redact: {pii: true}\nproxy: {redact: {pii: true}}") == [
        "faultwire.yaml:3:1: config.bad_value: found `redact` beside `proxy.redact`, expected one of them"
    ]


def test_tools(config):
    found = config("tools: {search: {url: ['http://a/*', 'http://b/*']}, refund: {}, other: }").tools
    assert found == {
        "search": ToolSite(url=("http://a/*", "http://b/*")),
        "refund": ToolSite(),
        "other": ToolSite(),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("proxy: []", "found a list for `proxy`, expected a mapping"),
        ("proxy: {moc: true}", "found key `moc`, expected a key of `proxy`"),
        ("proxy: {mock: 'yes'}", "found `yes` for `proxy.mock`, expected `true` or `false`"),
        ("proxy: {capture: magic}", "found `magic` for `proxy.capture`, expected `env` or `base-url`"),
        ("proxy: {script: none.yaml}", "found no file `none.yaml` for `proxy.script`, expected one"),
        ("proxy: {upstream_ca: .}", "found no file `.` for `proxy.upstream_ca`, expected one"),
        (
            "proxy: {client_certs: {a.example: none.pem}}",
            "found no file `none.pem` for `proxy.client_certs.a.example`, expected one",
        ),
        (
            "proxy: {client_certs: {'a:443': .}}",
            "found `a:443` in `proxy.client_certs`, expected a host name",
        ),
        ("proxy: {client_certs: me.pem}", "found `me.pem` for `proxy.client_certs`, expected a mapping"),
        ("proxy: {client_certs: {a: 7}}", "found `7` in `proxy.client_certs`, expected text"),
        ("proxy: {listen: nope}", "found `nope` for `proxy.listen`, expected `HOST:PORT`"),
        ("proxy: {listen: 'h:²'}", "found `h:²` for `proxy.listen`, expected `HOST:PORT`"),
        ("proxy: {reverse: {x: nourl}}", "found `nourl` for `proxy.reverse.x`, expected a base URL"),
        ("proxy: {reverse: {x: 'http://['}}", "found `http://[` for `proxy.reverse.x`, expected a base URL"),
        ("proxy: {reverse: {A b: 'http://a'}}", "found `A b` for a route, expected lower-case letters"),
        ("proxy: {allow_hosts: 'http://a'}", "found `http://a` in `proxy.allow_hosts`, expected a host"),
        ("proxy: {allow_hosts: [a b]}", "found `a b` in `proxy.allow_hosts`, expected a host"),
        ("proxy: {mock_except: a}", "found `proxy.mock_except` without `proxy.mock: true`, expected both"),
        (
            "proxy: {mock: true, mock_except: 'https://a'}",
            "found `https://a` in `proxy.mock_except`, expected a host name",
        ),
        ("proxy: {mock: true, mock_except: ['a:1']}", "found `a:1` in `proxy.mock_except`"),
        ("proxy: {redact: {pi: true}}", "`redact` has an unknown field `pi`, expected `pii`"),
        ("redact: {patterns: [{id: a, regex: '('}]}", "unclosed group"),
        ("redact: 3", "for `proxy.redact`, expected a mapping"),
        ("tools: {search: {ur: x}}", "found key `ur`, expected a key of `tools.search`"),
        ("tools: [search]", "found a list for `tools`, expected a mapping"),
        ("tools: {search: 'http://a'}", "found `http://a` for `tools.search`, expected a mapping"),
    ],
)
def test_what_is_refused(refused, text, said):
    (found,) = refused(text)
    assert said in found


def test_names_that_no_file_can_have(tmp_path):
    assert not is_file(tmp_path / "a\0b")
    assert not is_file(tmp_path / ("x" * 300))


def test_addresses_that_are_taken(config):
    found = config(
        "proxy: {listen: '[::1]:80', reverse: {a-1.b: 'https://a/b'}, allow_hosts: ['[::1]:80', '*.in']}"
    ).proxy
    assert (found.listen, found.reverse) == ("[::1]:80", {"a-1.b": "https://a/b"})
    assert found.allow_hosts == ("[::1]:80", "*.in")
