"""An engine's own books, without its process: names, and what libraries log."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwire.dice import Dice
from faultwire.errors import UsageError
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.engine import crash_log, engine
from faultwire.mitm.engine.event_loop import GuardedLoop
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.network.egress_guard import Guard, Refused
from faultwire.mitm.network.proxy_connection import CHAINED, ProxyFailed
from faultwire.mitm.network.upstream_proxy import UpstreamProxy
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.profile.model import Profile


def an_engine(folder: Path) -> engine.Engine:
    made = engine.Engine(EngineSettings(run_dir=folder, ca_dir=folder / "ca"))
    made.gateway, made.tape = Gateway(), None
    return made


def settings(name: str = "s") -> SessionSettings:
    return SessionSettings(name=name, profile={"name": "calm", "entries": []}, seed=1)


def test_a_session_without_a_listener_leaves_its_name_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_port_left(*_: object, **__: object) -> None:
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(asyncio, "start_server", no_port_left)
    made = an_engine(tmp_path)
    with pytest.raises(UsageError) as refused:
        asyncio.run(made.open_session(settings()))
    assert refused.value.code == "engine.port"
    assert len(made.gateway.sessions) == 0


def test_a_session_is_closed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SESSION_END_S", 0.01)
    made = an_engine(tmp_path)

    async def twice() -> list[object]:
        session = made.gateway.sessions.open(
            SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState())
        )
        session.live = 1  # in flight, so that closing it takes its time
        return await asyncio.gather(*(made.close_session("s") for _ in range(2)), return_exceptions=True)

    first, second = asyncio.run(twice())
    assert isinstance(first, dict)
    assert isinstance(second, UsageError)
    assert "`s` is being closed already" in second.message


# ---------------------------------------------------------------- what libraries log


@pytest.fixture
def quiet() -> Iterator[Gateway]:
    """An addon that hears what libraries log, and the loggers as they were afterwards."""
    kept = {}
    for name in crash_log.LOGGERS:
        logger = logging.getLogger(name)
        kept[logger] = (logger.level, logger.propagate, list(logger.handlers))
    addon = Gateway()
    addon.sessions.open(SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState()))
    crash_log.quiet(addon)
    yield addon
    for logger, (level, propagate, handlers) in kept.items():
        logger.setLevel(level)
        logger.propagate, logger.handlers = propagate, handlers


@pytest.mark.parametrize("name", [*crash_log.LOGGERS, "mitmproxy.proxy.server"])
@pytest.mark.parametrize("raised", [True, False])
def test_what_a_library_logs_voids_the_run_and_is_not_quoted(
    quiet: Gateway,
    name: str,
    raised: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    error = ValueError("sk-quoted-traffic") if raised else None
    logging.getLogger(name).error("failed on sk-quoted-traffic", exc_info=error)
    (session,) = quiet.sessions
    assert ("ValueError" if raised else "Logged") in session.voids[0]
    assert "sk-quoted" not in "".join(capfd.readouterr()) + session.voids[0]


def test_what_is_no_error_is_nobodys_business(quiet: Gateway) -> None:
    logging.getLogger("asyncio").warning("slow")
    (session,) = quiet.sessions
    assert session.voids == []


# ---------------------------------------------------------------- names and what they resolve to


class Resolver(asyncio.SelectorEventLoop):
    """A loop whose resolver says what a test wants, and another thing each time."""

    answers: dict[str, list[list[str]]]
    asked: int = 0

    async def getaddrinfo(self, host, port, **_):
        if host not in self.answers:
            raise UnicodeError("label empty or too long")
        self.asked += 1
        said = self.answers[host]
        addresses = said.pop(0) if len(said) > 1 else said[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]


class Guarded(GuardedLoop, Resolver):
    """Our loop on top of it."""


@pytest.fixture
def loop() -> Iterator[Guarded]:
    made = Guarded()
    made.guard = Guard(("allowed.test",))
    yield made
    made.close()


PUBLIC = "93.184.216.34"


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.7", "127.0.0.1", "192.168.1.1", "100.64.0.1"])
def test_a_name_of_a_private_address_is_not_connected_to(loop: Guarded, address: str) -> None:
    """A unit test that connects fails: the refusal comes before."""
    loop.answers = {"metadata.test": [[address]]}

    async def connect() -> None:
        await asyncio.open_connection("metadata.test", 80)

    with pytest.raises(Refused, match=r"--allow-host metadata\.test"):
        loop.run_until_complete(connect())


def test_a_name_that_changes_its_mind_gains_nothing(loop: Guarded) -> None:
    loop.answers = {"rebinding.test": [[PUBLIC], ["10.0.0.7"], [PUBLIC, "10.0.0.7"]]}

    def found() -> list[str]:
        return [info[4][0] for info in loop.run_until_complete(loop.getaddrinfo("rebinding.test", 80))]

    assert found() == [PUBLIC]
    with pytest.raises(Refused):
        found()
    assert found() == [PUBLIC], "of several, only the public one is left"
    assert loop.asked == 3


def test_an_allowed_name_may_be_private(loop: Guarded) -> None:
    loop.answers = {"allowed.test": [["10.0.0.7"]]}
    (info,) = loop.run_until_complete(loop.getaddrinfo("allowed.test", 80))
    assert info[4] == ("10.0.0.7", 80)


def test_a_connection_through_a_proxy_never_goes_directly(loop: Guarded) -> None:
    """A unit test that connects fails. Only the proxy's name is looked up, and its address may be private."""
    loop.answers = {"proxy.test": [["10.0.0.7"]], "own.test": [["127.0.0.1"]]}
    loop.guard = Guard(listeners={3128})

    async def connect(proxy: str) -> None:
        CHAINED.set(UpstreamProxy("http", proxy, 3128, "HTTPS_PROXY"))
        await asyncio.open_connection("server.test", 443)

    with pytest.raises(ProxyFailed, match=r"`http://own\.test:3128`, which `HTTPS_PROXY` names, is this"):
        loop.run_until_complete(connect("own.test"))
    with pytest.raises(ProxyFailed, match="cannot be looked up"):
        loop.run_until_complete(connect("server.test"))
    with pytest.raises(AssertionError, match="must not open a connection"):
        loop.run_until_complete(connect("proxy.test"))
    assert loop.asked == 2


