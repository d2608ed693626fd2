"""The pytest plugin in a test suite of its own: real proxies, tapes and agents."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

pytest_plugins = ("pytester",)
AGENTS = Path(__file__).parents[1] / "agents"
KEYS = {"OPENAI_API_KEY": "sk-test-key-of-nobody"}
CLIENT = """
import json, os
import httpx, pytest

def ask(text):
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}]}
    headers = {"authorization": "Bearer sk-test-0123456789abcdef0123456789"}
    answer = httpx.post("https://api.openai.com/v1/chat/completions", json=body, headers=headers, timeout=30)
    return answer
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty test suite, and an environment without anybody's proxy settings."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("FAULTWIRE_", "SSL_CERT", "NODE_", "PYTEST_")):
            monkeypatch.delenv(name)
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers -p no:asyncio\n")
    return pytester


def run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return suite.runpytest_subprocess(
        "-p", "faultwire.pytest", "-p", "no:cacheprovider", *arguments, timeout=240
    )


def calls(path: Path) -> list[str]:
    with TapeReader.open(path) as tape:
        return [json.loads(one.request.body or b"{}")["messages"][0]["content"] for one in tape.exchanges()]


def test_once_records_and_then_replays(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it=CLIENT
        + """
@pytest.mark.faultwire(tape="t", mock=True)
def test_a(faultwire):
    assert ask("rivers").status_code == 200
    assert (suite_replays := os.environ.get("EXPECT_REPLAY") == "1") == faultwire.replays
    assert [one.kind for one in faultwire.exchanges] == ["llm"]
"""
    )
    run(suite).assert_outcomes(passed=1)
    tape = suite.path / "tapes" / "t.tape"
    first = tape.read_bytes()
    assert calls(tape) == ["rivers"]
    assert sorted(path.name for path in tape.parent.iterdir()) == ["t.tape", "t.tape.seal"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPECT_REPLAY", "1")
        run(suite).assert_outcomes(passed=1)
        run(suite, "--faultwire-record", "none").assert_outcomes(passed=1)
    assert tape.read_bytes() == first
    assert not (suite.path / ".faultwire" / "tapes").exists()


@pytest.mark.nightly
def test_a_miss_fails_the_test_with_the_difference(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it=CLIENT
        + """
@pytest.mark.faultwire("t", mock=True)
def test_a():
    ask(os.environ.get("WORD", "which rivers are long"))
"""
    )
    run(suite).assert_outcomes(passed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORD", "which rivers are lone")
        done = run(suite)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*the test's traffic is not what the tape has",
            "*miss (changed prompt): POST https://api.openai.com/v1/chat/completions*",
            "*$.messages*content",
            "*- which rivers are long",
            "*+ which rivers are lone",
            "*not requested: pytest#1 POST*",
        ]
    )


