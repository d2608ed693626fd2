"""A run with exactly one exchange says nothing of "1 exchanges", on the terminal and in every report."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import harness
import playing

ONE = re.compile(
    r"(?<![\d.,#])\b1 (?:[a-z]+ )?(?!(?:is|was|has|as|of|pass|passes|matches|ms|s)\b)([a-z]+s)\b(?<!ss)"
)
"""A one before a word in the plural."""


def plurals(text: str) -> list[str]:
    return [found[0] for found in ONE.finditer(re.sub(r"<[^>]*>", " ", text))]


def printed(work: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*harness.faultwire(), *arguments],
        cwd=work, env=harness.base_environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return done.stdout + done.stderr


def test_one_of_a_thing_is_one_wherever_a_run_is_shown(tmp_path: Path) -> None:
    question = "Name some rivers."
    agent = playing.agent("openai-3", "sampling_agent.py", "parallel", "1", question)
    fault = ("--fault", "status: {code: 503}")
    done = harness.execute(tmp_path, agent, "--mock", *fault)
    assert len(done.exchanges) == 1
    texts = [done.stderr, printed(tmp_path, "tape", "show", "agent.tape")]
    texts += [printed(tmp_path, "tape", "show", "agent.tape", "--exchange", "1")]
    texts += [printed(tmp_path, "tape", "verify", "agent.tape")]
    (page,) = tmp_path.rglob("report.html")
    texts.append(page.read_text())

    command = playing.agent("openai-3", "sampling_agent.py", "parallel", "1", "{prompt}")
    environment = {name: f"${{{name}}}" for name in harness.KEYS}
    document = {
        "version": "2.0",
        "agent": {"type": "command", "command": command, "env": environment},
        "proxy": {"mock": True},
        "golden_prompts": [question],
        "contract": {
            "name": "one",
            "invariants": [{"type": "only_hosts", "hosts": ["api.openai.com"]}],
            "chaos_matrix": [{"name": "down", "faults": [{"status": {"code": 503}}]}],
        },
    }
    (tmp_path / "faultwire.yaml").write_text(json.dumps(document))
    texts.append(printed(tmp_path, "contract", "run", "--allow-unknown", "-o", "report.json"))
    for name in ("report.md", "report.html"):
        printed(tmp_path, "report", "report.json", "-o", name)
        texts.append((tmp_path / name).read_text())
    assert [found for text in texts for found in plurals(text)] == []


def test_a_plural_behind_a_one_is_found() -> None:
    assert plurals("exchanges: 1 exchanges") == ["1 exchanges"]
    assert plurals("<b>1</b>exchanges and 1 more exchanges") == ["1 exchanges", "1 more exchanges"]
    assert plurals("1 of 1 invocations") == ["1 invocations"]
    assert plurals("21 exchanges, 1 exchange, #1 passes, call 1 matches, 0.1 points") == []
