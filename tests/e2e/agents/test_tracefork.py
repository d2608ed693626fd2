"""Tapes that the real tracefork wrote, of three releases, are imported with its own digest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import environments
import harness
import pytest

from faultwire.tape.import_ import tracefork
from faultwire.tape.import_._api import Exchanged, Found

WRITER = Path(__file__).with_name("tracefork_writer.py")
NEWER = environments.at_least(12)
NEEDS = pytest.mark.skipif(NEWER is None, reason="every release of tracefork needs Python 3.12, found none")


@NEEDS
@pytest.mark.nightly
@pytest.mark.parametrize("version", ["0.1.0", "0.3.0", "1.0.0"])
def test_every_form_of_a_real_tape(tmp_path: Path, version: str) -> None:
    python = environments.python(f"tracefork-{version}", NEWER)
    wrote = subprocess.run(
        [python, WRITER, tmp_path], check=True, capture_output=True, text=True, timeout=300
    )
    digest = wrote.stdout.strip()
    assert len(digest) == 64
    for name in ("tape.sqlite", "tape.bin", "store.db"):
        items = list(tracefork.read(tmp_path / name, digest))
        assert [one for one in items if isinstance(one, Found) and not one.note] == [], name
        calls = [one.exchange for one in items if isinstance(one, Exchanged)]
        assert {one.request.host for one in calls} == {"api.anthropic.com"}
        first = 429 if version == "1.0.0" else 200
        assert [one.delivered and one.delivered.status for one in calls] == [first, 200]
        wrong = list(tracefork.read(tmp_path / name, "0" * 64))
        assert "tracefork_digest_mismatch" in {one.code for one in wrong if isinstance(one, Found)}


AGENT = """
from anthropic import Anthropic
asked = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
print(Anthropic().messages.create(**asked).content[0].text)
"""


@NEEDS
@pytest.mark.nightly
def test_a_real_tape_is_replayed_and_forked(tmp_path: Path) -> None:
    python = environments.python("tracefork-1.0.0", NEWER)
    subprocess.run([python, WRITER, tmp_path], check=True, capture_output=True, timeout=300)
    (tmp_path / "agent.py").write_text(AGENT)
    agent = [str(environments.python("anthropic-2")), "agent.py"]

    def faultwire(*arguments: str) -> str:
        done = subprocess.run(
            [*harness.faultwire(), *arguments],
            cwd=tmp_path, env=harness.base_environment(), capture_output=True, text=True, timeout=120,
            check=True,
        )  # fmt: skip
        return done.stdout + done.stderr

    faultwire("tape", "import", "tape.sqlite", "-o", "real")
    replayed = faultwire("exec", "--replay", "real", "--", *agent)
    assert "hello" in replayed.splitlines()
    assert "replayed   2 of 2 recorded exchanges" in replayed
    change = 'text="The flight is cancelled."'
    forked = faultwire("fork", "real", "--at", "2", "--set", change, "--tail", "tape", "--", *agent)
    assert "The flight is cancelled." in forked.splitlines()
    assert "hello" not in forked.splitlines()


@NEEDS
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_answer_that_made_the_difference_between_two_real_tapes(tmp_path: Path) -> None:
    """What `tracefork blame` is for, on its own tapes: which answer made the outcome."""
    python = environments.python("tracefork-1.0.0", NEWER)
    (tmp_path / "agent.py").write_text(AGENT)
    agent = [str(environments.python("anthropic-2")), "agent.py"]

    def faultwire(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [*harness.faultwire(), *arguments],
            cwd=tmp_path, env=harness.base_environment(), capture_output=True, text=True, timeout=800,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    for name, text in (("failed", "The flight is cancelled."), ("calm", "hello")):
        (tmp_path / name).mkdir()
        subprocess.run([python, WRITER, tmp_path / name, text], check=True, capture_output=True, timeout=300)
        faultwire("tape", "import", f"{name}/tape.sqlite", "-o", name)
    judged = ("--expect", "contains: hello")
    said = faultwire("blame", "failed", "--calm", "calm", *judged, "--", *agent)
    assert "makes the failure" in said
    assert "cause: fails 0 of" in said
    same = faultwire("blame", "calm", "--calm", "calm", *judged, "--", *agent, code=2)
    assert "both runs are the same on the wire" in same
