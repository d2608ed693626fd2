"""Recorded answers as MCP's official SDKs read them, over each transport."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import environments
import pytest
from harness import execute, faultwire

pytestmark = pytest.mark.nightly

AGENTS = Path(__file__).parents[1] / "agents"
WEATHER = {"city": "Oslo", "temperature_c": -3, "sky": "snow"}
PROFILE = f"""name: incident
faults:
  - recorded_response:
      responses:
        - {{response: {json.dumps(WEATHER)}, latency_ms: 20}}
        - {{status: 504}}
    on: {{tool: get_weather}}
"""
SHIM = f"{faultwire()[0]} mcp-shim -- {sys.executable} {AGENTS / 'mcp_stdio_server.py'}"
PLACES = {"http": "http://mcp.mock.test/mcp", "sse": "http://mcp.mock.test/sse", "stdio": SHIM}
WAYS = [
    ("python", "http"),
    ("python", "stdio"),
    pytest.param("node", "http", marks=pytest.mark.nightly),
    pytest.param("python", "sse", marks=pytest.mark.nightly),
    pytest.param("node", "sse", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("sdk", "way"), WAYS)
def test_an_sdk_reads_what_was_recorded(sdk: str, way: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PROFILE)
    agent = (
        [str(environments.python("mcp-2")), str(AGENTS / "mcp_agent.py")]
        if sdk == "python"
        else ["node", str(environments.node("node_mcp") / "agent.mjs")]
    )
    command = [*agent, way, PLACES[way], "list", "weather", "weather", "weather"]
    done = execute(tmp_path, command, "--mock", "--profile", "./p.yaml")
    assert done.code == 0, done.stderr
    assert "ended" not in done.met, done.met
    met: dict[str, Any] = done.met
    assert json.loads(met["weather"]["text"]) == met["weather"]["values"] == WEATHER, (
        "the client's check passes"
    )
    assert not met["weather"]["failed"]
    assert met["weather2"]["failed"]
    assert met["weather2"]["text"] == "Error: 504 Server Error: Gateway Timeout"
    assert met["weather3"]["failed"]
    assert "none of 2 recorded answers left" in met["weather3"]["text"]
    assert [line.fault for line in done.fired] == ["recorded_response"] * 3
