"""What the demonstration refuses before it makes anything (`faultwire.demo.run`)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from faultwire import clock
from faultwire.demo.run import Demo, run_demo
from faultwire.errors import UsageError
from faultwire.mitm.network import ca


def test_an_expired_authority_is_reported_before_an_environment_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca.ensure(tmp_path / "ca", days=1)
    now = clock.utc_now()
    monkeypatch.setattr("faultwire.mitm.network.ca.utc_now", lambda: now + timedelta(days=3))
    said: list[str] = []
    with pytest.raises(UsageError) as refused:
        run_demo(Demo(seed=1, base=tmp_path), said.append, lambda *_: said.append("played"))
    assert refused.value.code == "ca.expired"
    assert said == []
    assert [one.name for one in tmp_path.iterdir() if one.name != "ca"] == []
