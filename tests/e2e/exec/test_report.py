"""What `faultwire exec` shows by itself of a program that nobody judges."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Faultwire = Callable[..., "subprocess.CompletedProcess[bytes]"]
AGENT = """
import json, os, ssl, urllib.request
body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Name the highest mountain."}]}
key = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
url = "https://api.openai.com/v1/chat/completions"
answer, reason = "", None
while True:
    for line in urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), key)):
        if line.startswith(b"data: {"):
            choice = json.loads(line[6:])["choices"][0]
            answer, reason = answer + choice["delta"].get("content", ""), choice["finish_reason"]
    if reason or not CAREFUL:
        break
    answer = ""
print(answer)
"""
EARLY = ("--fault", "early_end: {after_events: 6, first: 1, attempts: first}")


def play(faultwire: Faultwire, *options: str, careful: bool) -> tuple[str, str]:
    """Answer and stderr of the agent behind `exec --mock`, in an environment without a key."""
    source = f"CAREFUL = {careful}\n{AGENT}"
    done = faultwire(
        "exec", "--mock", *options, "--", sys.executable, "-c", source, env={"OPENAI_API_KEY": ""}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip(), done.stderr.decode()


def test_half_an_answer_is_reported_and_its_exchange_is_in_the_report(
    faultwire: Faultwire, here: Path
) -> None:
    answer, said = play(faultwire, *EARLY, careful=False)
    assert f"an incomplete answer: it ended after `{answer}` without its closing event" in said
    (folder,) = (here / ".faultwire" / "runs").iterdir()
    assert f"report     {folder.relative_to(here)}/report.html" in said
    page = (folder / "report.html").read_text()
    assert "✂ the stream was ended early after event 6" in page
    assert '<details class="ex" id="i1e1" open>' in page
    again = faultwire("report", "last", "--format", "json")
    assert json.loads(again.stdout)["suggestions"][0]["id"] == "refuse_halves"


def test_an_agent_that_asks_again_has_nothing_to_fix(faultwire: Faultwire) -> None:
    answer, said = play(faultwire, *EARLY, careful=True)
    assert answer.endswith("Name the highest mountain.")
    assert "early_end: ended cleanly after 6 events" in said
    assert "exchanges  2: 2 llm" in said
    assert "noticed" not in said


@pytest.mark.nightly
@pytest.mark.parametrize("seed", ["42", "7"])
def test_stream_chaos_breaks_the_first_answer_whatever_the_seed(faultwire: Faultwire, seed: str) -> None:
    _, said = play(faultwire, "--profile", "stream_chaos", "--seed", seed, careful=False)
    assert "early_end: ended cleanly after 6 events" in said
    assert "noticed" in said
