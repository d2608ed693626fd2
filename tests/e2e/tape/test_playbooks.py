"""The playbooks of docs/howto/playbooks.md, run as they are written, on tapes that are as each says."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "howto" / "playbooks.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^## (.+?)$.*?```sh\n(.+?)```", PAGE, flags=re.MULTILINE | re.DOTALL))
EXPECTED = re.compile(r"(.+?)\s+# exit (\d): (.+)")
CHAT = """
curl -sS -o /dev/null -H 'authorization: Bearer none' -H 'content-type: application/json' \
  -d '{"model":"m","messages":[{"role":"user","content":"Mail jane.doe@example.org."}]}' \
  https://api.openai.com/v1/chat/completions
"""


def run(folder: Path, command: str) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWIRE_")}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env | {"PATH": path},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


def change(tape: Path, statement: str) -> None:
    tape.chmod(0o600)
    with closing(sqlite3.connect(tape)) as connection:
        assert connection.execute(statement).rowcount > 0
        connection.commit()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence")
    (folder / "chat.sh").write_text(CHAT * 2)
    code, out = run(folder, "faultwire exec -q --mock --record night.tape -- bash chat.sh")
    assert code == 0, out
    whole = (folder / "night.tape").read_bytes()
    for name in ("changed", "gap", "killed"):
        (folder / f"{name}.tape").write_bytes(whole)
    other = "CAST(replace(CAST(record AS TEXT), 'exec', 'eXec') AS BLOB)"
    change(folder / "changed.tape", f"UPDATE events SET record = {other} WHERE seq = 10")
    change(folder / "gap.tape", "DELETE FROM events WHERE seq = 10")
    change(folder / "killed.tape", "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
    return folder


def test_there_are_four() -> None:
    assert list(BLOCKS) == [
        "A hash does not match",
        "Something is missing",
        "Personal data is on a tape",
        "A seal is missing",
    ]
    assert sum(len(EXPECTED.findall(block)) for block in BLOCKS.values()) == 18


@pytest.mark.parametrize("title", BLOCKS)
def test_a_playbook_runs_as_it_is_written(project: Path, title: str) -> None:
    for line in BLOCKS[title].splitlines():
        expected = EXPECTED.fullmatch(line)
        command, code, words = expected.groups() if expected else (line, "0", "")
        found, out = run(project, command)
        assert (found, words in out) == (int(code), True), (line, out)


def test_control_a_sound_tape_gives_none_of_the_findings(tmp_path: Path) -> None:
    (tmp_path / "chat.sh").write_text(CHAT)
    run(tmp_path, "faultwire exec -q --mock --record sound.tape -- bash chat.sh")
    code, out = run(tmp_path, "faultwire tape verify sound.tape")
    assert code == 0
    assert "AUTHORITATIVE" in out
    assert not any(word in out for word in ("hash_mismatch", "sequence_gap", "seal_missing", "PARTIAL"))
