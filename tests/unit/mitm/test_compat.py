"""The self-test of what we touch in mitmproxy, and our fixes for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mitmproxy import version
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.connection import Client
from mitmproxy.master import Master
from mitmproxy.options import Options
from mitmproxy.proxy import commands, mode_specs
from mitmproxy.proxy.layers.http._events import ResponseProtocolError

from faultwire.errors import FaultwireError
from faultwire.mitm import compat
from faultwire.mitm.compat import codes, hooks, http1


def test_this_version_is_supported() -> None:
    compat.check()


@pytest.mark.parametrize("found", ["10.4.2", "11.0.1", "9.0"])
def test_an_older_one_is_refused(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr(version, "VERSION", found)
    with pytest.raises(FaultwireError) as refused:
        compat.check()
    assert refused.value.code == "engine.mitmproxy"
    assert found in refused.value.message


def test_one_without_what_we_build_on_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from mitmproxy.proxy.layers.http import HttpLayer

    monkeypatch.delattr(HttpLayer, "make_stream")
    with pytest.raises(FaultwireError) as refused:
        compat.check()
    assert "HttpLayer.make_stream" in refused.value.message


def master() -> Any:
    made = Master(Options(server=False))
    made.addons.add(Proxyserver())
    return made


async def test_the_fast_handler_works_with_this_version() -> None:
    assert await compat.fast_handler_works(master(), mode_specs.ProxyMode.parse("regular"))


async def test_a_command_that_we_do_not_know_leads_to_the_stock_handler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class NewCommand(commands.Command):
        pass

    monkeypatch.setattr(commands, "NewCommand", NewCommand, raising=False)
    assert not await compat.fast_handler_works(master(), mode_specs.ProxyMode.parse("regular"))


async def test_a_handler_that_loses_bytes_leads_to_the_stock_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compat.FastHandler, "_flush", lambda self, out: out.clear())
    assert not await compat.fast_handler_works(master(), mode_specs.ProxyMode.parse("regular"))


def client() -> Client:
    return Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))


async def test_a_pause_ends_by_itself_or_when_the_client_leaves() -> None:
    short = hooks.Pause(client(), 0)
    await short.last()
    assert not short.left
    endless = hooks.Pause(client(), None)
    waiting = asyncio.ensure_future(endless.last())
    asyncio.get_running_loop().call_soon(endless.leave)
    await waiting
    assert endless.left
    left_before = hooks.Pause(client(), None)
    left_before.leave()
    await left_before.last()


def test_hooks_are_found_in_the_order_of_the_addons() -> None:
    called = []

    class First:
        def request(self, data: object) -> None:
            called.append("first")

    class Second:
        request = None

        def response(self, data: object) -> None:
            called.append("second")

    table = compat.Hooks([First(), Second()])
    assert [handler(None) for handler in table["request"]] == [None]
    assert called == ["first"]
    assert len(table["response"]) == 1
    assert table["error"] == ()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"HTTP/1.1 103 Early", True),
        (b"HTTP/1.1 100 Continue", True),
        (b"HTTP/1.0 102 P", True),
        (b"HTTP/1.1 101 Switching", False),
        (b"HTTP/1.1 200 OK", False),
        (b"HTTP/1.1 10", False),
        (b"", False),
    ],
)
def test_interim_heads(data: bytes, expected: bool) -> None:
    assert http1._interim(data) is expected


def test_the_codes_are_those_of_this_mitmproxy() -> None:
    assert len({codes.KILL, codes.CANCEL, codes.BAD_GATEWAY}) == 3
    for code in (codes.KILL, codes.CANCEL, codes.BAD_GATEWAY):
        assert ResponseProtocolError(1, "x", code).code == code
