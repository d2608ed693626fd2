"""Runs mutmut in the current folder and writes down what became of every mutant.

    mutmut_child.py RESULT CHILDREN PART

PART is JSON: `{"functions": REGEX, "shard": [K, N], "minutes": M or null, "seconds": S or null, "resume":
BOOL}`. Only mutants of such functions, of that shard, have a row in RESULT; those that no time was left for
have the status `left`.

mutmut's own operators change values, arguments and operators. They leave out two that matter where a
condition guards something: a part of a condition that is dropped, and a condition that always or never
holds. Both are added here.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stdout
from difflib import ndiff
from functools import lru_cache
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Any, NoReturn

import libcst as cst
import pytest
from _pytest.config import _prepareconfig
from mutmut import __main__ as mutmut
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import read_mutant_function, read_mutants_module, read_original_function
from mutmut.mutation.mutators import mutation_operators
from mutmut.runners.harness import BadTestExecutionCommandsException, PytestRunner
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import change_cwd, walk_mutatable_files
from mutmut.workers import isolation

STATUS = {
    "killed": "killed",
    "timeout": "timeout",
    "segfault": "killed",
    "suspicious": "killed",
    "not checked": "left",
}
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


MOST_MEMORY = 4 << 30
"""Bytes of address space that a mutant may take: one that adds to a list for ever has all of a machine's
memory before the limit of its CPU time ends it."""


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


class EmptyCaches:
    """Every test asks anew, where mutmut writes down which functions each test reaches."""

    def pytest_runtest_setup(self, item: Any) -> None:
        empty_caches()


class LimitTime:
    """A mutant that loops ends in the test that it loops in. mutmut's own limit is of all tests of the mutant
    together: minutes of CPU time, where most loops stand in a test of milliseconds."""

    SECONDS, TIMES = 10, 20
    """A test may take so much CPU time, and so many times what it takes without a mutant."""

    def pytest_runtest_setup(self, item: Any) -> None:
        took = mutmut.state().duration_by_test.get(item.nodeid)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        if most == resource.RLIM_INFINITY:
            return  # no mutant is tested
        wanted = most  # where nobody knows how long it takes
        if took is not None:
            wanted = ceil(time.process_time() + self.SECONDS + self.TIMES * took)
        resource.setrlimit(resource.RLIMIT_CPU, (min(wanted, most), most))


NOT_RUN = 34
"""The exit code of a mutant whose tests were not run: mutmut calls it skipped, which is not killed."""
RAISED = 255
"""The exit code of a worker in which mutmut, or what is changed of it here, raised: no test noticed that."""


def run_pytest(runner: PytestRunner, params: list[str], **options: Any) -> int:
    """pytest's exit code, or NOT_RUN where it found no test of a name that it was given.

    mutmut raises then, the child ends with 1, and the mutant counts as killed although no test ran.
    """
    plugins = options.get("plugins")
    options["plugins"] = [EmptyCaches(), *plugins] if plugins else [LimitTime()]
    try:
        return int(execute_pytest(runner, params, **options))
    except BadTestExecutionCommandsException:
        return NOT_RUN


execute_pytest = PytestRunner.execute_pytest
run_tests = PytestRunner.run_tests


def quick_first(runner: PytestRunner, tests: Iterable[str], seconds: float | None, name: str | None) -> int:
    """The exit code of a mutant's tests, the quickest first: most mutants fail one of those. mutmut gives
    them in no order. Of tests that together take longer than `seconds` the slowest are left out."""
    took: Counter[str] = Counter()
    for test in tests:
        took[selection(test)] += mutmut.state().duration_by_test[test]
    ordered = sorted(took, key=lambda test: took[test])
    if seconds is not None:
        ends = accumulate(took[test] for test in ordered)
        ordered = [test for test, end in zip(ordered, ends, strict=True) if end <= seconds] or ordered[:1]
    if name is None:  # no mutant
        return int(run_tests(runner, mutant_name=name, tests=ordered))
    COLLECTED.run(ordered)


class Collected:
    """The tests of the room, collected once, in the process that the workers are forked from: a worker that
    had pytest start and collect anew would spend more time on that than on most mutants' tests."""

    session: pytest.Session | None = None

    def __init__(self) -> None:
        self.items: dict[str, list[pytest.Item]] = {}
        """By the name that `selection` gives."""

    def collect(self, runner: PytestRunner) -> None:
        """Called before the first mutant. pytest has no public way to collect and not to end then."""
        options = ["--rootdir=.", "--tb=native", "-x", "-q", "--capture=sys"]  # workers would share a file
        tests = runner._pytest_add_cli_args_test_selection
        nowhere = open(os.devnull, "w")  # noqa: SIM115 - the workers write to it
        with change_cwd("mutants"), redirect_stdout(nowhere):
            config = _prepareconfig([*options, *tests, *runner._pytest_add_cli_args], [LimitTime()])
            self.session = pytest.Session.from_config(config)
            config._do_configure()
            config.hook.pytest_sessionstart(session=self.session)
            config.hook.pytest_collection(session=self.session)
        for item in self.session.items:
            for name in {item.nodeid, item.nodeid.partition("[")[0]}:
                self.items.setdefault(name, []).append(item)

    def run(self, tests: list[str]) -> NoReturn:
        """Run these tests up to the first that fails, and end the worker: with 1 where one did, else with 0.
        Whatever they raise, it must not go on as the process that it was forked from."""
        code = RAISED
        streams = sys.stdout, sys.stderr  # noqa: F841 - mutmut opened them; let go, pytest reports them unclosed
        try:
            code = self.outcome(tests)
        finally:
            os._exit(code)

    def outcome(self, tests: list[str]) -> int:
        if self.session is None or not all(test in self.items for test in tests):
            return NOT_RUN
        items = [item for test in tests for item in self.items[test]]
        with change_cwd("mutants"):
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.session.testsfailed:
                    return 1
        return 0


