"""The job can fail, and the list of equivalent mutants is about lines that are there."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tests.mutation import core, outcome, python
from tests.mutation.outcome import Equivalent, Mutant, judge
from tests.mutation.rooms import CORE, PYTHON, PythonRoom

ROOT = Path(__file__).parents[2]
KILLED = [Mutant("a.rs", f"line {n}", "replace < with <=", "killed") for n in range(40)]
ALIVE = Mutant("a.rs", "if a < b {", "replace < with <=", "survived", ":7")
ROW = Equivalent("a.rs", "if a < b {", "replace < with <=", "a is never b")


def test_a_survivor_that_nobody_explains_fails_the_room() -> None:
    found = judge("r", [*KILLED, ALIVE], ())
    assert (found.holds, found.unlisted) == (False, (ALIVE,))
    assert found.lines()[1] == "survived: a.rs:7: replace < with <=\n    if a < b {"


def test_one_with_a_reason_does_not() -> None:
    found = judge("r", [*KILLED, ALIVE], (ROW,))
    assert (found.holds, found.score) == (True, 1.0)
    assert found.lines() == ["| r | 41 | 40 | 0 | 1 | 0 | 100.0% |"]


@pytest.mark.parametrize(
    "changed", [{"file": "b.rs"}, {"line": "if a < c {"}, {"change": "replace < with >"}]
)
def test_a_reason_is_about_one_mutant(changed: dict[str, str]) -> None:
    other = Equivalent(**{**ROW.__dict__, **changed})
    assert judge("r", [*KILLED, ALIVE], (other,)).unlisted == (ALIVE,)


def test_a_reason_for_a_mutant_that_a_test_kills_fails_the_room() -> None:
    found = judge("r", KILLED, (ROW,))
    assert (found.holds, found.stale) == (False, (ROW,))
    assert judge("r", KILLED, (ROW,), whole=False).holds  # another shard may have it
    assert judge("r", KILLED, (Equivalent("other.rs", "x", "y", "z"),)).holds  # another room may


def test_a_room_without_mutants_fails() -> None:
    assert not judge("r", [], ()).holds
    assert not judge("r", [Mutant("a.rs", "x", "y", "unviable")], ()).holds


def test_a_timeout_counts_as_noticed() -> None:
    found = judge("r", [Mutant("a.rs", "x", "y", "timeout")], ())
    assert (found.holds, found.score) == (True, 1.0)


def test_a_mutant_that_no_time_was_left_for_fails_the_room() -> None:
    found = judge("r", [*KILLED, Mutant("a.rs", "x", "y", "left")], ())
    assert (found.holds, found.unlisted) == (False, ())
    assert found.lines()[1:] == ["not run: 1 mutants of r, for want of time"]


def test_a_shard_is_a_number_below_another() -> None:
    assert (python.position(None), python.position("0/4"), python.position("3/4")) == ((0, 1), (0, 4), (3, 4))
    for text in ("4/4", "0/0", "-1/4", "1", "1/", "a/b", "1/4/"):
        with pytest.raises(ValueError, match="expected K/N with K from 0 to N - 1"):
            python.position(text)


def test_mutants_of_a_function_are_known_by_its_whole_name() -> None:
    wanted = re.compile(python.of_functions(("feed", "_hits")))
    assert wanted.search("faultwire.a.xǁStreamǁfeed__mutmut_12")
    assert wanted.search("faultwire.a.x__hits__mutmut_1")
    assert not wanted.search("faultwire.a.xǁStreamǁrefeed__mutmut_12")
    assert not wanted.search("faultwire.a.x_feed_all__mutmut_1")
    assert not wanted.search("faultwire.feed.x_other__mutmut_1")
    assert re.search(python.of_functions(()), "faultwire.a.x_other__mutmut_1")


def test_only_a_run_over_all_of_a_room_is_whole() -> None:
    assert python.Part(resume=True, minutes=8, seconds=5).whole
    assert not python.Part(shard="0/2").whole
    assert not python.Part(functions=("feed",)).whole


def test_a_row_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text("[[core]]\nfile = 'a'\nline = 'b'\nchange = 'c'\nreason = ' '\n")
    with pytest.raises(ValueError, match="found no reason for `c` in a, expected one"):
        outcome.equivalents("core", path)
    path.write_text("[[core]]\nfile = 'a'\nline = 'b'\nchange = 'c'\n")
    with pytest.raises(TypeError, match="reason"):
        outcome.equivalents("core", path)


@pytest.mark.parametrize("kind", ["core", "python"])
def test_every_listed_line_is_in_its_file_once_in_the_list(kind: outcome.Kind) -> None:
    rows = outcome.equivalents(kind)
    assert rows
    assert len({row.key for row in rows}) == len(rows)
    for row in rows:
        text = " ".join((ROOT / row.file).read_text().split())
        assert "".join(row.line.split()) in "".join(text.split()), row


@pytest.mark.parametrize("room", [*CORE, *PYTHON], ids=lambda room: room.name)
def test_every_room_has_sources_and_tests(room) -> None:
    below = ROOT if room in CORE else ROOT / "proxy"
    assert all(list(below.glob(pattern)) for pattern in room.sources)
    wanted = [f"core_rs/tests/{name}.rs" for name in room.programs] if room in CORE else room.tests
    assert all((ROOT / path).exists() for path in wanted)


@pytest.mark.parametrize(("kind", "rooms"), [("core", CORE), ("python", PYTHON)])
def test_every_room_has_a_job_at_night(kind: outcome.Kind, rooms: tuple[core.CoreRoom, ...]) -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    job = jobs[f"mutation-{kind}"]
    assert job["strategy"]["matrix"]["room"] == [room.name for room in rooms]
    last = job["steps"][-1]["run"]
    assert last.startswith(f"python -m tests.mutation {kind} ")
    assert last.endswith(" --room '${{ matrix.room }}'")


def test_every_file_of_redaction_and_of_evidence_is_in_a_room() -> None:
    below = ROOT / "proxy"
    mutated = {path for room in PYTHON for pattern in room.sources for path in below.glob(pattern)}
    for folder in ("tape/redact", "tape/evidence", "faults/attack", "contract"):
        files = {path for path in (below / "faultwire" / folder).glob("*.py") if path.name != "__init__.py"}
        assert files <= mutated, folder


TIMED = re.compile(r"\b(?:process_time|thread_time|perf_counter|getrusage|time\.time|monotonic)\b")
"""What reads a clock, of the wall or of the CPU. A test that compares what it read with a limit fails now and
then on a machine with other work, and what nothing noticed would count as noticed."""


def judging(room: PythonRoom) -> set[Path]:
    """The files of tests that run against a room's mutants."""
    files: set[Path] = set()
    for path in map(ROOT.joinpath, room.tests):
        files |= {path} if path.is_file() else set(path.rglob("*.py"))
    return {path for path in files if str(path.relative_to(ROOT)) not in room.ignored}


