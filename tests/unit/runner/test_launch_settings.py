"""The user's own proxies that a run goes through."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.replay.settings import ReplaySettings
from faultwire.runner.launch_settings import LaunchSettings, upstream_proxies

ENVIRONMENT = {"ALL_PROXY": "http://proxy.example:3128"}


def test_they_are_read_from_the_users_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://other.example")
    given = upstream_proxies(LaunchSettings("exec", environ=ENVIRONMENT))
    own = upstream_proxies(LaunchSettings("exec"))
    assert given is not None
    assert own is not None
    assert given.urls == ("http://proxy.example:3128 (ALL_PROXY)",)
    assert own.urls == ("http://other.example:80 (ALL_PROXY)",)
    assert upstream_proxies(LaunchSettings("exec", environ={})) is None


def test_a_run_that_calls_no_server_needs_none() -> None:
    bad = {"ALL_PROXY": "socks4://proxy.example"}
    assert upstream_proxies(LaunchSettings("exec", mock=True, environ=bad)) is None
    replay = ReplaySettings(tape=Path("a.tape"), on_miss="fail")
    assert upstream_proxies(LaunchSettings("exec", replay=replay, environ=bad)) is None
    for settings in (
        LaunchSettings("exec", environ=bad),
        LaunchSettings("exec", mock=True, mock_except=("a",), environ=bad),
    ):
        with pytest.raises(UsageError):
            upstream_proxies(settings)
