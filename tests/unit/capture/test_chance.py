from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.capture import chance_preload
from faultwire.capture.chance import MARK, PRELOAD, SEED, FixedChance
from faultwire.capture.node import PRELOAD as NODE_PRELOAD

PYTHON = """import os, random, secrets, tempfile, uuid
print(random.random(), random.Random().random(), random.SystemRandom().random(), uuid.uuid4())
print(secrets.token_hex(4), os.urandom(3).hex(), os.getrandom(3).hex(), list({"a", "b", "c", "d", "e"}))
random.seed()
print(random.random(), tempfile.NamedTemporaryFile().name, flush=True)
if os.fork() == 0:
    print(random.random(), uuid.uuid4(), flush=True)
    os._exit(0)
os.wait()
"""
NODE = """
import crypto, { randomUUID, randomInt, randomBytes, randomFillSync, getRandomValues } from 'node:crypto';
console.log(Math.random(), randomUUID(), globalThis.crypto.randomUUID(), randomInt(1000), randomInt(5, 9));
console.log(randomBytes(4), randomFillSync(new Uint32Array(4), 1, 2), getRandomValues(new Uint16Array(2)));
console.log(globalThis.crypto.getRandomValues(new Uint8Array(3)), crypto.randomBytes(0).length);
const show = (filled) => randomBytes(2, (_, made) => console.log(filled, made));
crypto.randomFill(Buffer.alloc(4), 1, 2, (_, filled) => show(filled));
for (const wrong of [() => randomBytes(-1), () => randomInt(5, 3), () => randomUUID(3)]) {
  try { wrong(); console.log('accepted'); } catch (error) { console.log(error.code); }
}
"""


def said(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program that is run forks")
def test_all_chance_of_python_is_the_same_in_each_run_and_other_without_it(tmp_path: Path) -> None:
    fixed = FixedChance.at(tmp_path / "chance")
    program = (sys.executable, "-c", PYTHON)
    one, other = (said(fixed.environment(os.environ), *program) for _ in range(2))
    assert one == other
    assert len(set(one.split())) == len(one.split()), "no number comes twice"
    assert fixed.reached()
    assert not fixed.reached(), "a mark counts once"
    free = [said(dict(os.environ), *program).split() for _ in range(2)]
    again = {word for word in set(free[0]) & set(free[1]) if word.strip("[],'") not in set("abcde")}
    assert not again, "without it, nothing is the same"
    elsewhere = said(fixed.environment(os.environ), *program, "another word")
    assert elsewhere != one, "other programs have other chance"


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_takes_no_preload_leaves_no_mark(option: str, tmp_path: Path) -> None:
    fixed = FixedChance.at(tmp_path / "chance")
    said(fixed.environment(os.environ), sys.executable, option, "-c", "pass")
    assert not fixed.reached()


def test_the_sitecustomize_of_somebody_else_runs_as_well(tmp_path: Path) -> None:
    fixed = FixedChance.at(tmp_path / "chance")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("HERE = 'theirs'")
    given = fixed.environment({**os.environ, "PYTHONPATH": str(theirs)})
    program = "import sitecustomize, sys; print(sitecustomize.HERE, any('chance' in one for one in sys.path))"
    assert said(given, sys.executable, "-c", program) == "theirs False\n"
    assert fixed.reached()


def test_a_seed_of_the_programs_own_counts_as_before(tmp_path: Path) -> None:
    fixed = FixedChance.at(tmp_path / "chance")
    program = (sys.executable, "-c", "import random; random.seed(7); print(random.random())")
    assert said(fixed.environment(os.environ), *program) == said(dict(os.environ), *program)


def test_all_chance_of_node_is_the_same_in_each_run_and_other_without_it(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    script = tmp_path / "agent.mjs"
    script.write_text(NODE)
    fixed = FixedChance.at(tmp_path / "chance")
    program = (node, "--require", str(NODE_PRELOAD), str(script))
    one, other = (said(fixed.environment(os.environ), *program) for _ in range(2))
    assert one == other
    assert fixed.reached()
    assert "accepted" not in one
    free = [said(dict(os.environ), *program) for _ in range(2)]
    assert free[0] != free[1]
    assert not fixed.reached()
    wrong = [line for line in one.splitlines() if line.startswith("ERR_")]
    assert wrong == [line for line in free[0].splitlines() if line.startswith("ERR_")]


def test_both_preloads_read_the_names_that_are_set() -> None:
    assert (chance_preload.SEED, chance_preload.MARK) == (SEED, MARK)
    assert f"process.env.{SEED}" in NODE_PRELOAD.read_text()
    assert f"process.env.{MARK}" in NODE_PRELOAD.read_text()
    assert Path(chance_preload.__file__) == PRELOAD
