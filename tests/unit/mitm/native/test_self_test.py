"""The self-test of native connections: faultwire.mitm.native.self_test."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.mitm.native import exchange, layer, self_test


def test_it_passes_with_this_version_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert self_test.passes()
    assert not caplog.records


def test_it_fails_where_a_version_raises_and_the_log_says_where(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def other(*_: Any) -> Any:
        raise TypeError("unexpected keyword argument")

    monkeypatch.setattr(layer.Upstream, "get", other)
    assert not self_test.passes()
    assert "TypeError" in caplog.text or "RuntimeError" in caplog.text or "ValueError" in caplog.text


@pytest.mark.parametrize(
    ("part", "name", "does"),
    [
        (layer.NativeLayer, "write", lambda *_: None),
        (exchange.NativeExchange, "_next", lambda *_: None),
        (exchange.MessageWriter, "end", lambda _: b""),
    ],
    ids=["writes nothing", "serves no second request", "does not end a body"],
)
def test_it_fails_where_other_bytes_arrive(
    monkeypatch: pytest.MonkeyPatch, part: Any, name: str, does: Any
) -> None:
    monkeypatch.setattr(part, name, does)
    assert not self_test.passes()
