"""What `exec` and `fork` print about a run besides what they notice: each line is true of an agent on a real
framework, by the agent's own log, and is not printed where it is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import harness
import pytest
from agent_logs import Run, run, shop
from summary_cases import CASES, MOCK, RECORDINGS, SCRIPT
from summary_lines import BY_UNIT_TESTS, NEVER_PRINTED, PATTERNS, RETRIED


class Recorded(NamedTuple):
    """The folders of recordings, and the address of the shop that some of their agents ordered at."""

    folders: dict[str, Path]
    shop: str


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folders: dict[str, Path] = {}
    with shop(200) as (url, _):
        for name, (agent, options) in RECORDINGS.items():
            work = folders[name] = tmp_path_factory.mktemp(name)
            arguments = ["exec", *MOCK, *options, "--record", "t"]
            done = run(work, arguments, *agent, script=SCRIPT, env={"SHOP_URL": url})
            assert done.code == 0, done.lines
        yield Recorded(folders, url)


def played(name: str, work: Path, request: pytest.FixtureRequest) -> Run:
    case = CASES[name]
    if case.recording:
        recorded: Recorded = request.getfixturevalue("recorded")
        work, url = recorded.folders[case.recording], recorded.shop
        return run(work, list(case.arguments), *case.agent, script=SCRIPT, env={"SHOP_URL": url})
    with shop(200) as (url, _):
        return run(work, list(case.arguments), *case.agent, script=SCRIPT, env={"SHOP_URL": url})


@pytest.mark.by_day("calm-anthropic")
@pytest.mark.parametrize("name", CASES)
def test_each_line_is_true(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    case, done = CASES[name], played(name, tmp_path, request)
    assert PATTERNS.found(done.lines) - {PATTERNS.key(RETRIED)} == PATTERNS.keys(case.true), "\n".join(
        done.lines
    )
    assert case.code == done.code
    for check in case.checks:
        check(done)


def test_each_sentence_has_a_run_of_which_it_is_true() -> None:
    printed = {PATTERNS.key(template) for case in CASES.values() for template in case.true}
    never = PATTERNS.keys(NEVER_PRINTED | BY_UNIT_TESTS | {RETRIED})
    assert printed | never == set(PATTERNS.templates)
    assert not printed & never


@pytest.mark.parametrize("fault", ["status: {code: 503}", "truncate_body: {fraction: 0.5}"])
def test_a_fault_for_a_host_that_the_mock_does_not_answer_for(fault: str, tmp_path: Path) -> None:
    program = "import urllib.request as r\ntry: r.urlopen('https://tools.example/v1/x')\nexcept OSError: pass"
    entry = f"{{{fault}, on: {{host: tools.example}}}}"
    done = harness.execute(tmp_path, [sys.executable, "-S", "-c", program], "--mock", "--fault", entry)
    acted = "status" in fault
    assert ("faults     1 fired" in done.stderr) == acted, done.stderr
    assert ("never fired: the mock does not answer for `tools.example`" in done.stderr) != acted
    assert ("add `--mock-except tools.example`" in done.stderr) != acted
    assert "was refused before that" not in done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "api.openai.com"])
def test_a_fault_for_a_host_that_may_not_be_called(host: str, tmp_path: Path) -> None:
    program = f"import urllib.request as r\ntry: r.urlopen('http://{host}/v1/models')\nexcept OSError: pass"
    entry = f"{{status: {{code: 503}}, on: {{host: {host}}}}}"
    done = harness.execute(tmp_path, [sys.executable, "-S", "-c", program], "--mock", "--fault", entry)
    refused = f": 1 call to `{host}` was refused before that"
    assert (refused in done.stderr) == (host == "127.0.0.1"), done.stderr
    assert (f"add `--allow-host {host}`" in done.stderr) == (host == "127.0.0.1")
    assert ("faults     1 fired" in done.stderr) == (host == "api.openai.com")
