"""`faultwire.tape.export.verify_export`: JSON lines judged by the core, and told as a tape is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.tape.conftest import Deck

from faultwire import _core
from faultwire.cli import main
from faultwire.errors import TapeError, TapeNotFound
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import jsonl, verify_export
from faultwire.tape.record.writer import TapeWriter


@pytest.fixture
def lines(closed: Callable[[], Path], tmp_path: Path) -> tuple[Path, Path]:
    """A tape, and its export."""
    tape, path = closed(), tmp_path / "t.jsonl"
    with path.open("wb") as out:
        jsonl.write(tape, out)
    return tape, path


def test_an_export_is_judged_as_its_tape_is(lines: tuple[Path, Path]) -> None:
    tape, path = lines
    ours, found = verify(tape), verify_export.verify(path)
    assert found.ok
    for name in ("events", "blobs", "sessions", "exchanges", "root", "origin", "key", "made_by", "imported"):
        assert getattr(found, name) == getattr(ours, name), name
    assert [one.code for one in found.findings] == ["seal_missing"]
    assert not verify_export.verify(path, demanded=True).ok


def test_every_changed_line_is_noticed(lines: tuple[Path, Path]) -> None:
    path = lines[1]
    sound = path.read_bytes().splitlines(keepends=True)
    for at in range(1, len(sound)):
        middle = len(sound[at]) // 2
        changed = bytearray(sound[at])
        changed[middle] ^= 1
        path.write_bytes(b"".join([*sound[:at], bytes(changed), *sound[at + 1 :]]))
        found = verify_export.verify(path)
        if at < len(sound) - 1:  # what comes after the last event is what names it
            assert not found.ok, at
        path.write_bytes(b"".join([*sound[:at], *sound[at + 1 :]]))
        assert not verify_export.verify(path).ok or at == len(sound) - 1, at


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """The lines of a tape that says of itself that it was imported."""
    tape, path = tmp_path / "i.tape", tmp_path / "i.jsonl"
    writer = TapeWriter.create(tape, origin="p/i", settings={"imported": "har"}, key=b"k" * 32)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    Deck(tape, writer).exchange()
    writer.close_session("s")
    writer.close()
    with path.open("wb") as out:
        jsonl.write(tape, out)
    return path


@pytest.mark.parametrize(
    "more",
    [
        {"settings": '{"x":1}', "x": {"type": "tape"}},
        {"x": 1},
        {"size": True},
        {},
    ],
)
def test_a_bodys_line_says_nothing_of_the_tape(imported: Path, more: dict[str, Any]) -> None:
    """No hash covers it, so anybody may put it first, and write into it."""
    assert verify_export.verify(imported).imported == "har"
    head, *lines = imported.read_bytes().splitlines(keepends=True)
    body = next(line for line in lines if line.startswith(b'{"blob"'))
    lines.remove(body)
    told = json.dumps({**json.loads(body), **more}, sort_keys=True, separators=(",", ":"))
    imported.write_bytes(b"".join([head, told.encode() + b"\n", *lines]))
    found = verify_export.verify(imported)
    assert found.imported == "har"
    assert found.ok == (not more)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: b"\xef\xbb\xbf" + line,
        lambda line: line.replace(b",", b", ", 1),
        lambda line: line.replace(b"\n", b"\r\n"),
        lambda line: line.replace(b'"data"', b'"d\\u0061ta"'),
        lambda line: line.rstrip(b"\n").decode().encode("utf-16-be") + b"\n",
        lambda line: line.replace(b'"size"', b'"size":0,"size"'),
    ],
)
def test_a_bodys_line_has_one_text(
    lines: tuple[Path, Path], second: ModuleType, change: Callable[[bytes], bytes]
) -> None:
    path = lines[1]
    body = next(line for line in path.read_bytes().splitlines(keepends=True) if line.startswith(b'{"blob"'))
    path.write_bytes(path.read_bytes().replace(body, change(body)))
    with path.open("rb") as source:
        source.readline()
        theirs = second.verify(source).findings
    found = verify_export.verify(path)
    assert not found.ok
    assert [one.code for one in found.findings] == [one["code"] for one in theirs]


def test_lines_without_end_are_not_read_to_the_last(tmp_path: Path, second: ModuleType) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl.HEAD + b"\n" * 400_000)
    found = verify_export.verify(path)
    assert not found.ok
    assert 100_000 < len(found.findings) < 100_010
    assert len(second.verify([b"\n"] * 400_000).findings) == len(found.findings)


def test_notes_without_end_are_not_all_listed_and_nothing_is_missed_for_it(
    lines: tuple[Path, Path], second: ModuleType, tmp_path: Path
) -> None:
    """More exchanges were dropped than anybody reads of: the tape still verifies, and its end is judged."""
    sound, prev = lines[1].read_bytes(), verify_export.verify(lines[1])
    last = sound.splitlines()[-1]
    chain, seq, path = [sound], prev.events, tmp_path / "many.jsonl"
    for _ in range(100_010):
        last = json.dumps(
            {
                "type": "drop", "session": "other", "exchange": seq, "reason": "disk",
                "prev": _core.leaf_hash(last).hex(), "seq": seq,
            },
            sort_keys=True, separators=(",", ":"),
        ).encode()  # fmt: skip
        chain.append(last + b"\n")
        seq += 1
    path.write_bytes(b"".join(chain))
    found = verify_export.verify(path)
    assert (found.ok, found.events) == (True, seq)
    assert [one.code for one in found.findings] == [*["drop_present"] * 100_000, "seal_missing"]
    with path.open("rb") as source:
        source.readline()
        theirs = second.verify(source).findings
    assert [one["code"] for one in theirs] == [one.code for one in found.findings]
    path.write_bytes(b"".join([*chain[:-2], chain[-1]]))  # and what is wrong behind them is found
    assert {one.code for one in verify_export.verify(path).findings} >= {"chain_broken", "sequence_gap"}


def test_what_it_was_made_of_limits_its_class(lines: tuple[Path, Path], tmp_path: Path) -> None:
    path = lines[1]
    first = json.loads(path.read_bytes().splitlines()[1])
    first["settings"] = '{"imported":"har"}'
    line = json.dumps(first, sort_keys=True, separators=(",", ":"))
    (tmp_path / "other.jsonl").write_bytes(jsonl.HEAD + line.encode() + b"\n")
    assert verify_export.verify(tmp_path / "other.jsonl").imported == "har"
    first["settings"] = "[7]"
    line = json.dumps(first, sort_keys=True, separators=(",", ":"))
    (tmp_path / "other.jsonl").write_bytes(jsonl.HEAD + line.encode() + b"\n")
    codes = [one.code for one in verify_export.verify(tmp_path / "other.jsonl").findings]
    assert "record_malformed" in codes


def test_what_is_no_export_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    with pytest.raises(TapeNotFound, match="no exported tape"):
        verify_export.verify(path)
    path.write_text('{"other":1}\n')
    with pytest.raises(TapeError, match="expected an exported tape"):
        verify_export.verify(path)
    monkeypatch.setattr(verify_export, "_MAX_EVENT", 100)
    monkeypatch.setattr(verify_export, "_MAX_LINE", 150)
    for line, told in ((b"x" * 200, 100), (b'{"blob":' + b"1" * 200, 150)):
        path.write_bytes(jsonl.HEAD + line)
        with pytest.raises(TapeError, match=f"a line of {told} bytes or more"):
            verify_export.verify(path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(TapeError, match="is not a file"):
        verify_export.verify(tmp_path / "pipe.jsonl")
    os.mkdir(tmp_path / "folder.jsonl")
    with pytest.raises(TapeError, match="is not a file"):
        verify_export.verify(tmp_path / "folder.jsonl")


def test_the_command_takes_it(lines: tuple[Path, Path]) -> None:
    tape, path = lines
    found = CliRunner().invoke(main, ["tape", "verify", str(path), str(tape)])
    assert found.exit_code == 0, found.output
    told = [line.split(": ", 1)[1] for line in found.stdout.splitlines() if " verifies " in line]
    assert told[0] == told[1]
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b'{"')])  # without its last event
    again = CliRunner().invoke(main, ["tape", "verify", "--json", str(path)])
    (report,) = json.loads(again.stdout)
    assert (report["events"], report["class"]) == (10, "PARTIAL")