def test_what_is_no_name_fails_as_connections_do(loop: Guarded) -> None:
    loop.answers = {}
    with pytest.raises(OSError, match="is no host name"):
        loop.run_until_complete(loop.getaddrinfo("a..test", 80))


def test_a_resolver_that_says_nothing_holds_up_neither_the_tape_nor_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, late, asked = threading.Event(), asyncio.Event(), []

    def silent(host: str, *_: object) -> list[object]:
        asked.append(host)
        if host == "late.test":
            loop.call_soon_threadsafe(late.set)
        answers.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    loop = GuardedLoop()

    async def run() -> None:
        looking = [asyncio.ensure_future(loop.getaddrinfo(f"h{n % 50}.test", 443)) for n in range(100)]
        assert await asyncio.wait_for(loop.run_in_executor(None, lambda: "committed"), 5) == "committed"
        assert sorted(asked) == sorted(f"h{n}.test" for n in range(50)), "the same name is looked up once"
        looking[0].cancel()
        answers.set()
        ended = await asyncio.gather(*looking, return_exceptions=True)
        assert [type(end) for end in ended] == [asyncio.CancelledError, *[socket.gaierror] * 99]
        answers.clear()
        looking = [asyncio.ensure_future(loop.getaddrinfo("late.test", 443))]
        await asyncio.wait_for(late.wait(), 5)
        await asyncio.wait_for(loop.shutdown_default_executor(), 5)

    try:
        loop.run_until_complete(run())
    finally:
        answers.set()
        loop.close()
