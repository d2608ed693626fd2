"""Connections that no client addressed to the proxy come only where the settings say so."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from tests.unit.mitm.test_settings import WHERE

from faultwire.mitm.captured_settings import NamespaceSettings
from faultwire.mitm.engine import captured_traffic
from faultwire.mitm.engine.namespace import Namespace
from faultwire.mitm.settings import EngineSettings


def started(settings: EngineSettings) -> captured_traffic.CapturedTraffic | None:
    return asyncio.run(captured_traffic.start(settings, cast("Any", []), cast("Any", None)))


def test_by_default_none_come() -> None:
    assert started(EngineSettings(**WHERE)) is None


def test_a_namespace_that_is_wanted_is_started() -> None:
    found = started(EngineSettings(**WHERE, namespace=NamespaceSettings(session="exec", listeners=())))
    assert isinstance(found, Namespace)
    assert found.session == "exec"
