"""`faultwire proxy --engines`: real processes, real clients, sessions that their clients name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
from tests.e2e.engines.test_engines import content, gone, names
from tests.e2e.exec.conftest import here as here

from faultwire.mitm.engine.control_client import ControlClient
from faultwire.runner import closed_tape
from faultwire.tape.read.reader import TapeReader

COMMAND = [sys.executable, "-m", "faultwire"]
CLIENTS = 64
CALLS = 6
FAULTS = (
    "--fault", "{status: {code: 503}, trigger: {probability: 0.4}}",
    "--fault", "{status: {code: 429}, trigger: {every: 5}}",
)  # fmt: skip
URL = "https://api.openai.com/v1/chat/completions"

pytestmark = pytest.mark.cold


class Proxy:
    """A running proxy, and what it said."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process, self.folder = process, folder
        (self.run,) = (folder / ".faultwire" / "runs").iterdir()

    @property
    def about(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run / "run.json").read_text())
        return found

    @property
    def endpoint(self) -> dict[str, Any]:
        found: dict[str, Any] = self.about["endpoint"]
        return found

    def url(self, session: str) -> str:
        """The proxy for a session."""
        user, _, rest = self.endpoint["session_url"].removeprefix("http://").partition(":")
        return f"http://{user}.{session}:{rest}"

    def base(self, session: str, route: str) -> str:
        return f"{self.endpoint['base_url']}.{session}/{route}"

    def end(self, sent: signal.Signals = signal.SIGTERM) -> str:
        self.process.send_signal(sent)
        return self.process.communicate(timeout=120)[1]


@contextmanager
def proxy(here: Path, *options: str) -> Iterator[Proxy]:
    """One that says that it is ready; killed if the test left it running."""
    here.mkdir(exist_ok=True)
    command = [*COMMAND, "proxy", *options]
    with subprocess.Popen(
        command, cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            said = ""
            while not said.endswith("ready\n"):
                line = process.stderr.readline()
                assert line, said
                said += line
            yield Proxy(process, here)
        finally:
            if process.poll() is None:
                process.kill()


def statuses(one: Proxy, sessions: list[str], *, base_url: bool = False) -> dict[str, list[int]]:
    """What each session's client, all in one process of their own, is answered."""
    clients = [
        {
            "session": name,
            "proxy": None if base_url else one.url(name),
            "url": f"{one.base(name, 'openai')}/chat/completions" if base_url else URL,
        }
        for name in sessions
    ]
    plan = one.folder / "plan.json"
    plan.write_text(json.dumps({"verify": one.endpoint["bundle"], "calls": CALLS, "clients": clients}))
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("named_clients.py"), plan],
        capture_output=True, timeout=300, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("capture", ["env", "base-url"])
