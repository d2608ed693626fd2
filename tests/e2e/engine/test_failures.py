"""What fails around an engine at work: names, certificates, clients, clocks, folders and the writer."""

from __future__ import annotations

import contextlib
import datetime
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from faultwire import clock
from faultwire.mitm.engine.client import Engine
from faultwire.mitm.network import ca, ca_certificates
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

LEFT_S = 1.0
"""Within which a server hears that its client has left."""


def damage(path: Path) -> list[str]:
    """The findings of a tape that are more than a note that it was not closed."""
    return [one.code for one in verify(path).findings if not one.is_note and one.code != "seal_untrusted"]


# ---------------------------------------------------------------- servers


def test_a_name_that_cannot_be_looked_up_is_a_502_and_voids_nothing(
    tools: Any, engine: Engine, upstream: Any
) -> None:
    """`.invalid` is nobody's (RFC 6761); with or without a resolver the look-up fails."""
    upstream.answer("/", b"{}")
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)
    with tools.Client(engine, "nowhere.invalid:80", session=handle) as client:
        client.get("/")
        status, _, body = client.response()
    assert (status, tools.error_of(body)["type"]) == (502, "faultwire_upstream")
    assert "`nowhere.invalid` was not reached" in tools.error_of(body)["message"]
    assert engine.close_session(handle.name).voids == ()
    assert tools.recorded(engine, handle.name).ending == "upstream_aborted"
    with tools.Client(engine, f"localhost:{upstream.port}") as client:  # the control: a name that can
        client.get("/")
        assert client.response()[0] == 200


def test_a_server_whose_certificate_changes_is_not_called_with_the_new_one(
    tools: Any, engine: Engine, test_ca: Any
) -> None:
    context = test_ca.server_context("localhost")
    server = tools.Upstream(context)
    server.answer("/", b"{}")
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)

    def call() -> tuple[int, bytes]:
        with tools.Client(engine, f"localhost:{server.port}", tls=True, session=handle) as client:
            client.get("/")
            status, _, body = client.response()
        return status, body

    assert call()[0] == 200
    test_ca.server_context("elsewhere.test")
    context.load_cert_chain(test_ca.folder / f"server{test_ca.made}.pem")  # of the same CA, for another name
    status, body = call()
    assert (status, tools.error_of(body)["type"]) == (502, "faultwire_upstream")
    assert "certificate" in tools.error_of(body)["message"].lower()
    assert len(server.asked) == 1, "nothing of the second request reached it"
    test_ca.server_context("localhost")
    context.load_cert_chain(test_ca.folder / f"server{test_ca.made}.pem")
    assert call()[0] == 200, "the control: another certificate for the right name"
    server.close()
    assert engine.close_session(handle.name).voids == ()


# ---------------------------------------------------------------- clients


@pytest.mark.by_day("0", "200")
@pytest.mark.parametrize("taken", [0, 1, 100, 200])
def test_a_client_that_leaves_in_the_middle_ends_the_call_upstream(
    tools: Any, engine: Engine, upstream: Any, taken: int
) -> None:
    sent, events = threading.Event(), [tools.chunk(b"data: %d\n\n" % n) for n in range(20)]

    def stream(asked: Any, connection: socket.socket) -> None:
        connection.sendall(tools.sse_head() + b"".join(events))
        sent.set()
        connection.recv(1)  # until the other side ends it

    upstream.handlers["/"] = stream
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        assert sent.wait(tools.TIMEOUT_S)
        client.exactly(taken)
    left = time.monotonic()
    assert upstream.gone.wait(tools.TIMEOUT_S)
    assert time.monotonic() - left < LEFT_S
    summary = engine.close_session(handle.name)
    assert (summary.exchanges, summary.voids) == (1, ())
    assert tools.recorded(engine, handle.name).ending == "client_aborted"


# ---------------------------------------------------------------- time


