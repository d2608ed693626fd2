"""Runs mutmut in the current folder and writes down what became of every mutant.

    mutmut_child.py RESULT CHILDREN

mutmut's own operators change values, arguments and operators. They leave out two that matter where a
condition guards something: a part of a condition that is dropped, and a condition that always or never
holds. Both are added here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from difflib import ndiff
from functools import lru_cache
from pathlib import Path
from typing import Any

import libcst as cst
from mutmut.__main__ import _run
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import read_mutant_function, read_mutants_module, read_original_function
from mutmut.mutation.mutators import mutation_operators
from mutmut.runners.harness import BadTestExecutionCommandsException, PytestRunner
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files
from mutmut.workers import isolation

STATUS = {"killed": "killed", "timeout": "timeout", "segfault": "killed", "suspicious": "killed"}
"""Whatever else mutmut says of a mutant, no test noticed it."""
CACHED = type(lru_cache(len))


def one_operand(node: cst.BooleanOperation) -> Iterable[cst.BaseExpression]:
    """`a or b` to `a`, and to `b`."""
    for kept in (node.left, node.right):
        yield kept.with_changes(lpar=[*kept.lpar, *node.lpar], rpar=[*kept.rpar, *node.rpar])


def constant_condition(node: cst.If) -> Iterable[cst.If]:
    """`if a:` to `if (a) and False:`, and to `if (a) or True:`; `a` is still evaluated."""
    inner = node.test.with_changes(
        lpar=[cst.LeftParen(), *node.test.lpar], rpar=[*node.test.rpar, cst.RightParen()]
    )
    space = cst.SimpleWhitespace(" ")
    for operator, literal in ((cst.And(), "False"), (cst.Or(), "True")):
        test = cst.BooleanOperation(inner, operator, cst.Name(literal))
        yield node.with_changes(test=test, whitespace_before_test=space)


def empty_caches() -> None:
    """Forget what the package remembers of calls: a worker starts with the caches that the run without a
    mutant has filled, and would not ask the mutant again."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "faultwire":
            for value in list(vars(module).values()):
                if isinstance(value, CACHED):
                    value.cache_clear()


class EmptyCaches:
    """Every test asks anew, where mutmut writes down which functions each test reaches."""

    def pytest_runtest_setup(self, item: Any) -> None:
        empty_caches()


NOT_RUN = 34
"""The exit code of a mutant whose tests were not run: mutmut calls it skipped, which is not killed."""


def run_tests(runner: PytestRunner, params: list[str], **options: Any) -> int:
    """pytest's exit code, or NOT_RUN where it found no test of a name that it was given.

    mutmut raises then, the child ends with 1, and the mutant counts as killed although no test ran. It
    happens with parameters whose names have a backslash: pytest escapes it anew each time it collects in one
    process.
    """
    if options.get("plugins"):
        options["plugins"] = [EmptyCaches(), *options["plugins"]]
    try:
        return int(execute_pytest(runner, params, **options))
    except BadTestExecutionCommandsException:
        return NOT_RUN


execute_pytest = PytestRunner.execute_pytest


def main(result: str, children: str) -> None:
    PytestRunner.execute_pytest = run_tests
    mutation_operators.append((cst.BooleanOperation, one_operand))  # type: ignore[attr-defined]
    mutation_operators.append((cst.If, constant_condition))  # type: ignore[attr-defined]
    # mutmut's timer signals the number of a worker that may have ended long ago, and by then another process
    # may have that number. A limit of CPU time, which each worker has as well, ends those that loop.
    isolation.register_timeout = lambda pid, timeout_s: None
    os.register_at_fork(after_in_child=empty_caches)
    _run([], int(children))
    found = [one for path in walk_mutatable_files() for one in outcomes(path)]
    Path(result).write_text(json.dumps(found))


def outcomes(path: Path) -> list[dict[str, str]]:
    data = SourceFileMutationData(path=path)
    data.load()
    module = read_mutants_module(path)
    return [
        {
            "file": str(Path("proxy") / path.relative_to("src")),
            "status": STATUS.get(status_by_exit_code[code], "survived"),
            **changed(module, name),
        }
        for name, code in data.exit_code_by_key.items()
    ]


def changed(module: cst.Module, name: str) -> dict[str, str]:
    """The line that is another, as it was and as the mutant has it, and the function it is in."""
    before, after = read_original_function(module, name), read_mutant_function(module, name)
    was, now = (cst.Module([node]).code.strip().splitlines() for node in (before, after))
    compared = [(line[:2], line[2:].strip()) for line in ndiff(was, now)]
    gone = " ".join(text for mark, text in compared if mark == "- ")
    come = " ".join(text for mark, text in compared if mark == "+ ")
    return {"line": gone, "change": come, "place": f" in {before.name.value}"}


if __name__ == "__main__":
    main(*sys.argv[1:])
