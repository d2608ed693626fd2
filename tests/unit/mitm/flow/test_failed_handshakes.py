"""Whose a handshake was that failed. No socket is there, so that no program is ever found."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy.connection import Client

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.connections import ClientConnection
from faultwire.mitm.flow.failed_handshakes import LOOKUPS, FailedHandshakes, host_of
from faultwire.mitm.network.client_process import Process
from faultwire.mitm.sessions.sessions import Session, Sessions
from faultwire.profile.model import Profile


def a_client() -> Client:
    return Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=0.0)


@pytest.fixture
def session() -> Session:
    context = SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState())
    return Sessions().open(context)


def test_a_refusal_of_a_model_voids_its_session_and_of_another_host_is_a_note(session: Session) -> None:
    async def run() -> None:
        failing, link = FailedHandshakes(), ClientConnection(session=session)
        failing.fail(link, a_client(), "telemetry.example", "tlsv1 alert unknown ca")
        await failing.settle()
        session.judge_handshakes()
        assert session.voids == []
        failing.fail(link, a_client(), "api.openai.com", "tlsv1 alert unknown ca")
        await failing.settle()
        session.judge_handshakes()

    asyncio.run(run())
    told = "a client refused faultwire's certificate for `{}` (1 handshake)"
    assert session.voids == [told.format("api.openai.com")]
    assert session.notes == [told.format("api.openai.com"), told.format("telemetry.example")]
    assert len(session.seen()["handshakes"]) == 2
    assert session.summary(0)["handshakes"][0]["host"] == "api.openai.com"


def test_only_a_client_of_a_host_that_was_given_up_waits_and_not_for_ever(session: Session) -> None:
    async def run() -> None:
        failing, link = FailedHandshakes(), ClientConnection(session=session)
        assert failing.begin(link, a_client(), "a.example") is None
        failing.fail(link, a_client(), "a.example", "")
        assert failing.begin(link, a_client(), "b.example") is None
        for _ in range(LOOKUPS - 1):
            waiting = failing.begin(link, a_client(), "a.example")
            assert waiting is not None
            await waiting
        assert failing.begin(link, a_client(), "a.example") is None
        await failing.settle()

    asyncio.run(run())


def test_a_connection_that_ends_without_a_call_was_given_up(session: Session) -> None:
    async def run() -> None:
        failing, client = FailedHandshakes(), a_client()
        failing.end(ClientConnection(session=session), client)
        used = ClientConnection(session=session, tls_host="a.example")
        used.answered(session)
        failing.end(used, client)
        assert session.handshakes.failed == ()
        failing.end(ClientConnection(session=session, tls_host="b.example"), client)
        failing.end(ClientConnection(session=session, tls_host="a.example"), client)
        await failing.settle()

    asyncio.run(run())
    assert [(one.host, one.reason) for one in session.handshakes.failed] == [("b.example", "closed")]


def test_a_client_that_said_anything_has_taken_the_certificate(session: Session) -> None:
    async def run() -> None:
        failing = FailedHandshakes()
        for spoke in (True, False):
            link = ClientConnection(session=session, tls_host=f"{spoke}.example".lower())
            if spoke:
                link.spoke()
            failing.end(link, a_client())
        nobodys = ClientConnection(tls_host="unknown.example")
        nobodys.spoke()
        assert nobodys.tls_host == "unknown.example"  # until a call says whose it is
        await failing.settle()

    asyncio.run(run())
    assert [one.host for one in session.handshakes.failed] == ["false.example"]


def test_a_client_of_a_known_process_need_not_wait(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        failing, link, client = FailedHandshakes(), ClientConnection(session=session), a_client()
        monkeypatch.setattr(failing._processes, "of", lambda *_, **__: Process(7, "/usr/bin/node"))
        failing.identify(link, client, b"")
        failing.fail(link, client, "a.example", "")
        assert failing.begin(link, client, "a.example") is None
        assert not failing.is_suspect("a.example")
        failing._spent = 1e9  # no time is left to look for more
        failing.identify(link, client, b"")
        assert link.tls_client.process is None

    asyncio.run(run())
    assert [(one.program, one.count) for one in session.handshakes.failed] == [("/usr/bin/node", 1)]


def test_the_host_is_what_the_client_says_or_where_its_tunnel_leads() -> None:
    def context(sni: str | None, address: tuple[str, int] | None) -> Any:
        return SimpleNamespace(client=SimpleNamespace(sni=sni), server=SimpleNamespace(address=address))

    assert host_of(context("a.example", ("10.0.0.1", 443))) == "a.example"
    assert host_of(context(None, ("10.0.0.1", 443))) == "10.0.0.1"
    assert host_of(context(None, None)) == ""
