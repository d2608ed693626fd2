"""AgentOps Replay's own packages against the service, and what their agents claim beside the wire.

None of its packages is on a registry. `AGENTOPS_REPLAY` names a checkout of its repository (main); without
one these tests are skipped, and `tests/unit/ingestion` holds the same rules on logs in the forms it writes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environments
import pytest
from harness import base_environment, execute
from tests.e2e.ingestion.test_service import Service, faultwire, serving

HERE = Path(__file__).parent
CHECKOUT = os.environ.get("AGENTOPS_REPLAY", "")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not CHECKOUT, reason="AGENTOPS_REPLAY names no checkout of AgentOps Replay, which no registry has"
    ),
]
LOCKS = {"langgraph": "langchain-1", "openai-agents": "openai-agents-0"}
FRAMEWORKS = pytest.mark.parametrize("framework", LOCKS)
Json = dict[str, Any]


@dataclass
class Compared:
    """What `tape claims` prints of a run."""

    code: int
    words: str
    rows: list[Json]
    notes: list[str]

    @property
    def differences(self) -> list[tuple[str, str]]:
        return [(row["kind"], row["verdict"]) for row in self.rows if row["verdict"] in DIFFERENT]


DIFFERENT = ("differs", "claimed only", "seen only")


def agent(framework: str, lie: str, out: str) -> list[str]:
    python = environments.python(LOCKS[framework])
    return [str(python), str(HERE / "self_reporting_agent.py"), framework, lie, out]


def reported(folder: Path, framework: str, lie: str, *options: str, out: str = "log.jsonl") -> Json:
    options = (*options, "--allow-host", "127.0.0.1") if out.startswith("http") else options
    done = execute(folder, agent(framework, lie, out), "--mock", *options, keys={"AGENTOPS_REPLAY": CHECKOUT})
    assert done.code == 0, done.stderr
    return done.met


def compared(folder: Path, log: str = "log.jsonl", *options: str) -> Compared:
    _, words = faultwire(folder, "tape", "claims", "agent.tape", log, *options)
    code, text = faultwire(folder, "tape", "claims", "agent.tape", log, *options, "--format", "json")
    found = json.loads(text)
    return Compared(code, words, found["rows"], found["notes"])


def verified(path: Path, *options: str) -> Json:
    """What its reference verifier answers."""
    script = Path(CHECKOUT) / "verifier" / "agentops_verify.py"
    done = subprocess.run(
        [sys.executable, str(script), str(path), "--format", "json", *options],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return {"exit": done.returncode, **json.loads(done.stdout)}


def exported(service: Service, session: str, folder: Path) -> tuple[Path, Path]:
    """The export as JSON lines, and the events of the one as a document, each in a file."""
    lines, events = folder / "export.jsonl", folder / "events.jsonl"
    status, text = service.ask(f"/v1/sessions/{session}/export")
    assert status == 200
    lines.write_text(text)
    status, document = service.ask(f"/v1/sessions/{session}/export?format=json")
    assert status == 200
    events.write_text("".join(json.dumps(one) + "\n" for one in document["events"]))
    return lines, events


# ---------------------------------------------------------------- what agents claim


@FRAMEWORKS
def test_an_honest_agent_is_accused_of_nothing(framework: str, tmp_path: Path) -> None:
    """With two tools at once of which the second ends first, and with streamed answers and tool calls."""
    reported(tmp_path, framework, "none")
    found = compared(tmp_path)
    assert (found.code, found.differences, found.notes) == (0, [], []), found.words
    assert [row["verdict"] for row in found.rows] == ["same"] * 20, found.words


@FRAMEWORKS
def test_what_an_sdk_tries_again_is_one_call(framework: str, tmp_path: Path) -> None:
    reported(tmp_path, framework, "none", "--fault", "status: {code: 503, first: 1, attempts: first}")
    found = compared(tmp_path)
    assert (found.code, found.differences) == (0, []), found.words
    assert found.notes == ["1 exchange failed on the wire; the log reports no error"]


LIES = {
    "invented": [("tool call", "claimed only")],
    "omitted": [("tool call", "seen only")],
    "model": [("call", "differs")] * 6,
    "tokens": [("answer", "differs")],
}


@FRAMEWORKS
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_and_nothing_else(framework: str, lie: str, tmp_path: Path) -> None:
    reported(tmp_path, framework, lie)
    found = compared(tmp_path)
    assert found.code == 1
    assert found.differences[:1] == LIES[lie][:1], found.words
    assert {*found.differences} == {*LIES[lie]}, found.words
    expected = {
        "invented": r"event 4 claims a tool call \(`check_policy`\) that the wire does not show",
        "omitted": r"exchange \d has a tool call \(`(calculator|weather)`\) that the log does not report",
        "model": r"event 2 claims a model call \(`gpt-5`\); exchange 1 has a model call \(`gpt-4o-mini`\)",
        "tokens": r"claims a model's answer (\(`gpt-4o-mini`\) )?for 1 token of input; exchange 1 counts \d+",
    }
    assert re.search(expected[lie], " ".join(found.words.split())), found.words


@FRAMEWORKS
@pytest.mark.parametrize(("lie", "kind"), [("arguments", "tool call"), ("result", "tool result")])
def test_a_lie_in_a_hash_is_found(framework: str, lie: str, kind: str, tmp_path: Path) -> None:
    """Each tool is used twice, and its other use shows how the log hashes."""
    reported(tmp_path, framework, lie)
    found = compared(tmp_path)
    assert (found.code, found.differences) == (1, [(kind, "differs")]), found.words


def test_what_comes_out_of_a_cache_and_embeddings(tmp_path: Path) -> None:
    reported(tmp_path, "langgraph", "cached")
    found = compared(tmp_path)
    assert found.differences == [("call", "claimed only"), ("answer", "claimed only")], found.words
    assert "one of the events " in found.words
    assert found.notes == ["1 exchange for embeddings, of which the format of logs knows no event"]


# ---------------------------------------------------------------- service, export, verifier


@FRAMEWORKS
def test_a_session_goes_to_the_service_and_its_export_verifies(framework: str, tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    (tmp_path / "key").write_text("a key of the service's own\n")
    with serving(tmp_path / "service", "--strict", "--hmac-key", "../key") as service:
        answer = reported(tmp_path, framework, "none", out=service.url)
        assert (answer["evidence_class"], answer["findings"]) == ("AUTHORITATIVE_EVIDENCE", [])
        for path in exported(service, answer["session"], tmp_path):
            found = verified(path, "--hmac-key", "a key of the service's own")
            assert (found["exit"], found["result"]) == (0, "PASS")
            assert found["evidence_class"] == "AUTHORITATIVE_EVIDENCE"
            assert found["hmac_verified"] is True
            assert verified(path, "--hmac-key", "another")["hmac_verified"] is False
            path.write_text(path.read_text().replace('"counting"', '"another"'))
            assert verified(path)["result"] == "FAIL"
        kept = tmp_path / "service" / service.ready["tape"]
        assert service.end() == 130
    found = compared(tmp_path, str(kept))
    assert (found.code, found.differences) == (0, []), found.words


def test_a_session_with_gaps_is_sealed_as_partial_and_verifies(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with serving(tmp_path / "service") as service:
        answer = reported(tmp_path, "langgraph", "dropped", out=service.url)
        assert answer["evidence_class"] == "PARTIAL_AUTHORITATIVE_EVIDENCE"
        lines, events = exported(service, answer["session"], tmp_path)
        for path in (lines, events):
            found = verified(path)
            assert (found["exit"], found["evidence_class"]) == (0, "PARTIAL_AUTHORITATIVE_EVIDENCE")
    found = compared(tmp_path, str(lines))
    assert {verdict for _, verdict in found.differences} == {"seen only"}, found.words
    assert re.search(r"its SDK says that \d+ events of the log were lost", found.words)


def test_its_own_tests_of_its_service_pass_against_this_one(tmp_path: Path) -> None:
    """All but the one that reads its database. `pointed.py` sends what they send to a URL."""
    python = environments.python("agentops-replay-1")
    chosen = "tests/integration/test_ingestion_api.py"
    with serving(tmp_path) as service:
        done = subprocess.run(
            [str(python), str(HERE / "pointed.py"), service.url, chosen, "-q", "-p", "no:cacheprovider",
             "--deselect", f"{chosen}::test_persisted_payloads_contain_hashes_not_raw_text"],
            cwd=CHECKOUT, env=base_environment(), check=False, capture_output=True, text=True, timeout=280,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert "8 passed, 1 deselected" in done.stdout
        assert len(service.ask("/v1/sessions")[1]["sessions"]) >= 5, "they came here, not to its own"