def test_64_clients_on_two_engines_get_the_faults_that_they_get_on_one(capture: str, here: Path) -> None:
    wanted = [f"client-{number}" for number in range(CLIENTS)]
    key = here / "one" / ".faultwire" / "keys"
    found: dict[str, Any] = {}
    for label, engines, seed in (("one", "1", "7"), ("two", "2", "7"), ("other", "2", "8")):
        folder = here / label
        folder.mkdir()
        if label != "one":  # keys of exchanges are made with the project's secret
            subprocess.run(["cp", "-r", "--parents", ".faultwire/keys", folder], cwd=here / "one", check=True)
        options = ("--mock", "--engines", engines, "--seed", seed, *FAULTS, "--capture", capture)
        with proxy(folder, *options) as started:
            answered = statuses(started, wanted, base_url=capture == "base-url")
            pids = started.about.get("engine_pids", [started.about["engine_pid"]])
            said = started.end()
        assert started.process.returncode == 0, said
        assert started.about["status"] == "finished"
        assert all(gone(pid) for pid in pids)
        closed_tape.check(started.run / "run.tape")
        with TapeReader.open(started.run / "run.tape") as tape:
            assert tape.ledger_hash() == started.about["ledger"]
        told = content(started.run / "run.tape")
        told.pop("proxy", None)  # the session of what names none has no calls
        assert {name: len(calls) for name, calls in told.items()} == dict.fromkeys(wanted, CALLS)
        found[label] = (answered, told)
        if engines == "2":
            parts = [names(part) & set(wanted) for part in sorted((started.run / "tapes").glob("*.tape"))]
            assert sorted(map(len, parts)) == [CLIENTS // 2 - 1, CLIENTS // 2 + 1] or (
                sorted(map(len, parts)) == [CLIENTS // 2, CLIENTS // 2]
            )
            assert not parts[0] & parts[1]
    assert key.is_dir()
    assert found["one"] == found["two"]
    kinds = {status for answers in found["one"][0].values() for status in answers}
    assert kinds == {200, 503, 429}
    assert found["two"][0] != found["other"][0]  # the control: another seed is another run


@pytest.mark.cold
def test_clients_of_a_killed_engine_get_a_503_within_a_second_and_the_others_go_on(here: Path) -> None:
    with proxy(here, "--mock", "--capture", "base-url", "--engines", "2") as started:
        first, second = on_each_engine(started)
        os.kill(started.about["engine_pids"][1], signal.SIGKILL)
        began = monotonic()
        found = refused(started, second)
        assert monotonic() - began < 1.0
        assert found == (503, "faultwire_engine", "engine 2 of this proxy has ended")
        assert asked(started, first).status_code == 200
        assert asked(started, "a-new-one").status_code == 200
        said = started.end()
    assert started.process.returncode == 3
    assert "WARNING: engine 2 of 2 ended with code `-9`: its sessions get a 503" in said
    assert "engine.lost: engine 2 of 2 ended with code `-9`" in said
    assert (started.about["status"], started.about["error"]) == ("void", "engine.lost")
    assert not (started.run / "run.tape").exists()


def asked(one: Proxy, session: str) -> httpx.Response:
    """The answer to a call in base-URL mode, on a connection of its own."""
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}
    url, headers = f"{one.base(session, 'openai')}/chat/completions", {"authorization": "Bearer any"}
    return httpx.post(url, json=body, headers=headers, trust_env=False, timeout=30)


def refused(one: Proxy, session: str) -> tuple[int, str, str]:
    """The first answer of the proxy's own to a session's call: status, type, message. A connection that was
    given to the engine just before its end was heard ends without one, and is made again."""
    began = monotonic()
    while monotonic() - began < 10:
        try:
            answer = asked(one, session)
        except httpx.TransportError:
            continue
        error = answer.json()["error"]
        return answer.status_code, error["type"], error["message"]
    raise AssertionError("no answer came")


def on_each_engine(one: Proxy) -> tuple[str, str]:
    """A session on the first engine and one on the second."""
    for name in ("a", "b"):
        assert asked(one, name).status_code == 200
    first, second = (on_engine(one, number) - {"proxy"} for number in (1, 2))
    return first.pop(), second.pop()


def on_engine(one: Proxy, number: int) -> set[str]:
    """The sessions that an engine says it has open."""
    with closing(ControlClient.at(Path(one.about["controls"][number - 1]))) as engine:
        return set(engine.ask({"op": "stats"})["sessions"])


class Stream(BaseHTTPRequestHandler):
    """Sends one event, and another once it may."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"data: one\n\n")
        assert self.server.may.wait(60)  # type: ignore[attr-defined]
        self.wfile.write(b"data: two\n\n")

    def log_message(self, *_arguments: object) -> None:
        """Say nothing: the test asserts on what comes out."""


@contextmanager
def streaming() -> Iterator[tuple[str, threading.Event]]:
    """A server's URL, and what its streams wait for."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Stream) as server:
        server.may = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", server.may  # type: ignore[attr-defined]
        server.may.set()  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()