COLLECTED = Collected()


def selection(test: str) -> str:
    """The name by which pytest finds a test again. It escapes a backslash among the parameters anew each
    time it collects in one process, so of such a test all parameters are run."""
    return test.partition("[")[0] if "\\" in test else test


class Part:
    """Which of the mutants are tested now."""

    def __init__(
        self,
        *,
        functions: str,
        shard: tuple[int, int],
        minutes: float | None,
        seconds: float | None,
        resume: bool,
    ) -> None:
        self.functions, self.shard, self.seconds, self.resume = functions, shard, seconds, resume
        self.fresh = False
        self.unnoticed: set[str] = set()
        """Mutants that an earlier run of the room tested, and no test noticed."""
        self.began: float | None = None
        """When the tests without a mutant began, until it is written down that they passed."""
        self.end = None if minutes is None else time.monotonic() + 60 * minutes
        self.names: list[str] = []

    def collect(self, **options: Any) -> tuple[list[Any], dict[str, Any]]:
        """mutmut's mutants of this part: of its functions, every Nth from the Kth on."""
        mutants, files = collect(**options)
        index, count = self.shard
        some = [one for one in mutants if re.search(self.functions, one[1])][index::count]
        self.names = [name for _, name, _ in some]
        return some, files

    def stats(self, runner: Any, tests: Iterable[str] | None = None) -> None:
        """mutmut's run of the tests without a mutant, in which it writes down what each of them reaches."""
        began = time.time()
        collect_stats(runner, tests)
        if tests is None:
            PASSED.touch()
            os.utime(PASSED, (began, began))
            self.fresh = True

    def tests(self, _: object) -> set[str]:
        """Those that must pass without a mutant before the first is made. What has passed in this run, or in
        the one that is gone on with, need not again: then those of files that changed since, and one more."""
        self.began = time.time()
        took = mutmut.state().duration_by_test
        one = {min(took, key=lambda test: took[test])}
        if self.fresh:
            return one
        since = PASSED.stat().st_mtime
        changed = [
            path for folder in ("tests", "src") for path in Path(folder).rglob("*.py") if newer(path, since)
        ]
        if any(not path.name.startswith("test_") for path in changed):
            return set()  # all of the room
        return one.union(*({test for test in took if test.startswith(f"{path}::")} for path in changed))

    def takes(self, name: str) -> float:
        """What mutants are ordered by: those first that were never tested, of them the quickest. The others
        run all of their tests, and would take all the time of a short run."""
        return float(estimated_time(name)) + (1e6 if name in self.unnoticed else 0.0)

    def is_again(self, name: str, code: int) -> bool:
        """Is a mutant that was tested to be tested again?"""
        again = STATUS.get(status_by_exit_code[code]) is None
        if again:
            self.unnoticed.add(name)
        return again

    def remember(self) -> None:
        """Keep what was not noticed for the runs that go on with this one: mutmut forgets it, as of one that
        it never tested."""
        if UNNOTICED.exists():
            self.unnoticed.update(json.loads(UNNOTICED.read_text()))
        UNNOTICED.write_text(json.dumps(sorted(self.unnoticed)))

    def stop_in_time(self, _: object, force_output: bool = False) -> None:
        """Called before each mutant, and with `force_output` after the last; mutmut ends in order when it is
        interrupted before one."""
        if self.began is not None:
            os.utime(PASSED, (self.began, self.began))
            self.began = None
        if not force_output and self.end is not None and time.monotonic() > self.end:
            raise KeyboardInterrupt


