"""The pytest plugin: a test's agent or client runs against a tape, or against a profile.

    @pytest.mark.faultwire(tape="booking", record="once")
    def test_booking(faultwire):
        subprocess.run([sys.executable, "agent.py"], check=True)

`record` says, in VCR's words, what becomes of the tape: `none` replays it and nothing else, `once` records it
where there is none, `new_episodes` also records calls that it does not have, `all` records it anew. A call
that nothing recorded answers fails the test with the difference.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from faultwire.runner.taped_test import MODES

if TYPE_CHECKING:
    from faultwire.runner.taped_test import TapedTest

_ACTIVE = pytest.StashKey["TapedTest"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Called by pytest: the option that overrules what tests say."""
    group = parser.getgroup("faultwire", "agents behind the proxy")
    group.addoption(
        "--faultwire-record",
        choices=MODES,
        default=os.environ.get("FAULTWIRE_RECORD") or None,
        help="What becomes of the tapes of all tests, whatever their marks say.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Called by pytest: name the mark."""
    config.addinivalue_line(
        "markers",
        "faultwire(tape, record, profile, fault, ...): run this test's traffic against a tape or a profile.",
    )


@pytest.fixture(autouse=True)
def _faultwire_marked(request: pytest.FixtureRequest) -> None:
    """A marked test is behind the proxy whether it asks for the fixture or not."""
    if request.node.get_closest_marker("faultwire") is not None:
        request.getfixturevalue("faultwire")


@pytest.fixture
def faultwire(request: pytest.FixtureRequest) -> Iterator[TapedTest]:
    """The proxy of one test. Its environment is this process's while the test runs, so subprocesses and
    clients that are made in the test go through it; `env` has it for whatever starts otherwise."""
    from faultwire.errors import FaultwireError
    from faultwire.runner.taped_test import asked, started

    node = request.node
    mark = node.get_closest_marker("faultwire")
    with ExitStack() as stack:
        refused = ""
        try:
            wanted = asked(
                mark.args if mark else (),
                mark.kwargs if mark else {},
                overruled=node.config.getoption("--faultwire-record"),
                name=node.name,
                path=node.path,
            )
            taped = stack.enter_context(started(wanted, node.config.rootpath))
        except FaultwireError as error:
            refused = error.render()
        if refused:  # reported once: while the error is handled, pytest would show it as well
            pytest.fail(refused, pytrace=False)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        _use(patch, taped.env)
        node.stash[_ACTIVE] = taped
        yield taped
        taped.keep(passed=taped.settled and not taped.failed)


def _use(patch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        patch.delenv(name)
    for name, value in environment.items():
        if os.environ.get(name) != value:
            patch.setenv(name, value)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Called by pytest around the test itself: a test whose traffic was another than recorded has failed."""
    try:
        result = yield
    except BaseException:
        taped = item.stash.get(_ACTIVE, None)
        if taped is not None:
            taped.failed = True
            problems = taped.settle()
            if problems:
                item.add_report_section("call", "faultwire", "\n".join(problems))
        raise
    taped = item.stash.get(_ACTIVE, None)
    problems = taped.settle() if taped is not None else []
    if taped is not None and problems:
        taped.failed = True
        pytest.fail("\n".join(problems), pytrace=False)
    return result
