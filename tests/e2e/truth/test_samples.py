"""Equal requests that an agent sends at once are calls of their own, however quickly their server fails.

What is true of them is what the agent's own HTTP client logged: of which sample each request was an attempt.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import compiled
import harness
import playing
import pytest

COUNT = 8
ALLOWED = 6
QUESTION = "Name some rivers."
SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "down": [{"status": {"code": 503}}],
    "limited": [{"rate_limit": {"retry_after_s": 2}}],
    "wrong": [{"status": {"code": 400}}],
}
CHECKS: list[dict[str, Any]] = [
    {"type": "no_retry_storm", "max_attempts": ALLOWED},
    {"type": "max_llm_calls", "max": 1, "scenarios": ["down"]},
    {"type": "backs_off", "scenarios": ["down"]},
    {"type": "respects_retry_after", "scenarios": ["limited"]},
    {"type": "no_retry_of_client_errors", "scenarios": ["wrong"]},
]
GO = Path(__file__).with_name("sampling_agent.go")


class Played(NamedTuple):
    """Verdicts and explanations by check and scenario, and the most attempts of one sample by its log."""

    verdicts: dict[tuple[str, str], tuple[str, str]]
    attempts: dict[str, int]


def played(work: Path, command: list[str], faults: dict[str, list[dict[str, Any]]] = SCENARIOS) -> Played:
    places = [(one, [*(faults.keys() & set(one.get("scenarios", faults)))]) for one in CHECKS]
    document = {
        "version": "2.0",
        "agent": {
            "type": "command",
            "command": command,
            "env": {name: f"${{{name}}}" for name in harness.KEYS},
        },
        "proxy": {"mock": True},
        "golden_prompts": [QUESTION],
        "contract": {
            "name": "samples",
            "invariants": [one | {"scenarios": found} for one, found in places if found],
            "chaos_matrix": [{"name": name, "faults": found} for name, found in faults.items()],
        },
    }
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*harness.faultwire(), "contract", "run", "--allow-unknown", "-o", "report.json"],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    report = json.loads((work / "report.json").read_text())
    scenarios = {one["id"]: one["scenario"] for one in report["invocations"]}
    cells = {
        (cell["invariant"], scenarios[cell["invocation"]]): (cell["verdict"], cell["explanation"])
        for cell in report["cells"]
    }
    return Played(cells, {one["scenario"]: attempts(one["stderr"]) for one in report["invocations"]})


def attempts(stderr: str) -> int:
    """The most attempts of one sample, by the agent's log."""
    lines = [json.loads(line[5:]) for line in stderr.splitlines() if line.startswith("SENT ")]
    return max(Counter(one["sample"] for one in lines).values(), default=0)


def openai(manner: str, question: str = "{prompt}") -> list[str]:
    return playing.agent("openai-3", "sampling_agent.py", manner, str(COUNT), question)


def test_samples_behind_a_server_that_fails_at_once_are_no_storm(tmp_path: Path) -> None:
    verdicts, attempted = played(tmp_path, openai("parallel"))
    assert attempted == dict.fromkeys(SCENARIOS, 1)
    # On a busy machine one of them may begin so late that its connection does not tell: unknown then.
    assert "pass" in {verdicts["no_retry_storm", one][0] for one in SCENARIOS}
    assert {key for key, (verdict, _) in verdicts.items() if verdict == "fail"} == {("max_llm_calls", "down")}
    assert f"{COUNT} times, the maximum is 1" in verdicts["max_llm_calls", "down"][1]
    assert verdicts["backs_off", "down"][0] == "unknown"


@pytest.mark.parametrize("manner", ["serial", "renewed"])
def test_the_same_in_a_loop_is_a_storm(manner: str, tmp_path: Path) -> None:
    verdicts, attempted = played(tmp_path, openai(manner))
    assert attempted == dict.fromkeys(SCENARIOS, COUNT)
    for one in SCENARIOS:
        verdict, words = verdicts["no_retry_storm", one]
        assert (verdict, words.partition(" to ")[0]) == ("fail", f"{COUNT} attempts of one call")
    assert verdicts["max_llm_calls", "down"][0] == "pass"
    assert verdicts["respects_retry_after", "limited"][0] == "fail"
    assert verdicts["no_retry_of_client_errors", "wrong"][0] == "fail"


@pytest.mark.nightly
@pytest.mark.parametrize("manner", ["retrying", "warm"])
def test_retries_of_samples_are_their_own(manner: str, tmp_path: Path) -> None:
    """The connections of `warm` were there before: where they do not show it, it is unknown."""
    later = {"trigger": {"after_calls": COUNT}} if manner == "warm" else {}
    verdicts, attempted = played(tmp_path, openai(manner), {"down": [{"status": {"code": 503}, **later}]})
    assert attempted == {"down": 3 if manner == "retrying" else 1}
    verdict, words = verdicts["no_retry_storm", "down"]
    # Where one of the samples began so late that it may be a repetition, "at most" counts it as one.
    assert verdict in (("pass",) if manner == "retrying" else ("pass", "unknown")), words


@pytest.mark.nightly
def test_goroutines_that_ask_at_once_are_no_storm_either(tmp_path: Path) -> None:
    """Go gives a request the first connection that is free, whichever was opened for it."""
    program = compiled.go("go_openai", GO)

    def storm(work: Path, manner: str) -> str:
        work.mkdir()
        command = [*program, manner, str(COUNT), "{prompt}"]
        return played(work, command, {"down": SCENARIOS["down"]}).verdicts["no_retry_storm", "down"][0]

    assert {storm(tmp_path / str(at), "parallel") for at in range(5)} <= {"pass", "unknown"}
    assert storm(tmp_path / "serial", "serial") == "fail"


def test_noticed_blames_nobody_for_samples(tmp_path: Path) -> None:
    fault = ("--fault", "status: {code: 503}")
    _, said = playing.noticed(tmp_path, openai("parallel", QUESTION), *fault)
    assert "attempts" not in said
    _, said = playing.noticed(tmp_path, openai("serial", QUESTION), *fault)
    assert f"{COUNT} attempts of a call to `api.openai.com/v1/chat/completions` without a pause" in said
    assert f"{COUNT} attempts of one call to api.openai.com/v1/chat/completions" in said
