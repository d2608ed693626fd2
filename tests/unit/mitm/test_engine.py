"""An engine's own books, without its process: names, and what libraries log."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwire.dice import Dice
from faultwire.errors import UsageError
from faultwire.mitm import engine
from faultwire.mitm.addon import FaultwireAddon
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.passage import SessionContext
from faultwire.profile.model import Profile
from faultwire.session import SessionState


def an_engine(folder: Path) -> engine.Engine:
    made = engine.Engine(EngineSettings(run_dir=folder, ca_dir=folder / "ca"))
    made.addon, made.tape = FaultwireAddon(), None
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
    assert len(made.addon.sessions) == 0


def test_a_session_is_closed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SESSION_END_S", 0.01)
    made = an_engine(tmp_path)

    async def twice() -> list[object]:
        session = made.addon.sessions.open(
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
def quiet() -> Iterator[FaultwireAddon]:
    """An addon that hears what libraries log, and the loggers as they were afterwards."""
    kept = {}
    for name in engine.LOGGERS:
        logger = logging.getLogger(name)
        kept[logger] = (logger.level, logger.propagate, list(logger.handlers))
    addon = FaultwireAddon()
    addon.sessions.open(SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState()))
    engine._quiet(addon)
    yield addon
    for logger, (level, propagate, handlers) in kept.items():
        logger.setLevel(level)
        logger.propagate, logger.handlers = propagate, handlers


@pytest.mark.parametrize("name", [*engine.LOGGERS, "mitmproxy.proxy.server"])
@pytest.mark.parametrize("raised", [True, False])
def test_what_a_library_logs_voids_the_run_and_is_not_quoted(
    quiet: FaultwireAddon,
    name: str,
    raised: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    error = ValueError("sk-quoted-traffic") if raised else None
    logging.getLogger(name).error("failed on sk-quoted-traffic", exc_info=error)
    (session,) = quiet.sessions
    assert ("ValueError" if raised else "Logged") in session.voids[0]
    assert "sk-quoted" not in "".join(capfd.readouterr()) + session.voids[0]


def test_what_is_no_error_is_nobodys_business(quiet: FaultwireAddon) -> None:
    logging.getLogger("asyncio").warning("slow")
    (session,) = quiet.sessions
    assert session.voids == []
