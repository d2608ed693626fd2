"""Mutants written by a model, through each provider's own SDK and real HTTP to the mock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from faultwire.mock.client import Mock

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))

import environments

WRITE = Path(__file__).parent / "write.py"
KEY = "sk-test-key-of-nobody-1234567890abcdef"
SDKS = {
    "openai-3": ("openai", "/v1"),
    "openai-2": ("openai", "/v1"),
    "anthropic-2": ("anthropic", ""),
    "anthropic-0": ("anthropic", ""),
    "ollama-0": ("ollama", ""),
    "google-genai-3": ("google", ""),
    "google-generativeai-0": ("google", ""),
}
DAILY = ("openai-2",)
SOME = [sdk if sdk in DAILY else pytest.param(sdk, marks=pytest.mark.nightly) for sdk in SDKS]
SCRIPT = """
fallback: error
turns:
  - match: {last_user: "*Variant: 1\\n*", system: "*You write test inputs*"}
    reply: {text: "Here is the new input: \\"Which city is the French capital?\\""}
  - match: {last_user: "*Variant: 2\\n*"}
    reply: {text: "Which city is the French capital?"}
  - match: {last_user: "*Variant: 3\\n*"}
    reply: {text: "I'm sorry, but I can't help with that."}
  - match: {last_user: "*Variant: 4\\n*"}
    reply: {text: "Name France's capital."}
  - match: {last_user: "*Variant: 5\\n*"}
    reply: {text: "What is the capital of France?"}
  - match: {last_user: "*Variant: 6\\n*"}
    reply: {text: "France: capital?"}
"""
REFUSING = "turns: [{reply: {text: \"I'm sorry, but I can't help with that.\"}}]\n"
FAILING = "turns: [{reply: {error: {status: 401}}}]\n"


def write(
    sdk: str, url: str, cache: Path, count: int = 3, *types: str, key: str | None = KEY
) -> dict[str, Any]:
    site = environments.python(sdk).parent / "site"
    provider, path = SDKS[sdk]
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith(("_proxy", "_api_key"))}
    command = [sys.executable, str(WRITE), str(site), provider, url + path, str(cache), str(count)]
    done = subprocess.run(
        [*command, *(types or ("paraphrase",))],
        env=env | ({"MODEL_KEY": key} if key else {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    return json.loads(done.stdout)


def mock(tmp_path: Path, script: str) -> Mock:
    path = tmp_path / "script.yaml"
    path.write_text(script)
    return Mock.start(path, log=tmp_path / "mock.log")


@pytest.mark.nightly
@pytest.mark.parametrize("sdk", SOME)
def test_exact_different_and_repeatable_without_the_model(sdk: str, tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    with mock(tmp_path, SCRIPT) as server:
        made = write(sdk, url := f"http://127.0.0.1:{server.http}", cache)
    expected = ["Which city is the French capital?", "Name France's capital.", "France: capital?"]
    assert [m["text"] for m in made["mutants"]] == expected
    provider = SDKS[sdk][0]
    assert made["notes"] == [f"{provider} (a-model) declined 1 of 6 variants of `paraphrase`"]
    files = sorted(cache.iterdir())
    assert len(files) == 6
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o600"}
    assert all(KEY not in path.read_text() for path in files)
    again = write(sdk, url, cache)  # the server is gone
    assert again == made
    failed = write(sdk, url, tmp_path / "empty", 1)  # and without what was kept nothing can be had
    assert failed["error"] == "mutations.model_failed"
    assert failed["message"].startswith(f"{provider} (a-model) failed to write a mutation: ")


@pytest.mark.nightly
@pytest.mark.parametrize("sdk", SOME)
def test_a_model_that_declines_or_fails_is_named(sdk: str, tmp_path: Path) -> None:
    provider = SDKS[sdk][0]
    with mock(tmp_path, REFUSING) as server:
        refused = write(sdk, f"http://127.0.0.1:{server.http}", tmp_path / "a", 2, "advanced_jailbreak")
    assert refused["error"] == "mutations.model_declined"
    assert refused["message"] == f"{provider} (a-model) declined to write `advanced_jailbreak` 8 times of 8"
    with mock(tmp_path, FAILING) as server:
        failed = write(sdk, f"http://127.0.0.1:{server.http}", tmp_path / "b", 2)
    assert failed["error"] == "mutations.model_failed"
    assert failed["message"].startswith(f"{provider} (a-model) failed to write a mutation: ")
    assert "401" in failed["message"]


def test_types_that_no_model_writes_are_made_by_the_built_in_engine(tmp_path: Path) -> None:
    with mock(tmp_path, SCRIPT) as server:
        url = f"http://127.0.0.1:{server.http}"
        made = write("openai-3", url, tmp_path / "kept", 4, "paraphrase", "http_header_injection")
    assert [m["type"] for m in made["mutants"]] == ["paraphrase"] * 2 + ["http_header_injection"] * 2
    assert all("by openai" in m["how"] for m in made["mutants"][:2])
    assert all("request with headers" in m["how"] for m in made["mutants"][2:])


def test_a_missing_sdk_and_a_missing_key_state_what_to_do(tmp_path: Path) -> None:
    url = "http://127.0.0.1:1"
    keyless = write("openai-3", url, tmp_path, 1, key=None)
    assert (keyless["error"], keyless["hint"]) == ("config.missing_key", "api_key: ${OPENAI_API_KEY}")
    done = subprocess.run(
        [sys.executable, str(WRITE), str(tmp_path), "anthropic", url, str(tmp_path), "1", "noise"],
        env=os.environ | {"MODEL_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = json.loads(done.stdout)
    assert said["error"] == "mutations.no_sdk"
    assert "pip install 'faultwire[anthropic]'" in said["hint"]


class Picky(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that takes no temperature, and remembers what it was asked."""

    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body)
        said: dict[str, Any] = {"error": {"message": "Unsupported value: 'temperature'", "type": "invalid"}}
        if "temperature" not in body:
            message = {"role": "assistant", "content": f"text {len(self.asked)}"}
            said = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "id": "1"}
        data = json.dumps(said).encode()
        self.send_response(200 if "choices" in said else 400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """The test asserts on what was asked."""


def test_the_request_has_temperature_0_and_a_seed_and_neither_where_the_model_takes_none(
    tmp_path: Path,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Picky) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        made = write("openai-3", f"http://127.0.0.1:{server.server_port}", tmp_path, 1)
        server.shutdown()
        thread.join()
    assert [m["text"] for m in made["mutants"]] == ["text 2"]
    first, second = Picky.asked
    assert (first["temperature"], first["seed"], first["model"]) == (0.0, 43, "a-model")
    assert "max_tokens" not in first, "no bound on how much is written"
    assert second == {key: value for key, value in first.items() if key != "temperature"}
