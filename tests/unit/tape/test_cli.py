"""`faultwire tape` (cli/tape.py and cli/_tape_show.py): `faultwire.cli.tape`, `faultwire.cli._tape_show`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from faultwire.cli import main
from faultwire.events import Response


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["tape", *args])


def test_list(closed: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = closed()
    (path.parent / "broken.tape").write_bytes(b"x")
    found = run("list", str(path.parent))
    assert found.exit_code == 0
    assert "broken.tape" in found.stdout
    assert "tape.unreadable" in found.stdout
    listed = json.loads(run("list", str(path.parent), "--format", "json").stdout)
    assert [(t["sessions"], t["exchanges"], t["state"]) for t in listed] == [
        (None, None, "tape.unreadable"),
        (1, 2, "ended"),
    ]
    monkeypatch.chdir(tmp_path)
    assert run("list").stdout == "no tapes\n"


def test_show_all(closed: Callable[[], Path]) -> None:
    path = str(closed())
    lines = run("show", path).stdout.splitlines()
    assert lines[0].split()[:7] == ["session", "no", "kind", "request", "status", "ending", "bytes"]
    assert lines[1].split()[:7] == ["s", "1", "llm", "POST", "https://h.example/v1", "200", "complete"]
    assert lines[1].endswith("status")
    rows = json.loads(run("show", path, "--session", "s", "--format", "json").stdout)
    assert [(row["number"], row["status"], row["fired"], row["bytes"]) for row in rows] == [
        (1, 200, ["status"], 8),
        (2, 200, ["status"], 11),
    ]


def test_show_one(closed: Callable[[], Path]) -> None:
    path = str(closed())
    page = run("show", path, "--exchange", "1").stdout
    assert "protocol  -\n" in page  # this deck's exchanges were not understood
    assert "> POST https://h.example/v1\n  content-type: application/json\n\n  {}" in page
    assert (
        '< upstream sent: 200 OK (8 bytes in 1 chunk)\n  content-type: application/json\n\n  {"ok":1}' in page
    )
    assert "fault status: fired, rolled 0.1" in page
    assert run("show", path, "--exchange", "2", "--raw").stdout == '{"other":2}'
    document = json.loads(run("show", path, "--exchange", "1", "--format", "json").stdout)
    assert document["upstream"]["chunks"][0]["end"] == 8
    assert document["delivered"]["body"] == '{"ok":1}'


def test_nothing_from_the_network_reaches_the_terminal_unescaped(deck: Any) -> None:
    recording = deck.begin(b"\x1b[31mred\x1b[0m", path="/\x1b]0;title\x07")
    recording.upstream_head(Response(200, "O\x1bK", (("x", "\x1b[2J"),)))
    recording.upstream_chunk("\u202egpj.exe \x9b31m".encode())
    recording.end("complete", "bad \x1b[1m")
    deck.read()
    for extra in ([], ["--exchange", "1"], ["--exchange", "1", "--format", "json"]):
        text = run("show", str(deck.path), *extra).stdout
        assert all(c.isprintable() or c == "\n" for c in text)
        assert "\u202e" not in text


def test_usage(deck: Any, tmp_path: Path) -> None:
    deck.writer.open_session("t", profile="calm", profile_digest="", seed=1)
    deck.read()
    for args, code in (
        (["show", str(deck.path), "--raw"], "usage.raw"),
        (["show", str(deck.path), "--exchange", "1"], "usage.session"),
        (["show", str(tmp_path / "no.tape")], "tape.not_found"),
        (["list", str(tmp_path / "none")], "tape.not_found"),
    ):
        found = run(*args)
        assert found.exit_code == 2, args
        assert code in found.stderr
    assert run("show", str(deck.path)).stdout == "no exchanges\n"


def test_verify(closed: Callable[[], Path], tmp_path: Path) -> None:
    path = closed()
    found = run("verify", str(path))
    assert found.exit_code == 0
    assert f"{path}: verifies (11 events, 2 exchanges, 3 bodies)\n  root " in found.stdout
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DELETE FROM events WHERE seq=5")
    connection.close()
    found = run("verify", str(path))
    assert found.exit_code == 1
    assert "does not verify, first bad event 5" in found.stdout
    assert "bad sequence_gap: event 5 is missing, found 6" in found.stdout
    found = run("verify", str(path), str(tmp_path / "no.tape"), "--format", "json")
    assert found.exit_code == 3
    first, second = json.loads(found.stdout)
    assert (first["ok"], first["first_bad"], second["error"]) == (False, 5, "tape.not_found")
