"""The request id that an SDK shows is the one that the tape tells, also of a fabricated error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness import execute, faultwire
from test_sdk_matrix import command

from faultwire import wire


@pytest.mark.nightly
@pytest.mark.parametrize("agent", ["openai-3", "anthropic-2"])
def test_the_tape_names_a_request_as_the_sdk_does(agent: str, tmp_path: Path) -> None:
    done = execute(tmp_path, command(agent, "sync/whole"), "--mock")
    seen = done.met["sync/whole"]["request_id"]
    assert seen
    (told,) = (wire.transcript_of(exchange) for exchange in done.exchanges if exchange.kind == "llm")
    assert told is not None
    assert told.answer is not None
    assert told.answer.request_id == seen


@pytest.mark.nightly
@pytest.mark.parametrize("agent", ["openai-3"])
def test_show_prints_it(agent: str, tmp_path: Path) -> None:
    import subprocess

    done = execute(tmp_path, command(agent, "sync/whole"), "--mock", "--fault", "auth_error: {}")
    (exchange,) = (one for one in done.exchanges if one.kind == "llm")
    show = [*faultwire(), "tape", "show", str(done.tape), "--session", exchange.session]
    show += ["--exchange", str(exchange.number), "--format", "json"]
    shown = subprocess.run(show, capture_output=True, text=True, timeout=120, check=True).stdout
    document = json.loads(shown)
    sent = dict(exchange.delivered.headers)["x-request-id"] if exchange.delivered else None
    assert document["request_id"] == sent is not None
    assert document["conversation"]["answer"]["request_id"] == sent
