"""Of an agent that dies of a cut answer the cut answer is named, and not the telemetry of its SDK."""

from __future__ import annotations

from pathlib import Path

import harness
import pytest
from playing import agent

from faultwire.tape.read.reader import TapeReader

EARLY_END = "early_end: {after_events: 4, trigger: {first: 1}}"


@pytest.mark.nightly
def test_the_models_answer_is_named_and_the_sdks_traces_are_taken(tmp_path: Path) -> None:
    command = agent("openai-agents-0", "agents_sdk.py", "Tell me about rivers.")
    done = harness.execute(tmp_path, command, "--mock", "--fault", EARLY_END)
    assert done.code == 1
    named = [line for line in done.stderr.splitlines() if "the command exited with" in line]
    assert named == [
        "  the command exited with 1 after #1: `api.openai.com/v1/responses` ended early (closed)"
    ]
    assert "traces/ingest" not in done.stderr
    assert "noticed" not in done.stderr, "whoever reports a failure exits with one"
    with TapeReader.open(tmp_path / "agent.tape") as tape:
        traces = [one for one in tape.exchanges() if one.request.path == "/v1/traces/ingest"]
    assert [one.delivered.status for one in traces if one.delivered is not None] == [200] * len(traces)
    assert traces, "the SDK sent its traces"


@pytest.mark.nightly
def test_an_agent_that_ends_well_has_nothing_to_fix(tmp_path: Path) -> None:
    command = agent("openai-agents-0", "agents_sdk.py", "Tell me about rivers.")
    done = harness.execute(tmp_path, command, "--mock")
    assert done.code == 0, done.stderr
    assert "noticed" not in done.stderr
    assert "Tracing" not in done.stderr, "the SDK has nothing to complain about"
