"""Limits are read, refused where they cannot be set, and hold where they can."""

from __future__ import annotations

import subprocess
import sys

import pytest

from faultwire.errors import UsageError
from faultwire.load.pressure import Pressure, available, pressed


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("memory=256M", "memory", 256 << 20),
        ("cpu=0.5", "cpu", 0.5),
        ("pids=32", "pids", 32),
        ("fds=64", "fds", 64),
        ("disk=1m", "disk", 1 << 20),
    ],
)
def test_limits_are_read(text, kind, amount):
    assert (Pressure.parse(text).kind, Pressure.parse(text).amount) == (kind, amount)


@pytest.mark.parametrize(
    "text", ["memory", "memory=", "ram=1G", "fds=0.5", "pids=1.5", "cpu=-1", "cpu=nan", "fds=inf", "cpu=0"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError, match="expected `memory=256M`"):
        Pressure.parse(text)


def test_fewer_files_can_be_opened_under_the_limit_and_arguments_stay_words():
    program = "import resource, sys; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], sys.argv[1])"
    with pressed(Pressure.parse("fds=40"), (sys.executable, "-c", program, "a b; $(c)")) as command:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "40 a b; $(c)"


def test_a_limit_that_no_process_comes_under_is_refused_before_anything_starts():
    """More files than the kernel gives anybody: `ulimit` fails, and an agent would seem to fail of it."""
    available([Pressure.parse("fds=40")])
    with pytest.raises(UsageError, match="found `--pressure fds=99999999999`, under which not even `true`"):
        available([Pressure.parse("fds=99999999999")])