def test_a_drained_engine_finishes_a_stream_and_seals_its_tape_while_the_others_go_on(here: Path) -> None:
    with (
        streaming() as (server, may),
        proxy(
            here, "--mock", "--capture", "base-url", "--reverse", f"feed={server}", "--engines", "2"
        ) as started,
    ):
        first, second = on_each_engine(started)
        with httpx.stream("GET", started.base(second, "feed/"), trust_env=False, timeout=60) as response:
            pieces = response.iter_bytes()
            assert next(pieces) == b"data: one\n\n"
            command = [*COMMAND, "control", "drain", "2"]
            with subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True) as draining:
                assert draining.stderr is not None
                assert draining.stderr.readline() == "engine 2 of 2 takes no new sessions\n"
                new = ["d", "e", "f"]
                assert [asked(started, name).status_code for name in new] == [200, 200, 200]
                assert set(new) <= on_engine(started, 1)
                assert draining.poll() is None  # it waits for the stream
                may.set()
                assert b"".join(pieces) == b"data: two\n\n"
                assert draining.wait(60) == 0
                assert "engine2.tape` verifies" in draining.stderr.read()
        assert started.about["drained"] == [2]
        assert gone(started.about["engine_pids"][1])
        closed_tape.check(started.folder / started.about["tapes"][1])
        assert asked(started, first).status_code == 200
        said = started.end()
    assert started.process.returncode == 0, said
    assert started.about["status"] == "finished"
    told = content(started.run / "run.tape")
    assert {first, second, *new} <= set(told)
    with TapeReader.open(started.run / "run.tape") as tape:
        (streamed,) = [one for one in tape.history(second).exchanges if "feed" in one.request.url or
                       one.request.url.startswith(server)]  # fmt: skip
        assert streamed.delivered is not None
        assert streamed.delivered.body == b"data: one\n\ndata: two\n\n"


def test_a_call_of_a_session_whose_engine_was_drained_is_refused_and_makes_the_run_void(here: Path) -> None:
    with proxy(here, "--mock", "--capture", "base-url", "--engines", "2") as started:
        _, second = on_each_engine(started)
        done = subprocess.run([*COMMAND, "control", "drain", "2"], cwd=here, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert refused(started, second) == (
            503, "faultwire_engine", "the engine of this session was drained"
        )  # fmt: skip
        said = started.end()
    assert started.process.returncode == 3
    assert "1 connection of sessions whose engine was drained got a 503" in said


def test_who_names_a_session_without_the_token_is_turned_away(here: Path) -> None:
    with proxy(here, "--mock", "--engines", "2") as started:
        user, _, rest = started.url("x").removeprefix("http://").partition(":")
        wrong = f"http://{user}:{'0' * 32}@{rest.partition('@')[2]}"
        with httpx.Client(proxy=wrong, trust_env=False, timeout=30) as client:
            assert client.get("http://api.openai.com/v1/models").status_code == 407
        with httpx.Client(proxy=started.url("x"), trust_env=False, timeout=30) as client:
            assert client.get("http://api.openai.com/v1/models").status_code == 200  # the control
        started.end()
    assert set(content(started.run / "run.tape")) - {"proxy"} == {"x"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engines", "2", "--ui"), "found --engines with --ui, expected one of them"),
        (("--engines", "2", "--control-calls", "3"), "found --engines with --control-calls"),
        (("--engines", "2", "--redirected", "9999"), "found --engines with --redirected"),
    ],
    ids=["the_page", "limits_of_control", "redirected"],
)
def test_what_needs_one_engine_is_refused_with_several(
    options: tuple[str, ...], said: str, here: Path
) -> None:
    done = subprocess.run([*COMMAND, "proxy", *options], cwd=here, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (here / ".faultwire" / "runs").exists()


def test_faults_are_not_armed_on_one_engine_of_several(here: Path) -> None:
    with proxy(here, "--mock", "--engines", "2") as started:
        command = [*COMMAND, "control", "arm", "--fault", "status: {code: 503}"]
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2, done.stderr
        assert "control.engines: found a proxy with several engines, expected one" in done.stderr
        started.end()