@pytest.mark.nightly
def test_an_authority_that_expires_while_it_works_is_taken_by_nobody_and_the_run_says_so(
    tools: Any, settings: Any, tls_upstream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls_upstream.answer("/", b"{}")
    real, lives_s = clock.utc_now, 4
    for module in (ca, ca_certificates):
        monkeypatch.setattr(
            module, "utc_now", lambda: real() - timedelta(days=1) + timedelta(seconds=lives_s)
        )
    made = ca.ensure(settings.ca_dir, days=1)
    with Engine.start(settings) as engine:
        handle = engine.open_session("expiring", tools.CALM, 1)
        target = f"localhost:{tls_upstream.port}"
        with tools.Client(engine, target, tls=True, session=handle) as client:
            client.get("/")
            assert client.response()[0] == 200
            remaining = (made.not_after - datetime.datetime.now(datetime.UTC)).total_seconds()
            assert not threading.Event().wait(max(0.0, remaining) + 1.0)
            client.get("/")
            assert client.response()[0] == 200, "a connection that is open goes on"
        with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
            tools.Client(engine, target, tls=True, session=handle)
        (note,) = engine.close_session("expiring").notes
    assert "refused faultwire's certificate for `localhost`" in note


@pytest.mark.nightly
@pytest.mark.parametrize("shift", ["-10y", "+10y"])
def test_a_clock_that_is_wrong_by_years_changes_no_order_and_no_verdict(
    tools: Any, settings: Any, upstream: Any, monkeypatch: pytest.MonkeyPatch, shift: str
) -> None:
    """Of the engine alone (libfaketime): what it records is ordered by number and by a monotonic clock."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    upstream.answer("/", b"{}")
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("FAKETIME", shift)
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    with Engine.start(settings) as engine:
        monkeypatch.delenv("LD_PRELOAD")
        handle = engine.open_session("shifted", tools.CALM, 1)
        with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
            for _ in range(5):
                client.get("/")
                assert client.response()[0] == 200
        assert engine.close_session("shifted").voids == ()
    with TapeReader.open(settings.tape) as tape:
        exchanges = tape.history("shifted").exchanges
    assert [one.number for one in exchanges] == [1, 2, 3, 4, 5]
    assert damage(settings.tape) == []
    year = datetime.datetime.now(datetime.UTC).year
    made = ca.describe(settings.ca_dir)
    assert made is not None
    assert abs(made.not_before.year - year) >= 9, "the control: its clock is another"


@pytest.mark.nightly
@pytest.mark.parametrize("days", [-2, 2])
def test_a_clock_that_jumps_in_the_middle_changes_no_order_and_no_verdict(
    tools: Any, settings: Any, upstream: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, days: int
) -> None:
    """Of the engine alone, between two calls of one connection, as a virtual machine that wakes up has it."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    upstream.answer("/", b"{}")
    shift = tmp_path / "shift"
    shift.write_text("+0")
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(shift))
    monkeypatch.setenv("FAKETIME_NO_CACHE", "1")
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    with Engine.start(settings) as engine:
        monkeypatch.delenv("LD_PRELOAD")
        handle = engine.open_session("jumped", tools.CALM, 1)
        with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
            for number in range(6):
                if number == 3:
                    shift.write_text(f"{days:+d}d")
                client.get("/")
                assert client.response()[0] == 200
        assert engine.close_session("jumped").voids == ()
    with TapeReader.open(settings.tape) as tape:
        exchanges = tape.history("jumped").exchanges
    assert [one.number for one in exchanges] == [1, 2, 3, 4, 5, 6]
    assert damage(settings.tape) == []
    moments = [one.started_ms for one in exchanges]
    apart = (moments[3] - moments[2]) / 86_400_000
    assert abs(apart - days) < 0.1, "the control: the clock that is written down did jump"


# ---------------------------------------------------------------- folders


