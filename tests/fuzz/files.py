"""Tapes and recordings of other tools that somebody bent: one typed error, or findings; never anything else.

The inputs are numbers: what is bent and how follows from them (`tests/property`).
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path
from types import ModuleType

from hypothesis import strategies as st
from tests.fuzz.targets import Target
from tests.property import test_tape_hostile, test_tape_imports
from tests.unit.tape.conftest import second_verifier

from faultwire.errors import TapeError
from faultwire.tape.read.reader import TapeReader

NUMBERS = st.integers(0, 2**63)
LONGEST_S = 5.0


@cache
def _folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="faultwire-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def _sound() -> Path:
    place = _folder() / "sound"
    place.mkdir()
    return test_tape_hostile.sound_tape(place / "t.tape")


@cache
def _files() -> list[tuple[test_tape_imports.Read, bytes]]:
    place = _folder() / "files"
    place.mkdir()
    return test_tape_imports.made_files(place)


@cache
def _other_verifier() -> ModuleType:
    return second_verifier()


def check_tape(number: int | bytes) -> bool:
    """All verifiers agree on a bent tape, and reading all of it ends in time with exchanges or an error."""
    chance = random.Random(int(number))
    path = _folder() / "bent.tape"
    for one in _folder().glob("bent.*"):
        one.unlink()
    test_tape_hostile.bent(_sound(), path, chance)
    if chance.random() < 0.3:
        data = bytearray(path.read_bytes())
        for _ in range(chance.choice((1, 4, 40))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        damaged = True
    else:
        damaged = False
    began = time.process_time()
    refused = None
    try:
        if not damaged:
            test_tape_hostile.judged_alike(path, _other_verifier())
        with TapeReader.open(path) as tape:
            for session in tape.sessions():
                tape.history(session.name)
    except TapeError as error:
        refused = error.render()
    assert refused is None or refused.replace("\n", "").isprintable()
    assert time.process_time() - began < LONGEST_S
    return refused is None


def check_import(number: int | bytes) -> bool:
    """A file of another tool becomes a whole tape with findings, or is refused."""
    chance = random.Random(int(number))
    read, data = chance.choice(_files())
    changed = (test_tape_imports.bent if chance.random() < 0.4 else test_tape_imports.twisted)(data, chance)
    began = time.process_time()
    taken = test_tape_imports.judged(read, changed, _folder(), kept=chance.random() < 0.2)
    assert taken in ("told", "refused"), taken
    assert time.process_time() - began < LONGEST_S
    return taken == "told"


TAPES = Target("tapes", NUMBERS, check_tape, batch=50)
IMPORTS = Target("imports", NUMBERS, check_import, batch=200)
