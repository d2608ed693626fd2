"""What is sent to workers of Dask needs nothing of ours there, and what comes back is understood."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.campaign.dask_engine import ended, task
from faultwire.campaign.engine import Command


def test_what_is_sent_is_a_call_of_the_standard_library(tmp_path: Path) -> None:
    words = (sys.executable, "-I", "-S", "-c", "import sys; print(sys.stdin.read(), end='!'); sys.exit(3)")
    sent = pickle.dumps(task(Command(words, str(tmp_path)), "hello"))
    assert b"faultwire." not in sent
    function, argument, options = pickle.loads(sent)
    found = ended("b", function(argument, **options))
    assert (found.batch, found.code, found.output, found.lost) == ("b", 3, b"hello!", "")


@pytest.mark.parametrize(
    ("done", "code", "lost"),
    [
        (subprocess.CompletedProcess([], -9, b"", b""), -9, "its command was ended by signal 9"),
        (FileNotFoundError("/none/python"), 127, ""),
        (NotADirectoryError("/none"), 127, ""),
        (RuntimeError("no graph"), 0, "RuntimeError: no graph"),
        (ConnectionResetError("gone"), 0, "ConnectionResetError: gone"),
    ],
)
def test_what_comes_back_is_an_end_or_a_loss(done: object, code: int, lost: str) -> None:
    found = ended("b", done)
    assert (found.code, found.lost) == (code, lost)
