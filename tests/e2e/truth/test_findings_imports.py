"""What `tape import` states of tapes of tracefork and of HARs is true of them, and nothing else is stated."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import agent_logs
import environments
import harness
import pytest
from foreign_archives import ARCHIVES
from foreign_tapes import FILLED, NEVER_PRINTED, PATTERNS, TAPES, Case
from sentence_patterns import findings

WRITER = Path(harness.__file__).with_name("tracefork_writer.py")
NEWER = environments.at_least(12)
NEEDS = pytest.mark.skipif(NEWER is None, reason="every release of tracefork needs Python 3.12, found none")
NOT_KEPT = "{}, not kept"


class Written(NamedTuple):
    """A folder of files that a package wrote, and the digest that its latest release gave them."""

    folder: Path
    digest: str = ""


class Imported(NamedTuple):
    code: int
    messages: list[str]
    text: str


@pytest.fixture(scope="module")
def tapes(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Tapes that the real tracefork wrote, of three releases."""
    folder = tmp_path_factory.mktemp("tracefork")
    for version in ("0.1.0", "0.3.0", "1.0.0"):
        (folder / version).mkdir()
        command = [environments.python(f"tracefork-{version}", NEWER), WRITER, folder / version]
        wrote = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return Written(folder, wrote.stdout.strip())


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The HAR that mitmproxy writes of what an agent on LangGraph sent and got."""
    work = tmp_path_factory.mktemp("har")
    arguments = ["exec", "--script", "script.yaml", "--record", "t"]
    done = agent_logs.run(work, arguments, "langgraph", "plain", agent_logs.TEA)
    assert done.code == 0, done.lines
    dump = str(Path(sys.executable).with_name("mitmdump"))
    for command in (
        [*harness.faultwire(), "tape", "export", "t", "--to", "flows", "-o", "t.flows"],
        [dump, "-nr", "t.flows", "--set", "hardump=agent.har"],
    ):
        subprocess.run(command, cwd=work, check=True, capture_output=True, timeout=120)
    return Written(work)


def imported(case: Case, written: Written, work: Path) -> Imported:
    path = work / "foreign" / Path(case.file).name
    path.parent.mkdir()
    shutil.copy(written.folder / case.file, path)
    case.change(path)
    options = [written.digest if one == "DIGEST" else one for one in case.options]
    done = subprocess.run(
        [*harness.faultwire(), "tape", "import", str(path), "-o", "imported", *options],
        cwd=work, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    text = done.stdout + done.stderr
    messages = [one for one in findings(text) if not one.startswith(FILLED)]
    return Imported(done.returncode, messages if done.returncode < 3 else text.splitlines(), text)


def agrees(case: Case, found: Imported) -> None:
    assert PATTERNS.found(found.messages) == PATTERNS.keys(case.true), found.text
    assert found.code == case.exit_code, found.text
    if found.code < 3:
        assert all(PATTERNS.found([one]) for one in found.messages), "a finding that is not in the inventory"


@NEEDS
@pytest.mark.nightly
@pytest.mark.parametrize("name", TAPES)
def test_what_is_stated_of_a_tape_of_tracefork_is_what_was_done_to_it(
    name: str, tapes: Written, tmp_path: Path
) -> None:
    agrees(TAPES[name], imported(TAPES[name], tapes, tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ARCHIVES)
def test_what_is_stated_of_a_har_is_what_was_done_to_it(name: str, archive: Written, tmp_path: Path) -> None:
    agrees(ARCHIVES[name], imported(ARCHIVES[name], archive, tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["as mitmproxy wrote it", "more findings than are kept"])
def test_a_verifier_states_how_many_findings_were_not_kept(
    name: str, archive: Written, tmp_path: Path
) -> None:
    imported(ARCHIVES[name], archive, tmp_path)
    done = subprocess.run(
        [*harness.faultwire(), "tape", "verify", "imported"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    many = name == "more findings than are kept"
    assert ("  bad import_finding: findings_left_out: 100 more findings, not kept" in done.stdout) == many
    assert done.returncode == int(many)


def test_each_sentence_has_a_file_of_which_it_is_true() -> None:
    cases = (*TAPES.values(), *ARCHIVES.values())
    stated = {PATTERNS.key(template) for case in cases for template in case.true}
    assert stated | {PATTERNS.key(NOT_KEPT)} == set(PATTERNS.templates) - PATTERNS.keys(NEVER_PRINTED)
