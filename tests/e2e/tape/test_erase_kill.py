"""An erasure that is killed leaves the tape as it was or as it shall be, and it can be made then."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.tape.conftest import JSON, Deck

from faultwire.tape.evidence.sealer import seal_path, seal_tape
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.files.erase import bodies, erase
from faultwire.tape.files.find import tapes
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("shop", b"s" * 32)
SECRET = b'{"name":"Ada Lovelace of Marylebone"}'
CHILD = """
import os, pathlib, signal, sys
sys.argv = sys.argv[1:]
left = [int(sys.argv[1])]

def counted(call):
    def counting(*given, **named):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **named)
    return counting

from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.files.erase import bodies, erase
for name in ("replace", "rename", "link", "unlink", "fsync", "pwrite", "open", "chmod"):
    setattr(os, name, counted(getattr(os, name)))
path = pathlib.Path(sys.argv[0])
names = list(bodies(path, lambda event: event.get("exchange") == 1))
erase(path, names, "asked by the person", "ops@shop", SignerKey("shop", b"s" * 32))
"""


def recorded(path: Path) -> None:
    writer = TapeWriter.create(path, origin="shop/t", settings={}, key=b"k" * 32, signer=KEY)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    deck = Deck(path, writer)
    deck.begin(SECRET, JSON).end("complete", None, ())
    deck.exchange()
    writer.close_session("s")
    writer.close()


def erased(path: Path, calls: int) -> int:
    """Erase in a process of its own, which is killed at the so-manieth call that changes a file."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(calls)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def holds(path: Path) -> bool:
    return any(SECRET[9:20] in one.read_bytes() for one in path.parent.iterdir() if one.name == path.name)


@pytest.mark.cold
def test_a_kill_at_any_change_of_a_file_leaves_a_tape_that_verifies(tmp_path: Path) -> None:
    killed, states = 0, set[tuple[bool, bool]]()
    for calls in range(1, 60):
        path = tmp_path / str(calls) / "t.tape"
        path.parent.mkdir()
        recorded(path)
        code = erased(path, calls)
        killed += code != 0
        report = verify(path, (KEY.verifier,), demanded=False)
        bad = [one.code for one in report.findings if not one.is_note and one.code != "body_erased"]
        assert bad == [], (calls, bad)
        gone = any(one.code == "body_erased" for one in report.findings)
        states.add((gone, seal_path(path).is_file()))
        assert tapes(path.parent) == [path], "no half of a tape is listed"
        finished(path, gone)
        if code == 0:
            break
    assert code == 0, "every call was tried"
    assert killed > 8
    # Killed before and behind the point at which the new file takes the old one's place.
    assert {gone for gone, _ in states} == {False, True}


def finished(path: Path, gone: bool) -> None:
    """The same erasure, where it is still to be made, and no body is left beside the tape then."""
    if not seal_path(path).is_file():
        seal_tape(path, KEY)
    if not gone:
        erase(path, list(bodies(path, lambda event: event.get("exchange") == 1)), "asked", "ops@shop", KEY)
    report = verify(path, (KEY.verifier,), demanded=False)
    codes = {one.code for one in report.findings if not one.is_note}
    assert codes <= {"body_erased"}, codes
    assert not holds(path)
