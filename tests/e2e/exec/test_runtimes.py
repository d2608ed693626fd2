"""Unmodified programs of many runtimes call a provider's real host name; the mock answers through us."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Faultwire = Callable[..., subprocess.CompletedProcess[bytes]]

AGENTS = Path(__file__).parent / "agents"
URL = "https://api.openai.com/v1/chat/completions"
BODY = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]})
HEADERS = ["-H", "content-type: application/json", "-H", "authorization: Bearer any"]
ANSWER = b"200 chat.completion"

RUNTIMES = {
    "curl": ["curl", "-sS", *HEADERS, "-d", BODY, URL],
    "urllib": [sys.executable, str(AGENTS / "stdlib.py"), URL, BODY],
    "httpx": [sys.executable, str(AGENTS / "with_httpx.py"), URL, BODY],
    "node-fetch": ["node", str(AGENTS / "fetch.mjs"), URL, BODY],
    "node-https": ["node", str(AGENTS / "https.cjs"), URL, BODY],
    "node-own-agent": ["node", str(AGENTS / "https.cjs"), URL, BODY, "own"],
    "java": ["java", str(AGENTS / "Client.java"), URL, BODY],
}
BY_NIGHT = ("urllib", "node-own-agent", "node-https", "java")
"""Those that are captured as another one is, and the slowest."""


@pytest.mark.parametrize(
    "runtime", [pytest.param(one, marks=pytest.mark.nightly) if one in BY_NIGHT else one for one in RUNTIMES]
)
def test_its_call_arrives_and_is_answered(runtime: str, faultwire: Faultwire) -> None:
    command = RUNTIMES[runtime]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on this machine")
    done = faultwire("exec", "--mock", "--", *command)
    assert done.returncode == 0, done.stderr.decode()
    if runtime == "curl":
        assert json.loads(done.stdout)["object"] == "chat.completion"
    else:
        assert set(done.stdout.splitlines()) == {ANSWER}
    count = 2 if runtime == "java" else 1
    assert f"exchanges  {count}: {count} llm".encode() in done.stderr


TRUST = {
    "curl": ("CURL_CA_BUNDLE", "SSL_CERT_FILE"),
    "urllib": ("SSL_CERT_FILE",),
    "httpx": ("SSL_CERT_FILE",),
    "node-fetch": ("NODE_EXTRA_CA_CERTS",),
    "node-https": ("NODE_EXTRA_CA_CERTS",),
}
BY_DAY = ("node-fetch",)


@pytest.mark.parametrize(
    "runtime", [one if one in BY_DAY else pytest.param(one, marks=pytest.mark.nightly) for one in TRUST]
)
def test_without_the_variable_that_names_our_authority_it_refuses_us(
    runtime: str, faultwire: Faultwire
) -> None:
    """The control: it is that variable, and no other luck, that makes the call succeed."""
    command = RUNTIMES[runtime]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on this machine")
    unset = [word for name in TRUST[runtime] for word in ("-u", name)]
    done = faultwire("exec", "--mock", "--allow-no-traffic", "--", "env", *unset, *command)
    assert done.returncode == 3, "a model's host was refused, so the run proves nothing"
    assert b"certificate" in done.stderr
    assert b"exchanges  0\n" in done.stderr


PHP = (
    "$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_POSTFIELDS, $argv[2]); "
    'curl_setopt($c, CURLOPT_HTTPHEADER, ["content-type: application/json", "authorization: Bearer any"]); '
    "exit(curl_exec($c) === false ? 1 : 0);"
)
LWP = (
    "my $r = LWP::UserAgent->new->post($ARGV[0], 'Content-Type' => 'application/json', "
    "Authorization => 'Bearer any', Content => $ARGV[1]); print $r->decoded_content; exit($r->code != 200);"
)
SCRIPTED = {
    "php": (["php", "-r", PHP, "--", URL, BODY], ["php", "-r", "exit((int) !function_exists('curl_init'));"]),
    "perl": (
        ["perl", "-MLWP::UserAgent", "-e", LWP, URL, BODY],
        ["perl", "-MLWP::Protocol::https", "-e", "1"],
    ),
}


@pytest.mark.parametrize(
    ("runtime", "variable"),
    [("php", "PHP_INI_SCAN_DIR"), ("perl", "PERL_LWP_SSL_CA_FILE"), ("perl", "PERL_LWP_ENV_PROXY")],
)
def test_a_scripting_language_is_captured_by_variables_of_its_own(
    runtime: str, variable: str, faultwire: Faultwire
) -> None:
    command, has_client = SCRIPTED[runtime]
    if shutil.which(runtime) is None or run(has_client, capture_output=True, check=False).returncode:
        pytest.skip(f"this machine has no {runtime} with an HTTP client")
    done = faultwire("exec", "--mock", "--", *command)
    assert done.returncode == 0, done.stderr.decode()
    assert b'"chat.completion"' in done.stdout
    assert b"exchanges  1: 1 llm" in done.stderr
    unset = ("env", "-u", variable, *(("-u", "SSL_CERT_FILE") if "CA_FILE" in variable else ()))
    without = faultwire("exec", "--mock", "--", *unset, *command)
    assert without.returncode == 3, without.stderr.decode()
    assert b"exchanges  0\n" in without.stderr
