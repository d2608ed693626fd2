"""What a server prints is kept without its secrets, however it prints them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from faultwire.agents._log import LONGEST, Log

KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"


def logged(path: Path, *pieces: bytes) -> bytes:
    reader, writer = os.pipe()
    log = Log(os.fdopen(reader, "rb"), path)
    for piece in pieces:
        os.write(writer, piece)
    os.close(writer)
    log.settle()
    assert not log.is_alive()
    return path.read_bytes()


def test_lines_are_kept_and_keys_are_not(tmp_path: Path) -> None:
    said = logged(tmp_path / "agent.log", b"ready\nusing ", KEY.encode(), b" now\nno end")
    assert said.startswith(b"ready\nusing ")
    assert said.endswith(b" now\nno end")
    assert KEY.encode() not in said
    assert stat.S_IMODE((tmp_path / "agent.log").stat().st_mode) == 0o600


def test_it_is_appended_to_and_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    logged(tmp_path / "agent.log", b"first\n")
    assert logged(tmp_path / "agent.log", b"\xff\xfe second\n") == "first\n\ufffd\ufffd second\n".encode()


def test_a_line_without_end_is_taken_in_pieces(tmp_path: Path) -> None:
    assert logged(tmp_path / "agent.log", *[b"x" * 4096] * 40) == b"x" * 4096 * 40
    assert LONGEST < 4096 * 40
