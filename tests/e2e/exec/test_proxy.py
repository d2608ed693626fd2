"""`faultwire proxy` and `faultwire env`: an agent that somebody else starts."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Faultwire = Callable[..., subprocess.CompletedProcess[bytes]]

COMMAND = [sys.executable, "-m", "faultwire"]
URL = "https://api.openai.com/v1/chat/completions"


def curl(said: str) -> str:
    body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": said}]})
    headers = "-H 'content-type: application/json' -H 'authorization: Bearer any'"
    return f"curl -sS -o /dev/null -w '%{{http_code}}' {headers} -d '{body}' {URL}"


@contextmanager
def running(here: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A proxy that says that it is ready; killed if the test left it running."""
    command = [*COMMAND, "proxy", "--mock", *options]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            said = b""
            while not said.endswith(b"ready\n"):
                line = process.stderr.readline()
                assert line, said
                said += line
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def ended(process: subprocess.Popen[bytes], sent: signal.Signals) -> tuple[bytes, bytes]:
    process.send_signal(sent)
    return process.communicate(timeout=60)


@pytest.mark.cold
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_shell_that_evals_the_exports_goes_through_it(
    sent: signal.Signals, code: int, here: Path, faultwire: Faultwire
) -> None:
    with running(here, "--fault", "status: {code: 503, first: 1}") as process:
        script = f'eval "$({sys.executable} -m faultwire env)"; {curl("Hello")}; {curl("Goodbye")}'
        shell = subprocess.run(["sh", "-c", script], cwd=here, capture_output=True, timeout=60)
        assert shell.stdout == b"503200", shell.stderr
        out, errors = ended(process, sent)
    assert process.returncode == code
    assert b"exchanges  2: 2 llm\nfaults     1 fired\n" in errors
    assert b"export HTTPS_PROXY=http://127.0.0.1:" in out
    assert faultwire("env").returncode == 2


@pytest.mark.cold
def test_a_call_in_flight_ends_before_the_proxy_does(here: Path) -> None:
    with running(here, "--fault", "latency: {ms: 1500}") as process:
        script = f'eval "$({sys.executable} -m faultwire env)"; {curl("Hello")}'
        with subprocess.Popen(["sh", "-c", script], cwd=here, stdout=subprocess.PIPE) as shell:
            until_live(here)
            _, errors = ended(process, signal.SIGTERM)
            assert shell.communicate(timeout=60)[0] == b"200"
    assert process.returncode == 0
    assert b"exchanges  1: 1 llm\nfaults     1 fired\n" in errors


def until_live(here: Path) -> None:
    """Ask the engine until a call is in flight."""
    (run,) = (here / ".faultwire" / "runs").iterdir()
    path = json.loads((run / "run.json").read_text())["control"]
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(path)
        lines = control.makefile("rb")
        live = 0
        while not live:
            control.sendall(b'{"op": "stats"}\n')
            live = json.loads(lines.readline())["live"]


@pytest.mark.cold
def test_json_states_how_to_reach_it(here: Path, faultwire: Faultwire) -> None:
    with running(here, "--format", "json") as process:
        changed = json.loads(faultwire("env", "--format", "json").stdout)
        out, _ = ended(process, signal.SIGTERM)
    told: dict[str, Any] = json.loads(out)
    assert told["environment"] == changed
    assert changed["HTTPS_PROXY"] == told["proxy_url"]
    assert Path(told["bundle"]).is_file()
    about = json.loads((here / told["run"] / "run.json").read_text())
    assert (about["status"], about["command"]) == ("finished", "proxy")


def test_a_proxy_that_was_killed_is_not_offered(here: Path, faultwire: Faultwire) -> None:
    with running(here) as process:
        process.kill()
        process.wait()
        # The engine ends with it; until then the port may still answer.
        (run,) = (here / ".faultwire" / "runs").iterdir()
        engine = json.loads((run / "run.json").read_text())["engine_pid"]
        subprocess.run(["tail", f"--pid={engine}", "-f", "/dev/null"], timeout=60, check=True)
    done = faultwire("env")
    assert done.returncode == 2
    assert re.search(rb"proxy.not_running: .*\nhint: start one with `faultwire proxy`", done.stderr)


def test_an_engine_that_dies_ends_it_as_void(here: Path) -> None:
    with running(here) as process:
        (run,) = (here / ".faultwire" / "runs").iterdir()
        engine = json.loads((run / "run.json").read_text())["engine_pid"]
        subprocess.run(["kill", "-KILL", str(engine)], check=True)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"engine.lost: " in errors
