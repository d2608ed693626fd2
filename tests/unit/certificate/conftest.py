"""A run's folder as runs leave it: reports, `run.json`, and a tape that gives their ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.report.conftest import play
from tests.unit.tape.conftest import Deck

from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

SIGNER = SignerKey("shop", b"s" * 32)


def record(path: Path) -> str:
    """A sealed tape of one exchange; its ledger."""
    writer = TapeWriter.create(path, origin=f"shop/{path.name}", settings={}, key=b"k" * 32, signer=SIGNER)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    Deck(path, writer).exchange()
    writer.close_session("s")
    writer.close()
    with TapeReader.open(path) as tape:
        return tape.ledger_hash()


def about(**changes: object) -> dict[str, object]:
    """What `run.json` says."""
    return {
        "id": "20261121T220000Z-00aa",
        "command": "contract",
        "status": "finished",
        "seed": 42,
        "started_at": "2026-11-21T22:00:00+00:00",
        "ended_at": "2026-11-21T22:00:04+00:00",
        "config_digest": "c" * 64,
        "agent_digest": "a" * 64,
        "profiles_digest": "b" * 64,
        "score_formula": "2",
        "artefacts": {"agent.py": "d" * 64},
        "commit": "e" * 40,
        "gate": "fail",
        **changes,
    }


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "20261121T220000Z-00aa"
    folder.mkdir()
    ledger = record(folder / "run.tape")
    named = {"ledger": ledger, "tapes": ("elsewhere/run.tape",), "phase": "contract"}
    (folder / "report.json").write_text(json.dumps(play(about=named)))
    (folder / "run.json").write_text(json.dumps(about()))
    return folder
