"""`faultwire verify` with a model: agent, proxy and model are all asked, each through what a run uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faultwire.mock.client import Mock

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))

import environments

BESIDE = Path(__file__).with_name("beside.py")
KEY = "sk-test-key-of-nobody-1234567890abcdef"
SDKS = {"ollama-0": ("ollama", ""), "openai-2": ("openai", "/v1"), "anthropic-0": ("anthropic", "")}
SOME = [sdk if sdk == "ollama-0" else pytest.param(sdk, marks=pytest.mark.nightly) for sdk in SDKS]
WRITES = "turns: [{reply: {text: Which city is the French capital?}}]\n"
REFUSES = "turns: [{reply: {text: \"I'm sorry, but I can't help with that.\"}}]\n"
ABSENT = "turns: [{reply: {error: {status: 404, message: \"model 'a-model' not found\"}}}]\n"


@pytest.fixture
def mock(tmp_path: Path) -> Any:
    """A model's server for each script, gone after the test."""
    started: list[Mock] = []

    def start(script: str) -> Mock:
        path = tmp_path / f"script{len(started)}.yaml"
        path.write_text(script)
        started.append(Mock.start(path, log=tmp_path / "model.log"))
        return started[-1].__enter__()

    yield start
    for one in started:
        one.__exit__(None, None, None)


def faultwire(sdk: str | None, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    site = environments.python(sdk).parent / "site" if sdk else folder
    dropped = ("_proxy", "_api_key", "ollama_host")
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith(dropped)}
    return subprocess.run(
        [sys.executable, str(BESIDE), str(site), *arguments],
        cwd=folder,
        env=env | {"MODEL_KEY": KEY},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def verify(sdk: str, folder: Path, url: str, *, installed: bool = True) -> tuple[int, dict[str, Any], str]:
    """The exit code, the first finding of every subject, and all that was printed."""
    provider, path = SDKS[sdk]
    config = folder / "faultwire.yaml"
    if not config.exists():
        assert faultwire(None, folder, "init").returncode == 0
        config.write_text(config.read_text().replace("mutations:\n", "mutations:\n  engine: model\n", 1))
    keyed = "" if provider == "ollama" else ", api_key: '${MODEL_KEY}'"
    told = f"model: {{provider: {provider}, name: a-model, base_url: '{url}{path}'{keyed}}}\n"
    text = config.read_text().partition("\n# the model\n")[0]
    config.write_text(f"{text}\n# the model\n{told}")
    done = faultwire(sdk if installed else None, folder, "verify", "--format", "json")
    findings: dict[str, Any] = {}
    for one in json.loads(done.stdout):
        findings.setdefault(one["subject"], one)
    assert "Traceback" not in done.stderr
    assert KEY not in done.stdout + done.stderr
    return done.returncode, findings, done.stdout + done.stderr


@pytest.mark.parametrize("sdk", SOME)
def test_agent_proxy_and_model_are_asked_for_real(sdk: str, tmp_path: Path, mock: Any) -> None:
    server = mock(WRITES)
    code, found, told = verify(sdk, tmp_path, f"http://127.0.0.1:{server.http}")
    assert code == 0, told
    assert {subject: found[subject]["state"] for subject in ("agent", "proxy", "traffic", "model")} == {
        "agent": "ok", "proxy": "ok", "traffic": "ok", "model": "ok",
    }  # fmt: skip
    assert found["model"]["text"] == f"`a-model` at {SDKS[sdk][0]} writes mutants"
    assert not (tmp_path / ".faultwire" / "cache").exists()  # what a model said earlier proves nothing


@pytest.mark.nightly
@pytest.mark.parametrize("sdk", SOME)
def test_a_model_that_cannot_write_fails_it_with_the_reason(sdk: str, tmp_path: Path, mock: Any) -> None:
    provider = SDKS[sdk][0]
    for script, words, why in (
        (ABSENT, "failed to write a mutation: ", "'a-model' not found"),
        (REFUSES, "declined to write `paraphrase` 4 times of 4", ""),
    ):
        code, found, told = verify(sdk, tmp_path, f"http://127.0.0.1:{mock(script).http}")
        assert code == 3, told
        assert (found["agent"]["state"], found["model"]["state"]) == ("ok", "fail")
        assert f"`a-model` at {provider}: {provider} (a-model) {words}" in found["model"]["text"]
        assert why in found["model"]["text"]
        assert "mutations.engine: built-in" in found["model"]["hint"]


@pytest.mark.nightly
def test_a_model_that_is_not_there_fails_it(tmp_path: Path, mock: Any) -> None:
    with mock(WRITES) as server:
        url = f"http://127.0.0.1:{server.http}"
    code, found, told = verify("ollama-0", tmp_path, url)
    assert code == 3, told
    assert found["model"]["state"] == "fail"
    assert "ollama (a-model) failed to write a mutation: " in found["model"]["text"]
    assert "`ollama pull a-model`" in found["model"]["hint"]


@pytest.mark.nightly
def test_a_client_that_is_not_installed_is_named(tmp_path: Path) -> None:
    code, found, told = verify("ollama-0", tmp_path, "http://127.0.0.1:1", installed=False)
    assert code == 3, told
    assert found["model"]["state"] == "fail"
    assert "pip install 'faultwire[ollama]'" in found["model"]["hint"]