@pytest.mark.parametrize("room", PYTHON, ids=lambda room: room.name)
def test_no_test_that_reads_a_clock_judges_mutants(room: PythonRoom) -> None:
    assert [path.name for path in judging(room) if TIMED.search(path.read_text())] == []


def test_one_that_does_would_be_seen() -> None:
    """The two that the rooms leave out are files that a room would have."""
    for name, left_out in (
        ("ledger", "read/test_reader.py"),
        ("redaction names", "redact/test_text_cost.py"),
    ):
        (room,) = (room for room in PYTHON if room.name == name)
        with_it = judging(replace(room, ignored=()))
        assert [path for path in with_it - judging(room) if TIMED.search(path.read_text())] == [
            ROOT / "tests/unit/tape" / left_out
        ]


def test_functions_without_their_decorator_do_the_same() -> None:
    source = (
        "from functools import cache\n"
        "class A:\n"
        "    @property\n"
        "    def two(self):\n"
        '        """Two."""\n'
        "        return 2\n"
        "    @two.setter\n"
        "    def two(self, value):\n"
        "        raise ValueError(value)\n"
        "    @staticmethod\n"
        "    def three():\n"
        "        return 3\n"
        "@cache\n"
        "def four():\n"
        "    return object()\n"
    )
    changed = python.undecorated(source)
    tree = ast.parse(changed)
    left = [ast.unparse(d) for n in ast.walk(tree) for d in getattr(n, "decorator_list", ())]
    assert sorted(left) == ["staticmethod", "two.setter"]
    names: dict = {}
    exec(compile(tree, "changed", "exec"), names)
    one = names["A"]()
    assert (one.two, one.three(), names["four"]() is names["four"]()) == (2, 3, True)
    with pytest.raises(ValueError, match="9"):
        one.two = 9


def test_the_copy_of_the_core_has_the_room_and_nothing_that_is_not_needed(tmp_path: Path) -> None:
    (room,) = (room for room in CORE if room.name == "stats")
    core.prepare(tmp_path, room)
    modules = [
        line for line in (tmp_path / "core_rs/src/lib.rs").read_text().splitlines() if "pub mod" in line
    ]
    assert modules == ["pub mod error;", "pub mod score;", "pub mod stats;"]
    assert [path.name for path in (tmp_path / "core_rs/tests").glob("*.rs")] == ["statistics.rs"]
