"""Mutants of the package with mutmut, in a copy of the project.

mutmut forks one process that has imported everything, a mutant each, and runs only the tests that reach
the function: tens of mutants a second. A tool that starts pytest anew for each of them takes seconds a
mutant, most of it imports.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutation.outcome import Mutant
from tests.mutation.rooms import PythonRoom

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
WORK = ROOT / "target" / "mutation" / "python"
CHILD = Path(__file__).with_name("mutmut_child.py")
MOVED = ("property", "cached_property", "contextmanager", "asynccontextmanager", "cache", "lru_cache")
"""Decorators that are written as an assignment below the function: mutmut passes decorated ones over."""
SHARED = ("docs", "profiles", "addons", "replays", "core_rs", "proxy")
"""Folders that tests read."""


@dataclass(frozen=True)
class Part:
    """Which mutants of a room are tested."""

    functions: tuple[str, ...] = ()
    """Names; none are all."""
    shard: str | None = None
    """`K/N`, the Kth (from 0) of N parts."""
    minutes: float | None = None
    """How long mutants are taken up; the others are left."""
    seconds: float | None = None
    """How long the tests of one mutant take together, at most, the quickest first. What only the others
    would notice counts as unnoticed, until a run with `resume` and without this."""
    resume: bool = False
    """Go on where an earlier run of the room ended: what its tests noticed stands, where the function is
    the same; what they did not is tested again."""

    @property
    def whole(self) -> bool:
        return not self.functions and self.shard is None


def mutants(room: PythonRoom, children: int, part: Part = Part()) -> list[Mutant]:
    """Make and test the mutants of a room. Raises CalledProcessError where the tests fail without one."""
    work = WORK / room.name
    prepare(room, work, part.resume)
    result = work / "result.json"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(work / "mutants" / below) for below in ("src", ".")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    wanted = {
        "functions": of_functions(part.functions),
        "shard": position(part.shard),
        "minutes": part.minutes,
        "seconds": part.seconds,
        "resume": part.resume,
    }
    command = [sys.executable, "-P", str(CHILD), str(result), str(children), json.dumps(wanted)]
    subprocess.run(command, cwd=work, env=environment, check=True)
    return [Mutant(**one) for one in json.loads(result.read_text())]


def position(shard: str | None) -> tuple[int, int]:
    """`K/N` as numbers; without one, all there is. Raises ValueError."""
    if shard is None:
        return 0, 1
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", shard)
    if found is None or not int(found[1]) < int(found[2]):
        raise ValueError(f"found the shard `{shard}`, expected K/N with K from 0 to N - 1")
    return int(found[1]), int(found[2])


def of_functions(names: Sequence[str]) -> str:
    """A regular expression for mutmut's names of mutants (`package.module.xǁClassǁname__mutmut_3`,
    `package.module.x_name__mutmut_3`) of functions with one of these names; without one, of all."""
    if not names:
        return ""
    return rf"(?:\.x_|ǁ)(?:{'|'.join(re.escape(name) for name in names)})__mutmut_[0-9]+\Z"


def prepare(room: PythonRoom, work: Path, resume: bool = False) -> None:
    """A copy in the layout that mutmut knows: sources in `src`, what tests read beside them. With `resume`
    the results of an earlier run stay."""
    for gone in (work / "src", work / "tests", work / "mutants" / "tests") if resume else (work,):
        shutil.rmtree(gone, ignore_errors=True)
    clean = shutil.ignore_patterns("__pycache__", "*.pyc", "build")
    shutil.copytree(ROOT / "proxy", work / "src", ignore=clean)
    shutil.copytree(ROOT / "tests", work / "tests", ignore=clean)
    (work / "mutants" / "src").mkdir(
        parents=True, exist_ok=True
    )  # Python forgets a path that is not there when it starts
    for folder in SHARED:
        link = work / "mutants" / folder
        if not link.is_symlink():
            link.symlink_to(ROOT / folder)
    (work / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + settings(room))
    for pattern in room.sources:
        for path in (work / "src").glob(pattern):
            about = path.stat()
            path.write_text(undecorated(path.read_text()))
            os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))  # what did not change is not made again


def settings(room: PythonRoom) -> str:
    """mutmut's section."""
    # The profile `ci` of hypothesis: the same examples for every mutant, and no limit of time. Nor has a test
    # one: on a machine with other work a limit by the clock would count as noticed what nothing noticed. What
    # loops is ended by the CPU time that it takes.
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=0", "--hypothesis-profile=ci"]
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
