"""Mutants of the package with mutmut, in a copy of the project.

mutmut forks one process that has imported everything, a mutant each, and runs only the tests that reach
the function: tens of mutants a second. A tool that starts pytest anew for each of them takes seconds a
mutant, most of it imports.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.mutation.outcome import Mutant
from tests.mutation.rooms import PythonRoom

ROOT = Path(__file__).parents[2]
WORK = ROOT / "target" / "mutation" / "python"
CHILD = Path(__file__).with_name("mutmut_child.py")
MOVED = ("property", "cached_property", "contextmanager", "asynccontextmanager", "cache", "lru_cache")
"""Decorators that are written as an assignment below the function: mutmut passes decorated ones over."""
SHARED = ("docs", "profiles", "addons", "replays", "core_rs", "proxy")
"""Folders that tests read."""


def mutants(room: PythonRoom, children: int) -> list[Mutant]:
    """Make and test every mutant of a room. Raises CalledProcessError where the tests fail without one."""
    work = WORK / room.name
    prepare(room, work)
    result = work / "result.json"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(work / "mutants" / below) for below in ("src", ".")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-P", str(CHILD), str(result), str(children)]
    subprocess.run(command, cwd=work, env=environment, check=True)
    return [Mutant(**one) for one in json.loads(result.read_text())]


def prepare(room: PythonRoom, work: Path) -> None:
    """A copy in the layout that mutmut knows: sources in `src`, what tests read beside them."""
    shutil.rmtree(work, ignore_errors=True)
    clean = shutil.ignore_patterns("__pycache__", "*.pyc", "build")
    shutil.copytree(ROOT / "proxy", work / "src", ignore=clean)
    shutil.copytree(ROOT / "tests", work / "tests", ignore=clean)
    (work / "mutants" / "src").mkdir(parents=True)  # Python forgets a path that is not there when it starts
    for folder in SHARED:
        (work / "mutants" / folder).symlink_to(ROOT / folder)
    (work / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + settings(room))
    for pattern in room.sources:
        for path in (work / "src").glob(pattern):
            path.write_text(undecorated(path.read_text()))


def settings(room: PythonRoom) -> str:
    """mutmut's section."""
    # The profile `ci` of hypothesis: the same examples for every mutant, and no limit of time.
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=ci"]
    options += [f"--ignore={path}" for path in room.ignored]
    section = {
        "source_paths": ["src"],
        "only_mutate": [f"src/{pattern}" for pattern in room.sources],
        "pytest_add_cli_args": options,
        "pytest_add_cli_args_test_selection": list(room.tests),
        "use_git_change_detection": False,
        "timeout_multiplier": 10.0,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in section.items()]
    return "\n[tool.mutmut]\n" + "\n".join(lines) + "\n"


def undecorated(source: str) -> str:
    """The same program, with `name = decorator(name)` below each function that had one of those."""
    lines = source.splitlines()
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and len(node.decorator_list) == 1
        and ast.unparse(node.decorator_list[0]).partition("(")[0].rpartition(".")[2] in MOVED
    ]
    for node in sorted(found, key=lambda node: node.lineno, reverse=True):
        decorator = node.decorator_list[0]
        assignment = f"{' ' * node.col_offset}{node.name} = {ast.unparse(decorator)}({node.name})"
        lines.insert(node.end_lineno or node.lineno, assignment)
        del lines[decorator.lineno - 1]
    return "\n".join(lines) + "\n"
