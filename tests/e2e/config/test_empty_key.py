"""A key that is handed on and may be empty, as in the example of the configuration page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "configuration.md"
CONFIG = """version: "2.0"
agent:
  command: [python3, agent.py, "{prompt}"]
ENV
proxy: {mock: MOCKED}
golden_prompts: ["The moon?"]
contract:
  invariants: [{type: completes}]
  chaos_matrix: [{name: calm}]
"""
AGENT = """
import json, os, urllib.request
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "The moon?"}]}).encode()
request = urllib.request.Request("https://api.openai.com/v1/chat/completions", body, headers)
print(urllib.request.urlopen(request).status)
"""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = re.search(r"^  env: {OPENAI_API_KEY: .*}$", PAGE.read_text(), re.MULTILINE)
    assert found is not None
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "faultwire.yaml").write_text(CONFIG.replace("ENV", found[0]).replace("MOCKED", "true"))
    return tmp_path


def test_an_empty_key_is_none_to_an_agent_that_the_mock_answers(example: Path, faultwire) -> None:
    done = faultwire("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    played = faultwire("contract", "run")
    assert played.returncode == 0, played.stdout + played.stderr


def test_a_key_that_is_empty_by_other_means_is_still_refused(example: Path, faultwire) -> None:
    """The control: the mock does answer 401 to an empty key."""
    agent = (example / "agent.py").read_text()
    (example / "agent.py").write_text(agent.replace('os.environ["OPENAI_API_KEY"]', '""'))
    done = faultwire("contract", "run")
    assert done.returncode == 1, done.stdout + done.stderr