@pytest.mark.nightly
def test_a_failing_test_is_shown_what_differed(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it=CLIENT
        + """
@pytest.mark.faultwire("t", mock=True)
def test_a():
    ask(os.environ.get("WORD", "rivers")).raise_for_status()
"""
    )
    run(suite).assert_outcomes(passed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORD", "lakes")
        done = run(suite)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*HTTPStatusError*422*", "*Captured faultwire call*", "*- rivers", "*+ lakes"])


@pytest.mark.nightly
def test_all_records_anew_and_new_episodes_adds(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it=CLIENT
        + """
@pytest.mark.faultwire("t", mock=True)
def test_a():
    for word in os.environ["WORDS"].split():
        assert ask(word).status_code == 200
    assert not os.environ.get("BREAK")
"""
    )
    tape = suite.path / "tapes" / "t.tape"
    with pytest.MonkeyPatch.context() as patch:
        for words, mode, expected in (
            ("rivers hills", "once", ["rivers", "hills"]),
            ("rivers lakes", "new_episodes", ["rivers", "lakes", "hills"]),
            ("hills lakes rivers", "none", ["rivers", "lakes", "hills"]),
            ("seas", "all", ["seas"]),
        ):
            patch.setenv("WORDS", words)
            run(suite, "--faultwire-record", mode).assert_outcomes(passed=1)
            assert calls(tape) == expected
            report = verify(tape, KeyRing(suite.path / ".faultwire" / "keys").trusted(), demanded=True)
            assert (report.findings, report.trusted) == ([], True)
            assert sorted(path.name for path in tape.parent.iterdir()) == ["t.tape", "t.tape.seal"]
        patch.setenv("FAULTWIRE_RECORD", "none")
        patch.setenv("WORDS", "hills")
        run(suite).assert_outcomes(failed=1)
        # A test that fails leaves the tape as it was.
        patch.setenv("BREAK", "1")
        before = tape.read_bytes()
        for mode in ("all", "new_episodes"):
            run(suite, "--faultwire-record", mode).assert_outcomes(failed=1)
            assert tape.read_bytes() == before
    assert calls(tape) == ["seas"]


@pytest.mark.nightly
def test_profiles_and_faults_need_no_tape(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it=CLIENT
        + """
@pytest.mark.faultwire(fault="status: {code: 503}", mock=True)
def test_broken():
    assert ask("rivers").status_code == 503

@pytest.mark.faultwire(fault="status: {code: 503, after_calls: 5}", mock=True)
def test_never_fired():
    assert ask("rivers").status_code == 200

@pytest.mark.faultwire(profile="calm", mock=True, allow_unfired=True)
def test_calm():
    assert ask("rivers").status_code == 200

def test_unmarked():
    assert "HTTPS_PROXY" not in os.environ
"""
    )
    done = run(suite)
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(["*no fault fired, so the test proves nothing*"])
    assert not (suite.path / "tapes").exists()


@pytest.mark.nightly
def test_chaos_on_a_tape(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it=CLIENT
        + """
@pytest.mark.faultwire("t", mock=True)
def test_1_calm():
    assert ask("rivers").status_code == 200

@pytest.mark.faultwire("t", fault="malformed_body: {}")
def test_2_broken(faultwire):
    assert faultwire.replays
    with pytest.raises(json.JSONDecodeError):
        ask("rivers").json()
"""
    )
    run(suite).assert_outcomes(passed=2)


def test_what_was_meant_otherwise_is_reported(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it="""
import pytest

@pytest.mark.faultwire(tapes="t")
def test_typo():
    pass

@pytest.mark.faultwire("t", record="none")
def test_no_tape():
    pass

@pytest.mark.faultwire("t", mock=True)
def test_no_traffic():
    pass

@pytest.mark.faultwire(fault="statis: {}")
def test_no_fault():
    pass
"""
    )
    done = run(suite)
    done.assert_outcomes(errors=3, failed=1)
    done.stdout.fnmatch_lines_random(
        [
            "*found `tapes`, expected an argument of the mark*",
            "*hint: did you mean `tape`?*",
            "*tape.not_found: no tape at *",
            "*no traffic reached the proxy; `allow_no_traffic` accepts that*",
            "*profile.unknown_fault*",
        ]
    )
    # pytest's closing summary repeats whole messages where it runs in CI, a first line elsewhere
    told, closing, _ = done.stdout.str().partition("short test summary info")
    assert closing
    assert told.count("hint: did you mean `tape`?") == 1, "it is said once"
    assert not (suite.path / "tapes" / "t.tape").exists()


@pytest.mark.nightly
def test_an_sdk_s_agent_in_its_own_process(suite: pytest.Pytester) -> None:
    """The official OpenAI SDK, unmodified, in an environment of its own: recorded, then replayed."""
    spec = importlib.util.spec_from_file_location("agent_environments", AGENTS / "environments.py")
    assert spec is not None
    assert spec.loader is not None
    environments = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(environments)
    command = [str(environments.python("openai-3")), str(AGENTS / "openai_agent.py"), "sync/stream", "tools"]
    suite.makepyfile(
        test_it=f"""
import json, os, subprocess
import pytest

def agent():
    done = subprocess.run({command!r}, env=dict(os.environ, **{KEYS!r}), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

@pytest.mark.faultwire(tape="agent", mock=True)
def test_a(faultwire):
    met = agent()
    assert met["tools"]["results"]
    assert met["sync/stream"]["text"]
    assert len(faultwire.exchanges) == 3
"""
    )
    run(suite).assert_outcomes(passed=1)
    shutil.rmtree(suite.path / ".faultwire" / "runs")
    run(suite, "--faultwire-record", "none").assert_outcomes(passed=1)
