"""`faultwire tape claims` on tapes and logs that are made here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.checks.conftest import talk
from tests.unit.ingestion.sdk_batches import sdk_batch

from faultwire.cli import main
from faultwire.tape.import_._api import Elsewhere, Exchanged, store

HONEST = [("SESSION_START", {"agent_id": "a"}), ("LLM_CALL", {"model_id": "gpt-4o"})]


def log(path: Path, *sessions: str, model: str = "gpt-4o") -> str:
    """A log as an SDK writes it."""
    text = ""
    for session in sessions:
        told = [HONEST[0], ("LLM_CALL", {"model_id": model}), ("LLM_RESPONSE", {"content": "done"})]
        for event in sdk_batch(session, told)["events"]:
            one = {
                "seq": event["sequence_number"],
                "session_id": session,
                "prev_hash": event["prev_event_hash"],
                **{name: event[name] for name in ("event_type", "timestamp", "payload", "event_hash")},
            }
            text += json.dumps(one) + "\n"
    path.write_text(text)
    return str(path)


@pytest.fixture
def tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.tape"
    one = talk(1)
    found = Elsewhere(one.request, one.upstream, one.delivered, 1000, 1_000_000)
    store(iter([Exchanged(found, "s")]), path, "har", "p/t", key=b"k" * 32)
    return str(path)


def faultwire(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["tape", "claims", *arguments])
    return done.exit_code, done.output


def test_the_same_is_exit_0_and_a_difference_is_exit_1(tape: str, tmp_path: Path) -> None:
    assert faultwire(tape, log(tmp_path / "honest.jsonl", "x"))[0] == 0
    code, out = faultwire(tape, log(tmp_path / "other.jsonl", "x", model="gpt-3"))
    assert (code, "claims a model call (`gpt-3`); exchange 1 has a model call (`gpt-4o`)" in out) == (1, True)
    code, out = faultwire(tape, str(tmp_path / "other.jsonl"), "--format", "json")
    found = json.loads(out)
    assert (code, found["differences"], found["rows"][0]["verdict"]) == (1, 1, "differs")


def test_of_several_sessions_one_is_to_be_named(tape: str, tmp_path: Path) -> None:
    path = log(tmp_path / "two.jsonl", "x", "y")
    code, out = faultwire(tape, path)
    assert (code, "--reported x" in out) == (2, True)
    assert faultwire(tape, path, "--reported", "y")[0] == 0
    assert faultwire(tape, path, "--reported", "z")[0] == 2
