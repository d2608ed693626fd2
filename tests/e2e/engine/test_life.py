"""How an engine starts, refuses to start, and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import UsageError
from faultwire.mitm.engine.client import Engine, StartingEngine
from faultwire.mitm.network import ca, ca_certificates
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

TIMEOUT_S = 20


def gated(upstream: Any) -> tuple[threading.Event, threading.Event]:
    """An upstream that says when it was asked, and answers when it is let."""
    asked, go = threading.Event(), threading.Event()

    def answer(_: Any, connection: Any) -> None:
        asked.set()
        go.wait(TIMEOUT_S)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nlate")

    upstream.handlers["/"] = answer
    return asked, go


def process_of(engine: Engine) -> Any:
    return engine._process


def test_sigterm_lets_what_is_in_flight_end(tools: Any, settings: Any, upstream: Any) -> None:
    asked, go = gated(upstream)
    with Engine.start(settings) as engine, tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get("/")
        assert asked.wait(TIMEOUT_S)
        os.kill(engine.pid, signal.SIGTERM)
        refused = refuses(engine.port)
        go.set()
        assert client.response()[::2] == (200, b"late")
        assert process_of(engine).wait(TIMEOUT_S) == 0
    assert refused
    with TapeReader.open(settings.tape) as tape:
        assert [exchange.ending for exchange in tape.history("implicit").exchanges] == ["complete"]
    trusted = KeyRing(settings.ca_dir.parent / "keys").trusted()
    assert [finding.code for finding in verify(settings.tape, trusted).findings] == []


def refuses(port: int) -> bool:
    """Wait until nobody listens there any more; False if somebody still does after TIMEOUT_S.

    A limit on attempts would not do: 2,000 accepted connections can take less time than a busy engine needs
    to see the signal.
    """
    ends = time.monotonic() + TIMEOUT_S
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port), TIMEOUT_S).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            continue  # it was in the queue of a listener that is just being closed
    return False


def test_draining_ends_after_its_time(tools: Any, settings: Any, upstream: Any) -> None:
    asked, _ = gated(upstream)
    hurried = settings.model_copy(update={"drain_s": 0.2})
    with Engine.start(hurried) as engine, tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get("/")
        assert asked.wait(TIMEOUT_S)
        os.kill(engine.pid, signal.SIGINT)
        assert process_of(engine).wait(TIMEOUT_S) == 0
    with TapeReader.open(settings.tape) as tape:
        assert [exchange.ending for exchange in tape.history("implicit").exchanges] == ["client_aborted"]


def test_a_second_signal_ends_at_once(tools: Any, settings: Any, upstream: Any) -> None:
    asked, _ = gated(upstream)
    patient = settings.model_copy(update={"drain_s": 60.0})
    with Engine.start(patient) as engine, tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get("/")
        assert asked.wait(TIMEOUT_S)
        os.kill(engine.pid, signal.SIGTERM)
        assert refuses(engine.port)
        os.kill(engine.pid, signal.SIGTERM)
        assert process_of(engine).wait(TIMEOUT_S) == 130


PARENT = """
import os, sys
from pathlib import Path
from faultwire.mitm.engine.client import Engine, StartingEngine
from faultwire.mitm.settings import EngineSettings
engine = Engine.start(EngineSettings.model_validate_json(sys.argv[1]))
print(engine.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_the_engine_ends_with_its_parent(settings: Any) -> None:
    """Killed with SIGKILL, the parent can tell nobody; the engine notices."""
    lonely = settings.model_copy(update={"drain_s": 0.0})
    parent = subprocess.run(
        [sys.executable, "-c", PARENT, lonely.model_dump_json()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert parent.returncode == -signal.SIGKILL
    pid = int(parent.stdout)
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return  # gone already
    import select

    assert select.select([watched], [], [], TIMEOUT_S)[0], "the engine outlived its parent"
    os.close(watched)


def test_a_port_that_is_taken_is_named(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(UsageError) as refused:
            Engine.start(settings.model_copy(update={"listen": f"127.0.0.1:{port}"}))
    assert refused.value.code == "engine.port"
    assert f"127.0.0.1:{port}" in refused.value.message
    assert refused.value.exit_code == 2


def test_a_process_that_got_no_settings_ends_and_one_that_got_them_stays(settings: Any) -> None:
    with StartingEngine(settings.run_dir) as starting:
        unused = starting._process
        assert unused.poll() is None
    assert unused.poll() == -signal.SIGKILL
    with StartingEngine(settings.run_dir) as starting:
        engine = starting.configure(settings)
    with engine:
        assert engine.alive
        assert engine.flush() == 0


def test_an_expired_ca_is_refused_with_the_command_that_renews_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from faultwire import clock

    real = clock.utc_now
    for module in (ca, ca_certificates):
        monkeypatch.setattr(module, "utc_now", lambda: real() - timedelta(days=20))
    ca.ensure(settings.ca_dir)
    with pytest.raises(UsageError) as refused:
        Engine.start(settings)
    assert refused.value.code == "ca.expired"
    assert "faultwire ca renew" in (refused.value.hint or "")


def test_an_unknown_fault_is_refused_before_it_listens(tools: Any, settings: Any) -> None:
    bad = tools.profile({"fault": {"name": "no_such_fault", "settings": {}}})
    implicit = settings.implicit.model_copy(update={"profile": bad})
    with pytest.raises(UsageError) as refused:
        Engine.start(settings.model_copy(update={"implicit": implicit}))
    assert refused.value.code == "profile.unknown_fault"


def test_a_tape_that_exists_is_not_overwritten(settings: Any) -> None:
    settings.tape.write_bytes(b"mine")
    with pytest.raises(UsageError):
        Engine.start(settings)
    assert settings.tape.read_bytes() == b"mine"


def test_only_its_user_can_reach_its_files(engine: Engine) -> None:
    assert engine.control.stat().st_mode & 0o777 == 0o600
    assert (engine.ca_pem.parent / "mitmproxy-ca.pem").stat().st_mode & 0o777 == 0o600
    assert engine.ca_pem.parent.stat().st_mode & 0o777 == 0o700
    assert (engine.control.parent / "engine.log").stat().st_mode & 0o777 == 0o600


def test_a_long_folder_still_has_a_control_socket(tools: Any, settings: Any, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    with Engine.start(settings.model_copy(update={"run_dir": deep})) as engine:
        control = engine.control
        assert engine.stats()["live"] == 0
    assert not control.parent.exists()


def test_a_bad_message_is_answered_and_the_engine_goes_on(engine: Engine) -> None:
    for op, arguments in (
        ("nonsense", {}),
        ("open_session", {"name": "../etc", "profile": {}, "seed": 1}),
        ("open_session", {"name": "x", "profile": {"entries": 3}, "seed": 1}),
        ("close_session", {"name": "never opened"}),
    ):
        with pytest.raises(UsageError):
            engine._call(op, **arguments)
    assert engine.stats()["live"] == 0


def test_sessions_in_several_threads_keep_apart(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    summaries: dict[str, int] = {}

    def work(count: int) -> None:
        handle = engine.open_session(tools.fresh("thread"), tools.CALM, 1)
        with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
            for _ in range(count):
                client.get("/")
                assert client.response()[0] == 200
        summaries[handle.name] = engine.close_session(handle.name).exchanges - count

    threads = [threading.Thread(target=work, args=(count,)) for count in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(summaries.values()) == [0] * 5


def test_a_name_in_use_takes_no_port_from_it(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    handle = engine.open_session(tools.fresh("twin"), tools.CALM, 1)
    with pytest.raises(UsageError):
        engine.open_session(handle.name, tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", port=handle.port) as client:
        client.get("/")
        assert client.response()[0] == 200
    assert engine.close_session(handle.name).exchanges == 1


def test_a_session_that_takes_its_time_to_close_keeps_nobody_waiting(
    tools: Any, engine: Engine, upstream: Any
) -> None:
    upstream.answer("/", b"{}")
    slow = engine.open_session(tools.fresh("slow"), tools.acting(before=["wait"]), 1)
    target = f"127.0.0.1:{upstream.port}"
    with tools.Client(engine, target, session=slow) as hanging:
        hanging.post("/", b"{}")
        while not engine.stats()["live"]:
            pass
        closing = threading.Thread(target=engine.close_session, args=(slow.name,))
        closing.start()
        for _ in range(3):
            other = engine.open_session(tools.fresh("quick"), tools.CALM, 1)
            with tools.Client(engine, target, session=other) as client:
                client.get("/")
                assert client.response()[0] == 200
            assert engine.close_session(other.name).exchanges == 1
        assert closing.is_alive(), "the others were done before the slow one"
        closing.join()
