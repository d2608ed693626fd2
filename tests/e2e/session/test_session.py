"""`faultwire.session` in a suite of unittest and in a plain program: real proxies, real SDKs as agents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.agents import environments

import faultwire
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify

CUT = "cut_stream: {after_events: 3}"
BODY = '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "rivers"}], "stream": true}'
URL = "https://api.openai.com/v1/chat/completions"
HEADERS = {"authorization": "Bearer sk-test-key-of-nobody", "content-type": "application/json"}
AGENT = """
import openai
client = openai.OpenAI(api_key="sk-test-key-of-nobody", max_retries=0)
asked = [{"role": "user", "content": "Tell me about rivers."}]
said = 0
try:
    for chunk in client.chat.completions.create(model="gpt-4o-mini", messages=asked, stream=True):
        said += len(chunk.choices)
    print("ended", said)
except Exception as error:
    print(type(error).__name__, said)
"""
SUITE = """
import os, subprocess, unittest
import httpx
import faultwire

URL = "https://api.openai.com/v1/chat/completions"
HEADERS = {"authorization": "Bearer sk-test-key-of-nobody", "content-type": "application/json"}


class Cut(unittest.TestCase):
    def setUp(self):
        self.session = faultwire.session(fault="CUT", seed=7, mock=True)
        self.traffic = self.session.__enter__()
        self.addCleanup(self.over)

    def over(self):
        self.session.__exit__(None, None, None)
        (fired,) = self.traffic.history.fired
        assert fired.fault == "cut_stream", fired
        assert not [name for name in os.environ if name.lower() == "https_proxy"]

    def test_a_client_in_this_process(self):
        with self.assertRaises(httpx.RemoteProtocolError):
            httpx.post(URL, content=BODY, headers=HEADERS, timeout=30)
        (exchange,) = self.traffic.exchanges
        self.assertEqual((exchange.kind, exchange.protocol, exchange.ending), ("llm", "openai_chat", "cut"))

    def test_an_agent_in_a_process_of_its_own(self):
        done = subprocess.run([os.environ["AGENT_PYTHON"], "agent.py"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "RemoteProtocolError 3\\n", done.stderr)
        self.assertEqual(len(self.traffic.exchanges), 1)


class Quiet(unittest.TestCase):
    def test_a_session_that_fires_nothing_fails(self):
        with faultwire.session(fault="{status: {code: 503}, on: {host: elsewhere.example}}", mock=True):
            httpx.post(URL, content=BODY, headers=HEADERS, timeout=30)
""".replace("CUT", CUT).replace("BODY", repr(BODY))


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, and an environment without anybody's proxy settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("FAULTWIRE_", "SSL_CERT")):
            monkeypatch.delenv(name)


@pytest.mark.nightly
def test_a_suite_of_unittest(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "agent.py").write_text(AGENT)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    env = {**os.environ, "PYTHONPATH": path, "AGENT_PYTHON": str(environments.python("openai-2"))}
    command = [sys.executable, "-W", "error::ResourceWarning", "-m", "unittest", "-v", "test_suite"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=240)
    assert "Ran 3 tests" in done.stderr, done.stderr
    assert "FAILED (errors=1)" in done.stderr, done.stderr
    assert "test_a_session_that_fires_nothing_fails (test_suite.Quiet" in done.stderr
    assert "run.unfired: no fault fired, so the session proves nothing" in done.stderr
    tapes = sorted(tmp_path.glob(".faultwire/runs/*/run.tape"))
    assert len(tapes) == 3
    keys = KeyRing(tmp_path / ".faultwire" / "keys").trusted()
    reports = [verify(tape, keys, demanded=True) for tape in tapes]
    assert [(report.findings, report.trusted) for report in reports] == [([], True)] * 3


def ask(env: dict[str, str] | None = None) -> int:
    body = BODY.replace("true", "false")
    script = (
        f"import httpx\nheaders = {HEADERS!r}\nurl = {URL!r}\n"
        f"print(httpx.post(url, content={body!r}, headers=headers, timeout=30).status_code)"
    )
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
    return int(done.stdout) if done.returncode == 0 else -done.returncode


@pytest.mark.nightly
def test_two_at_a_time_leave_this_process_alone() -> None:
    before = dict(os.environ)
    with (
        faultwire.session(fault="status: {code: 503}", mock=True, environ=False) as broken,
        faultwire.session(mock=True, environ=False) as calm,
    ):
        assert dict(os.environ) == before
        assert (ask(broken.env), ask(calm.env)) == (503, 200)
    (fired,) = broken.history.fired
    assert (fired.fault, fired.outcome, fired.reason != "") == ("status", "fired", True)
    assert calm.history.fired == ()
    assert broken.tape != calm.tape


@pytest.mark.nightly
def test_a_session_does_not_call_servers_through_another_one() -> None:
    """What the first one set is no proxy of the user's: through it, its mock would answer 501."""
    with (
        faultwire.session(mock=True, allow_no_traffic=True) as first,
        faultwire.session(environ=False) as second,
    ):
        assert os.environ["HTTPS_PROXY"] == first.proxy_url
        command = ["curl", "-sS", "-o", os.devnull, "-w", "%{http_code}", "https://nobody.invalid/"]
        done = subprocess.run(command, env=second.env, capture_output=True, check=True)
        assert done.stdout == b"502"
    assert first.history.exchanges == ()


def test_the_environment_is_one_session_s(tmp_path: Path) -> None:
    before = dict(os.environ)
    with faultwire.session("stream_chaos", mock=True, record=tmp_path / "t.tape", allow_unfired=True) as one:
        assert os.environ["HTTPS_PROXY"] == one.proxy_url
        assert one.ca_file.is_file()
        with (
            pytest.raises(faultwire.UsageError, match="another session"),
            faultwire.session(mock=True),
        ):
            pass
        with pytest.raises(faultwire.UsageError, match="still open"):
            _ = one.history
        assert ask() == 200
    assert dict(os.environ) == before
    assert one.tape == tmp_path / "t.tape"
    assert [said.status for e in one.history.exchanges if (said := e.delivered)] == [200]


@pytest.mark.nightly
def test_a_session_without_traffic_is_void() -> None:
    with (
        pytest.raises(faultwire.CaptureError, match="nothing came through the proxy"),
        faultwire.session(mock=True),
    ):
        pass
    with faultwire.session(mock=True, allow_no_traffic=True) as one:
        pass
    assert one.history.exchanges == ()


def test_an_error_of_the_block_goes_on_with_a_note() -> None:
    with pytest.raises(ZeroDivisionError) as raised, faultwire.session(mock=True):
        raise ZeroDivisionError
    assert "nothing came through the proxy" in raised.value.__notes__[0]
    assert "HTTPS_PROXY" not in os.environ


@pytest.mark.cold
def test_a_session_whose_engine_is_gone_is_void() -> None:
    with pytest.raises(faultwire.FaultwireError, match="the engine"), faultwire.session(mock=True) as one:
        os.kill(int(one._run.engine.pid), 9)
