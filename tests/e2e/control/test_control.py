"""Faults that are armed on a running proxy, by the commands that a user types."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import environments
import pytest
from tests.e2e.exec.test_proxy import curl, ended, running

from faultwire.mitm.engine.control_client import ControlClient
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

COMMAND = [sys.executable, "-m", "faultwire"]
STATUS = "status: {code: 503}"
WITHIN_S = 1.0


class Proxy:
    """The proxy that runs here, and its calls by curl."""

    def __init__(self, here: Path) -> None:
        self.here = here
        (self.run,) = (here / ".faultwire" / "runs").iterdir()
        self.about = json.loads((self.run / "run.json").read_text())
        exports = subprocess.run(
            [*COMMAND, "env", "--format", "json"], cwd=here, capture_output=True, check=True
        )
        changed = json.loads(exports.stdout)
        self.env = {k: v for k, v in {**os.environ, **changed}.items() if v is not None}

    def call(self, said: str = "Hello", *headers: str, limit_s: float = 30) -> str:
        """The status of a call; `000` where none came."""
        more = "".join(f" -H '{one}'" for one in headers)
        words = curl(said).replace("curl -sS", f"curl -sS --max-time {limit_s}{more}")
        done = subprocess.run(["sh", "-c", words], env=self.env, capture_output=True, timeout=60)
        return done.stdout.decode()

    def calls(self, count: int, *headers: str) -> list[str]:
        return [self.call("Hello", *headers) for _ in range(count)]

    def client(self) -> ControlClient:
        return ControlClient.at(Path(self.about["control"]))

    def listed(self) -> list[dict[str, Any]]:
        client = self.client()
        try:
            return client.ask({"op": "armed"})["interventions"]
        finally:
            client.close()

    def why(self, limit_s: float = 15.0) -> str:
        """Why the newest intervention is disarmed, once it is."""
        ends = time.monotonic() + limit_s
        while time.monotonic() < ends:
            newest = self.listed()[-1]
            if newest["state"] == "disarmed":
                return str(newest["why"])
            time.sleep(0.02)
        raise AssertionError(self.listed())

    @contextmanager
    def armed(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """A controller, from the moment in which it has armed something."""
        command = [*COMMAND, "control", "arm", *words]
        with subprocess.Popen(command, cwd=self.here, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as one:
            try:
                assert one.stderr is not None
                line = one.stderr.readline()
                assert line.startswith(b"armed a"), line + one.stderr.read()
                yield one
            finally:
                if one.poll() is None:
                    one.kill()


class Direct:
    """Calls through the proxy without a process each."""

    def __init__(self, proxy: Proxy) -> None:
        self._place = ("127.0.0.1", proxy.about["port"])

    def call(self, *headers: str, wait_s: float = 20.0) -> int:
        body = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
        more = "".join(f"{one}\r\n" for one in headers).encode()
        head = (
            b"POST http://api.openai.com/v1/chat/completions HTTP/1.1\r\nhost: api.openai.com\r\n"
            b"authorization: Bearer any\r\ncontent-type: application/json\r\n%s"
            b"content-length: %d\r\n\r\n" % (more, len(body))
        )
        with socket.create_connection(self._place, wait_s) as sock:
            sock.sendall(head + body)
            return int(sock.makefile("rb").readline().split()[1])


@contextmanager
def a_proxy(here: Path, *options: str) -> Iterator[tuple[Proxy, subprocess.Popen[bytes]]]:
    with running(here, *options) as process:
        yield Proxy(here), process


@pytest.mark.cold
def test_faults_are_armed_and_a_killed_controller_leaves_calm(here: Path) -> None:
    with a_proxy(here) as (proxy, process):
        assert proxy.call() == "200"
        with proxy.armed("--fault", STATUS) as controller:
            assert proxy.calls(2) == ["503", "503"]
            os.kill(controller.pid, signal.SIGKILL)
            controller.wait()
            assert proxy.why() == "its controller ended"
            assert proxy.calls(2) == ["200", "200"]
        _, err = ended(process, signal.SIGTERM)
    assert process.returncode == 0
    assert b"runtime control: a1 fired on 2 calls of 1 session, its controller ended" in err
    tape = Path(proxy.about["tape"])
    found = verify(here / tape, KeyRing(here / ".faultwire" / "keys").trusted())
    assert [one.code for one in found.findings] == []
    with TapeReader.open(here / tape) as reader:
        notes = [(one.code, one.text) for one in reader.notes()]
        fired = [[f.id for f in one.faults if f.outcome == "fired"] for one in reader.exchanges()]
    assert [code for code, _ in notes] == ["control.armed", "control.disarmed"]
    assert f"process {controller.pid} of user {os.getuid()}" in notes[0][1]
    assert '"code": 503' in notes[0][1]
    assert fired == [[], ["a1/status"], ["a1/status"], [], []]
    shown = subprocess.run([*COMMAND, "tape", "show", str(tape)], cwd=here, capture_output=True, text=True)
    assert "control.armed" in shown.stderr
    words = ("exec", "--replay", str(tape), "--", "sh", "-c", "; ".join([curl("Hello")] * 5))
    replayed = subprocess.run([*COMMAND, *words], cwd=here, capture_output=True, text=True, timeout=120)
    assert (replayed.stdout, replayed.returncode) == ("200503503200200", 0), replayed.stderr
    assert "the replay arms none of them" in replayed.stderr


@pytest.mark.cold
def test_a_controller_that_hangs_leaves_calm(here: Path) -> None:
    with a_proxy(here) as (proxy, _), proxy.armed("--fault", STATUS) as controller:
        os.kill(controller.pid, signal.SIGSTOP)
        assert proxy.why() == "its controller said nothing for 3 s"
        assert proxy.call() == "200"
        os.kill(controller.pid, signal.SIGCONT)
        assert controller.wait(30) == 1


@pytest.mark.cold
def test_what_waits_is_let_go_when_it_is_disarmed(here: Path) -> None:
    with a_proxy(here) as (proxy, _), ThreadPoolExecutor(1) as pool:
        with proxy.armed("--fault", "latency: {ms: 600000}") as controller:
            waiting = pool.submit(proxy.call, "Hello")
            while not proxy.listed()[0]["calls"]:
                time.sleep(0.05)
            controller.send_signal(signal.SIGINT)
            assert controller.wait(30) == 130
        assert waiting.result(20) == "200"


def test_an_official_sdk_retries_one_armed_fault_and_succeeds(here: Path) -> None:
    agent = [
        str(environments.python("openai-3")),
        str(Path(environments.HERE) / "openai_agent.py"),
        "sync/whole",
    ]
    with a_proxy(here) as (proxy, _), proxy.armed("--fault", STATUS, "--max-calls", "1"):
        env = {**proxy.env, "OPENAI_API_KEY": "any"}
        done = subprocess.run(agent, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert proxy.listed()[0]["fired"] == 1
    assert "rivers" in done.stdout or "text" in done.stdout


SESSIONS = [f"baggage: faultwire-session=s{number}" for number in range(40)]


def hit(direct: Direct, heads: Sequence[str], at_once: int = 1) -> list[str]:
    """The heads of the calls that a fault has hit."""
    with ThreadPoolExecutor(at_once) as pool:
        return [head for head, got in zip(heads, pool.map(direct.call, heads), strict=True) if got == 503]


def test_no_more_sessions_than_the_proxy_allows_however_many_call_at_once(here: Path) -> None:
    with a_proxy(here, "--control-sessions", "3", "--control-calls", "25") as (proxy, _):
        for words, allowed in ((("--max-sessions", "4"), b"3"), (("--max-calls", "26"), b"25")):
            refused = subprocess.run(
                [*COMMAND, "control", "arm", "--fault", STATUS, *words], cwd=here, capture_output=True
            )
            assert refused.returncode == 2
            assert b"this proxy allows %s at most" % allowed in refused.stderr
        direct = Direct(proxy)
        with proxy.armed("--fault", STATUS), proxy.armed("--fault", STATUS):
            found = hit(direct, SESSIONS * 10, at_once=24)
        assert len(set(found)) == 3
        assert 0 < len(found) <= 25
        # Two of them may touch the same call, and each takes a place for it.
        assert len(found) <= sum(one["calls"] for one in proxy.listed()) <= 25
        with proxy.armed("--fault", STATUS):
            assert hit(direct, SESSIONS) == []  # the limit is the proxy's, for as long as it runs


def test_no_more_calls_than_a_controller_allows_however_many_come_at_once(here: Path) -> None:
    with a_proxy(here) as (proxy, _), proxy.armed("--fault", STATUS, "--max-calls", "7"):
        assert len(hit(Direct(proxy), SESSIONS * 5, at_once=24)) == 7


def test_a_share_is_of_sessions_and_of_the_same_ones_each_time(here: Path) -> None:
    with a_proxy(here) as (proxy, _):
        direct = Direct(proxy)
        with proxy.armed("--fault", STATUS, "--share", "0.3"):
            first, again = hit(direct, SESSIONS), hit(direct, SESSIONS)
        assert 0 < len(first) <= 0.3 * len(SESSIONS)
        assert again == first
        with proxy.armed("--fault", STATUS):
            assert hit(direct, SESSIONS) == SESSIONS


def test_by_session_and_by_header(here: Path) -> None:
    with a_proxy(here) as (proxy, _):
        words = ("--session", "web-*", "--session-by", "x-conversation", "--header", "x-tier=beta")
        with proxy.armed("--fault", STATUS, *words):
            assert proxy.call("a", "x-conversation: web-1", "x-tier: beta") == "503"
            assert proxy.call("a", "x-conversation: job-1", "x-tier: beta") == "200"
            assert proxy.call("a", "x-conversation: web-1") == "200"


def test_a_window_begins_and_ends_by_itself(here: Path) -> None:
    with a_proxy(here) as (proxy, _):
        direct = Direct(proxy)
        with proxy.armed("--fault", STATUS, "--after", "600"):
            assert [direct.call() for _ in range(3)] == [200] * 3
        with proxy.armed("--fault", STATUS, "--after", "1", "--for", "2") as controller:
            while direct.call() != 503:
                assert controller.poll() is None
            assert controller.wait(30) == 0
            assert direct.call() == 200
            assert proxy.listed()[-1]["why"] == "its window is over"


def test_costs_abort(here: Path) -> None:
    with (
        a_proxy(here) as (proxy, _),
        proxy.armed("--fault", "latency: {ms: 1}", "--abort-cost", "0") as controller,
    ):
        assert proxy.call() == "200"
        assert controller.wait(30) == 1
        assert proxy.why().startswith("aborted: models cost 0.0")


def test_somebody_else_disarms(here: Path, faultwire: Any) -> None:
    assert faultwire("control", "list").returncode == 2  # no proxy runs
    with a_proxy(here) as (proxy, _), proxy.armed("--fault", STATUS) as controller:
        listed = faultwire("control", "list")
        assert b"a1 (status) armed" in listed.stdout
        assert faultwire("control", "disarm").returncode == 0
        assert controller.wait(30) == 1
        assert proxy.call() == "200"


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which needs root")
def test_the_control_socket_is_for_its_own_user_alone(here: Path) -> None:
    with a_proxy(here) as (proxy, _):
        path = proxy.about["control"]
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        os.chmod(path, 0o777)  # even where file and folder would let others in, the engine does not
        Path(path).parent.chmod(0o755)
        asks = (
            "import os,socket,sys; os.setgid(65534); os.setuid(65534); s=socket.socket(socket.AF_UNIX);"
            's.connect(sys.argv[1]); s.sendall(b\'{"op": "armed"}\\n\'); print(len(s.recv(99)))'
        )
        done = subprocess.run([sys.executable, "-c", asks, path], capture_output=True, text=True, timeout=60)
        turned_away = ("Connection reset", "Broken pipe", "Permission denied")
        assert done.stdout.strip() == "0" or any(one in done.stderr for one in turned_away), done.stderr


# ---------------------------------------------------------------- aborts, again and again


def one_trial(proxy: Proxy, direct: Direct, kind: str, flag: Path) -> float:
    """The seconds from the instant at which a threshold is passed to calm."""
    flag.touch()
    conditions: dict[str, Sequence[str]] = {
        "errors": ("--fault", STATUS, "--abort-error-rate", "0.5", "--abort-min-calls", "3"),
        "latency": (
            *("--fault", "latency: {ms: 60000}", "--abort-latency", "0.3", "--abort-min-calls", "1"),
        ),
        "health": ("--fault", STATUS, "--abort-health", f"test -e {flag}", "--health-every", "0.1"),
    }
    with proxy.armed(*conditions[kind]) as controller:
        if kind == "errors":
            assert [direct.call() for _ in range(3)] == [503] * 3
            passed = time.monotonic()
        elif kind == "latency":
            passed = time.monotonic() + 0.3
            assert direct.call() == 200
            took = time.monotonic() - passed
        else:
            assert direct.call() == 503
            flag.unlink()
            passed = time.monotonic()
        if kind != "latency":
            while direct.call() != 200:
                pass
            took = time.monotonic() - passed
        assert controller.wait(30) == 1
    assert direct.call() == 200
    return took


def trials(here: Path, count: int) -> list[tuple[str, float]]:
    kinds = ("errors", "latency", "health")
    with a_proxy(here) as (proxy, _):
        direct = Direct(proxy)
        found = []
        for number in range(count):
            kind = kinds[number % 3]
            found.append((kind, one_trial(proxy, direct, kind, here / "well")))
    return found


def test_an_abort_is_done_within_a_second(here: Path) -> None:
    found = trials(here, 3)
    assert all(took <= WITHIN_S for _, took in found), found


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(4))
def test_100_of_100_aborts_are_done_within_a_second(here: Path, part: int) -> None:
    """25 of 25, four times: each part has a proxy of its own."""
    found = trials(here, 25)
    for kind in ("errors", "latency", "health"):
        took = sorted(one for what, one in found if what == kind)
        print(
            f"part {part}, {kind}: {len(took)} aborts, slowest {took[-1]:.3f} s, {took[len(took) // 2]:.3f} s"
        )
    assert sum(took <= WITHIN_S for _, took in found) == 25, found
