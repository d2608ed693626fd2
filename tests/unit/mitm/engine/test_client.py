"""`mitm.engine.client`: what an engine's process is started with."""

from __future__ import annotations

import pytest

from faultwire.mitm.engine import client


def test_an_engine_gives_large_bodies_back_and_keeps_little(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
        monkeypatch.delenv(name, raising=False)
    found = client._environment()
    assert found["MALLOC_MMAP_THRESHOLD_"] == str(1 << 20)
    assert found["MALLOC_TRIM_THRESHOLD_"] == str(8 << 20)


def test_what_the_user_has_set_of_it_stays_and_the_users_proxies_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:word@proxy.example")
    monkeypatch.setenv("no_proxy", "*")
    found = client._environment()
    assert found["MALLOC_TRIM_THRESHOLD_"] == "131072"
    assert not {"HTTPS_PROXY", "no_proxy"} & set(found)