@pytest.mark.nightly
def test_commands_that_start_at_once_in_one_new_folder_share_its_keys_and_mix_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "faultwire", "exec", "--mock", "-q", "--"]
    curl = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "https://api.openai.com/v1/models"]
    curl += ["-H", "authorization: Bearer sk-test"]

    def run(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *curl], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(run, range(4)))
    assert [(one.returncode, one.stdout) for one in done] == [(0, "200")] * 4, done
    tapes = sorted((tmp_path / ".faultwire" / "runs").glob("*/*.tape"))
    assert len(tapes) == 4
    for path in tapes:
        with TapeReader.open(path) as tape:
            assert [len(tape.history(one.name).exchanges) for one in tape.sessions()] == [1]
        assert damage(path) == []
    assert len(list((tmp_path / ".faultwire" / "keys").glob("*.key"))) == 2, "one to seal, one to redact"


@pytest.mark.nightly
def test_a_home_that_cannot_be_written_is_not_needed_and_a_folder_that_cannot_is_named(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.write_text("a file, below which nobody can write anything")
    with pytest.raises(OSError, match="Not a directory"):  # the control: even for root
        (home / ".cache").mkdir()
    environment = {**os.environ, "HOME": str(home)}
    environment.pop("XDG_CACHE_HOME", None)
    command = [sys.executable, "-m", "faultwire", "exec", "--mock", "--"]
    curl = ["curl", "-sS", "https://api.openai.com/v1/models", "-H", "authorization: Bearer sk-test"]

    def run(folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *curl],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    (tmp_path / "project").mkdir()
    done = run(tmp_path / "project")
    assert done.returncode == 0, done.stderr
    refused = run(Path("/proc"))
    assert refused.returncode == 2, refused.stderr
    assert ".faultwire" in refused.stderr
    assert "Traceback" not in done.stderr + refused.stderr


# ---------------------------------------------------------------- the engine itself


def load(tools: Any, engine: Engine, port: int, over: threading.Event) -> int:
    """Call until the engine is gone; how many calls were answered 200."""
    answered = 0
    with contextlib.suppress(OSError, EOFError):
        while not over.is_set():
            with tools.Client(engine, f"127.0.0.1:{port}") as client:
                for _ in range(20):
                    client.post("/", b"{}")
                    if client.response()[0] != 200:
                        return answered
                    answered += 1
    return answered


@pytest.mark.nightly
def test_sigterm_under_load_ends_in_time_with_every_answer_on_the_tape(
    tools: Any, settings: Any, upstream: Any
) -> None:
    upstream.answer("/", b"{}")
    over = threading.Event()
    with Engine.start(settings) as engine, ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(load, tools, engine, upstream.port, over) for _ in range(4)]
        while engine.flush() < 50:
            pass
        began = time.monotonic()
        os.kill(engine.pid, signal.SIGTERM)
        assert engine._process.wait(tools.TIMEOUT_S) == 0
        assert time.monotonic() - began < settings.drain_s + 5.0
        over.set()
        answered = sum(call.result() for call in calls)
    assert answered >= 50
    with TapeReader.open(settings.tape) as tape:
        found = [one for one in tape.history("implicit").exchanges if one.ending == "complete"]
    assert len(found) >= answered
    assert damage(settings.tape) == []


DIES = """
import faultwire.tape.record.writer as writer
stock = writer.TapeWriter._batch
seen = []
def batch(self, items):
    seen.extend(items)
    if len(seen) > 3:
        raise SystemExit  # what ends a thread without a word
    return stock(self, items)
writer.TapeWriter._batch = batch
"""


def test_a_writer_thread_that_dies_fails_the_tape_and_the_run(
    tools: Any, settings: Any, upstream: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tests import interpreter

    (tmp_path / "dies").mkdir()
    (tmp_path / "dies" / "sitecustomize.py").write_text(DIES)
    monkeypatch.setattr(sys, "executable", str(interpreter.make(tmp_path / "python", [tmp_path / "dies"])))
    upstream.answer("/", b"{}")
    with Engine.start(settings) as engine:
        handle = engine.open_session("unwritten", tools.CALM, 1)
        status = 200
        with (
            contextlib.suppress(EOFError),
            tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client,
        ):
            while status == 200:
                client.post("/", b"{}")
                status, _, body = client.response()
        assert (status, tools.error_of(body)["type"]) == (503, "faultwire_tape")
        summary = engine.close_session("unwritten")
    assert any("the tape cannot be written" in why for why in summary.voids)
