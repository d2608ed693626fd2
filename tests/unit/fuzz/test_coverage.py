"""Coverage as Python's preload and V8 tell it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.fuzz import coverage
from faultwire.fuzz.child import coverage_preload
from faultwire.fuzz.coverage import BLOCK, Coverage, covered

PROGRAM = (
    "import json, sys\nif len(sys.argv) > 1:\n    print('more')\n    json.dumps({})\nprint('end')\nEND\n"
)


def run(folder, told, end="pass", *arguments):
    (folder / "a.py").write_text(PROGRAM.replace("END", end))
    environment = told.environment({"PATH": os.environ["PATH"]})
    subprocess.run([sys.executable, "a.py", *arguments], cwd=folder, env=environment, capture_output=True)
    return told.features()


def test_the_names_of_both_ends_are_the_same():
    assert (coverage.MAP, coverage.SIZE) == (coverage_preload.MAP, coverage_preload.SIZE)


def test_another_branch_is_other_features_and_the_same_run_the_same(tmp_path):
    told = Coverage.at(tmp_path / "told", "python")
    short, again, long = (run(tmp_path, told, "pass", *more) for more in ((), (), ("x",)))
    assert short == again < long
    assert len(long - short) == 2
    assert told.languages == {"python"}


def test_a_program_that_is_killed_has_its_lines_all_the_same(tmp_path):
    told = Coverage.at(tmp_path / "told", "python")
    assert len(run(tmp_path, told, "import os; os.kill(os.getpid(), 9)")) >= 4


def test_a_library_and_a_program_without_site_give_nothing(tmp_path):
    assert coverage_preload.is_own("/a/agent.py", "/usr/lib/python3/")
    assert not coverage_preload.is_own("/usr/lib/python3/json/x.py", "/usr/lib/python3/")
    assert not coverage_preload.is_own("/v/site-packages/x.py", "/usr/lib/python3/")
    told = Coverage.at(tmp_path / "told", "auto")
    environment = told.environment({"PATH": os.environ["PATH"]})
    subprocess.run([sys.executable, "-I", "-c", "print(1)"], env=environment, check=True, capture_output=True)
    assert told.features() == frozenset()
    assert told.languages == set()


def test_both_ways_of_python_see_the_same_lines():
    """`sys.monitoring` where there is one, and `sys.settrace`: the same bytes."""
    script = (
        "import sys\nfrom faultwire.fuzz.child import coverage_preload as c\n"
        "table = bytearray(c.SIZE)\nWAY(table, '/none/')\n"
        "code = compile('a = 1\\nif a:\\n    b = 2\\n', '/x/own.py', 'exec')\nexec(code)\n"
        "own = {c.index('/x/own.py', line) for line in (1, 2, 3)}\n"
        "print(sorted(at for at in own if table[at]))\n"
    )
    expected = sorted(coverage_preload.index("/x/own.py", line) for line in (1, 2, 3))
    ways = ["c.trace", *(["c.monitor"] if hasattr(sys, "monitoring") else [])]
    for way in ways:
        text = script.replace("WAY", way)
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True)
        assert json.loads(done.stdout) == expected


def ranges(*given):
    names = ("startOffset", "endOffset", "count")
    functions = [{"ranges": [dict(zip(names, one, strict=True))]} for one in given]
    return [{"result": [{"url": "file:///a/x.js", "functions": functions}]}]


def test_a_block_counts_as_its_innermost_range_does():
    found = set(covered(ranges((0, 10 * BLOCK, 1), (2 * BLOCK, 4 * BLOCK, 0), (3 * BLOCK, 3 * BLOCK + 1, 5))))
    assert "v8 x.js 1" in found
    assert "v8 x.js 2" not in found
    assert "v8 x.js 9" in found


@pytest.mark.parametrize("url", ["node:fs", "file:///a/node_modules/x.js", ""])
def test_foreign_scripts_do_not_count(url):
    documents = ranges((0, 100, 1))
    documents[0]["result"][0]["url"] = url
    assert not set(covered(documents))


def test_a_file_that_was_cut_off_is_left_out(tmp_path):
    told = Coverage.at(tmp_path / "told", "node")
    told.environment({})
    Path(tmp_path / "told" / "v8").mkdir()
    (tmp_path / "told" / "v8" / "coverage-1.json").write_text('{"result": [')
    assert told.features() == frozenset()
