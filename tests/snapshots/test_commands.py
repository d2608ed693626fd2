"""The words of the commands that start things, and of their errors."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

Snapshot = Callable[..., None]
URL = "https://api.openai.com/v1/chat/completions"
BODY = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]})
CURL = ["curl", "-sS", "-o", "/dev/null", "-H", "authorization: Bearer any", "-d", BODY, URL]


@pytest.mark.parametrize(
    "command",
    [
        "exec",
        "fork",
        "proxy",
        "env",
        "init",
        "verify",
        "doctor",
        "ca",
        "ci",
        "tape",
        "scan",
        "score",
        "runs",
        "control",
    ],
)
def test_help_of_a_command(command: str, snapshot: Snapshot) -> None:
    snapshot(f"help-{command}", command, "-h")


def test_help(snapshot: Snapshot) -> None:
    snapshot("help", "--help")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("unknown-command", ["exce"]),
        ("unknown-option", ["exec", "--profil", "x", "--", "true"]),
        ("unknown-profile", ["exec", "--profile", "api_outag", "--", "true"]),
        ("unknown-fault", ["exec", "--fault", "rate_limits: {}", "--", "true"]),
        ("bad-value", ["proxy", "--seed", "many"]),
        ("bad-listen", ["exec", "--listen", "9000", "--", "true"]),
        ("no-command", ["exec"]),
        ("no-program", ["exec", "--", "no-such-program"]),
        ("no-file", ["exec", "--upstream-ca", "absent.pem", "--", "true"]),
        ("no-proxy", ["env"]),
        ("no-ca", ["ca", "show"]),
        ("no-traffic", ["exec", "--", "true"]),
    ],
)
def test_errors(name: str, arguments: list[str], snapshot: Snapshot) -> None:
    snapshot(f"error-{name}", *arguments)


def test_a_run(snapshot: Snapshot) -> None:
    snapshot("exec", "exec", "--mock", "--profile", "calm", "--fault", "status: {code: 503}", "--", *CURL)


def test_init_and_then_again(snapshot: Snapshot) -> None:
    snapshot("init", "init")
    snapshot("init-again", "init")


def test_ca(snapshot: Snapshot) -> None:
    snapshot("ca-renew", "ca", "renew")
    snapshot("ca-show", "ca", "show")
    snapshot("ca-remove", "ca", "remove")
    snapshot("ca-remove-again", "ca", "remove")
