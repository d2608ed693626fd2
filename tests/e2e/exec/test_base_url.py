"""`--capture base-url` and `--reverse`: agents that use no proxy, with real SDKs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Faultwire = Callable[..., subprocess.CompletedProcess[bytes]]

BODY = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}'
CURL = f"""curl -sS -o /dev/null -w '%{{http_code}} ' -H 'authorization: Bearer any' \
-H 'content-type: application/json' -d '{BODY}' "$OPENAI_BASE_URL/chat/completions" """
NO_PROXY = 'test -z "$HTTPS_PROXY$https_proxy$SSL_CERT_FILE$NODE_OPTIONS"'
OPENAI = """
import openai
client = openai.OpenAI(api_key="any", max_retries=0)
ask = dict(model="gpt-4o", messages=[{"role": "user", "content": "Hello"}])
try:
    print(client.chat.completions.create(**ask).choices[0].message.content)
    stream = client.chat.completions.create(**ask, stream=True)
    print("".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices))
except openai.APIError as error:
    print(type(error).__name__)
"""
ANTHROPIC = """
import anthropic
client = anthropic.Anthropic(api_key="any", max_retries=0)
ask = dict(model="claude-sonnet-4-5", max_tokens=50, messages=[{"role": "user", "content": "Hello"}])
print(client.messages.create(**ask).content[0].text)
"""
NODE = """
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
const messages = [{role: "user", content: "Hello"}];
const openai = new OpenAI({apiKey: "any", maxRetries: 0});
console.log((await openai.chat.completions.create({model: "gpt-4o", messages})).choices[0].message.content);
const claude = new Anthropic({apiKey: "any", maxRetries: 0});
const said = await claude.messages.create({model: "claude-sonnet-4-5", max_tokens: 50, messages});
console.log(said.content[0].text);
"""


def environments() -> Any:
    path = Path(__file__).parents[1] / "agents" / "environments.py"
    spec = spec_from_file_location("environments", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.nightly
def test_curl_calls_us_as_its_provider(faultwire: Faultwire) -> None:
    done = faultwire(
        "exec", "--mock", "--capture", "base-url",
        "--fault", "status: {code: 503, first: 1, attempts: first}",
        "--", "sh", "-c", f"{NO_PROXY} && {CURL} && {CURL}",
    )  # fmt: skip
    assert done.stdout == b"503 200 ", done.stderr
    assert b"exchanges  2: 2 llm\nfaults     1 fired\n" in done.stderr
    assert b"capture    base URLs of anthropic, " in done.stderr


@pytest.mark.parametrize(
    ("lock", "program"),
    [("openai-3", OPENAI), pytest.param("anthropic-0", ANTHROPIC, marks=pytest.mark.nightly)],
)
def test_a_python_sdk_calls_us_as_its_provider(
    faultwire: Faultwire, here: Path, lock: str, program: str
) -> None:
    (here / "agent.py").write_text(program)
    python = str(environments().python(lock))
    done = faultwire("exec", "--mock", "--capture", "base-url", "--", python, "agent.py")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert len(lines) == program.count("print(") - program.count("__name__")
    assert all("Hello" in line for line in lines), lines
    assert f"exchanges  {len(lines)}: {len(lines)} llm\n".encode() in done.stderr


@pytest.mark.nightly
def test_a_fault_reaches_an_sdk(faultwire: Faultwire, here: Path) -> None:
    (here / "agent.py").write_text(OPENAI)
    python = str(environments().python("openai-3"))
    options = ("--mock", "--capture", "base-url", "--fault", "{refuse: {}, on: {host: api.openai.com}}")
    done = faultwire("exec", *options, "--", python, "agent.py")
    assert done.stdout == b"APIConnectionError\n", done.stderr
    assert b"faults     1 fired\n" in done.stderr


@pytest.mark.nightly
def test_node_sdks_call_us_as_their_providers(faultwire: Faultwire, here: Path) -> None:
    modules = environments().node() / "node_modules"
    (here / "node_modules").symlink_to(modules)
    (here / "agent.mjs").write_text(NODE)
    done = faultwire("exec", "--mock", "--capture", "base-url", "--", "node", "agent.mjs")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().count("Hello") == 2
    assert b"exchanges  2: 2 llm\n" in done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("capture", ["env", "base-url"])
def test_any_upstream_can_be_put_behind_us(faultwire: Faultwire, server: str, capture: str) -> None:
    lost = 'curl -sS -o /dev/null -w " %{http_code}" "$FAULTWIRE_URL_MY_TOOL/../no/x"'
    script = f'curl -sS "$FAULTWIRE_URL_MY_TOOL/x"; {lost}'
    done = faultwire(
        "exec", "--capture", capture, "--reverse", f"my-tool={server.rstrip('/')}", "--", "sh", "-c", script
    )
    assert done.stdout == b"hello 404", done.stderr
    assert b"exchanges  1: 1 other\n" in done.stderr
    assert b"1 call went to the route `no`, which is not declared (404)" in done.stderr


def test_an_agent_that_names_its_provider_itself_voids_the_run_with_the_reason(faultwire: Faultwire) -> None:
    done = faultwire("exec", "--mock", "--capture", "base-url", "--", sys.executable, "-c", "pass")
    assert done.returncode == 3
    assert b"must take its provider's address from the environment" in done.stderr


@pytest.mark.cold
@pytest.mark.nightly
def test_the_exports_of_a_proxy_are_base_urls(faultwire: Faultwire, here: Path) -> None:
    command = [sys.executable, "-m", "faultwire", "proxy", "--mock", "--capture", "base-url"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        while line := process.stderr.readline():
            if line == b"ready\n":
                break
        script = f'eval "$({sys.executable} -m faultwire env)"; {NO_PROXY} && {CURL}'
        shell = subprocess.run(["sh", "-c", script], cwd=here, capture_output=True, timeout=60)
        changed = json.loads(faultwire("env", "--format", "json").stdout)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert shell.stdout == b"200 ", shell.stderr
    assert changed["OPENAI_BASE_URL"].endswith("/openai/v1")
    assert "HTTPS_PROXY" not in changed
    assert b"exchanges  1: 1 llm\n" in errors