PASSED = Path("mutants/passed")
"""As old as the last run of all tests without a mutant."""

UNNOTICED = Path("mutants/unnoticed.json")
"""Names of mutants that a run tested, and no test noticed."""


def newer(path: Path, than: float) -> bool:
    return path.stat().st_mtime > than


collect = mutmut.collect_source_file_mutation_data
collect_stats = mutmut.run_stats_collection
estimated_time = mutmut.estimated_worst_case_time


start_workers = isolation.ForkRunner.startup


def collected_first(runner: isolation.ForkRunner) -> None:
    """mutmut's start of the workers, behind the collection of the tests."""
    assert isinstance(runner.test_runner, PytestRunner)
    COLLECTED.collect(runner.test_runner)
    control()
    start_workers(runner)


def control() -> None:
    """A worker without a mutant passes its tests, or all that the others failed would mean nothing. Of tests
    there are the quickest: they have passed in mutmut's own run, and what may differ is how they are run."""
    took = mutmut.state().duration_by_test
    tests = sorted({selection(test) for test in took}, key=lambda test: took.get(test, 0.0))
    child = os.fork()
    if not child:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as mutmut does in a worker
        COLLECTED.run(tests[:100])
    _, status = os.waitpid(child, 0)
    if (code := os.waitstatus_to_exitcode(status)) != 0:
        sys.exit(f"found the exit code {code} of a worker without a mutant, expected 0")


def main(result: str, children: str, part_text: str) -> None:
    part = Part(**json.loads(part_text))
    PytestRunner.execute_pytest = run_pytest
    PytestRunner.run_tests = lambda runner, *, mutant_name, tests: quick_first(
        runner, tests, part.seconds, mutant_name
    )
    mutmut.collect_source_file_mutation_data = part.collect
    mutmut.run_stats_collection = part.stats
    mutmut.tests_for_mutant_names = part.tests
    mutmut.estimated_worst_case_time = part.takes
    mutmut.print_stats = part.stop_in_time
    isolation.ForkRunner.startup = collected_first  # type: ignore[assignment]
    mutation_operators.append((cst.BooleanOperation, one_operand))  # type: ignore[attr-defined]
    mutation_operators.append((cst.If, constant_condition))  # type: ignore[attr-defined]
    # mutmut's timer signals the number of a worker that may have ended long ago, and by then another process
    # may have that number. A limit of CPU time, which each worker has as well, ends those that loop.
    isolation.register_timeout = lambda pid, timeout_s: None
    os.register_at_fork(after_in_child=empty_caches)
    os.register_at_fork(after_in_child=limit_memory)
    if part.resume:  # what a test has noticed stands
        mutmut._reset_mutant_results(part.is_again)
        part.remember()
    mutmut._run([], int(children))
    wanted = set(part.names)
    found = [one for path in walk_mutatable_files() for one in outcomes(path, wanted)]
    Path(result).write_text(json.dumps(found))


def outcomes(path: Path, wanted: set[str]) -> list[dict[str, str]]:
    data = SourceFileMutationData(path=path)
    data.load()
    module = read_mutants_module(path)
    return [
        {
            "file": str(Path("proxy") / path.relative_to("src")),
            "status": "survived" if code == RAISED else STATUS.get(status_by_exit_code[code], "survived"),
            **changed(module, name),
        }
        for name, code in data.exit_code_by_key.items()
        if name in wanted
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
