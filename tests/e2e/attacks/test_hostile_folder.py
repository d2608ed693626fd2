"""An agent's folder with a module of each name that we import: none of them runs in a process of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from faultwire.mitm.engine.client import Engine
from faultwire.mitm.settings import EngineSettings
from faultwire.mock.client import Mock

HOSTILE = "import os\nwith open({log!r}, 'a') as log: log.write({name!r} + ' ' + str(os.getpid()) + '\\n')\n"
HOOKS = ("sitecustomize", "usercustomize", "_distutils_hack")
COMMAND = "from faultwire.__main__ import main\nmain()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The agent's folder; what runs from it writes its name and process into `ran`."""
    place = tmp_path / "agent"
    place.mkdir()
    names = (sys.stdlib_module_names | set(packages_distributions())) - {"faultwire", "__main__"}
    for name in (*names, *HOOKS):
        if name.isidentifier():
            (place / f"{name}.py").write_text(HOSTILE.format(log=str(tmp_path / "ran"), name=name))
    monkeypatch.chdir(place)
    return place


def ran(folder: Path) -> dict[str, set[int]]:
    """What ran from the folder, and in which processes."""
    found: dict[str, set[int]] = {}
    log = folder.parent / "ran"
    for line in log.read_text().splitlines() if log.exists() else ():
        name, pid = line.split()
        found.setdefault(name, set()).add(int(pid))
    return found


@pytest.mark.parametrize("named", [False, True])
def test_an_engine_and_a_mock_import_nothing_from_it(
    named: bool, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if named:
        monkeypatch.setenv("PYTHONPATH", str(folder))
    with (
        Engine.start(EngineSettings(run_dir=tmp_path / "run", ca_dir=tmp_path / "ca")) as engine,
        Mock.start(),
    ):
        assert engine.stats()["live"] == 0
    assert ran(folder) == {}


def test_without_the_isolation_the_attack_works(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-O", "-m", "faultwire.mitm"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode
    assert ran(folder)


def test_a_command_keeps_what_its_agent_imports_from_its_own_processes(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "faultwire"
    script.write_text(COMMAND)
    for name in sys.stdlib_module_names:  # those would end the agent, and the command's own start
        (folder / f"{name}.py").unlink(missing_ok=True)
    agent = "import h2, os; print(os.getpid())"
    command = [sys.executable, str(script), "exec", "--mock", "--allow-no-traffic", "-q", "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", agent],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (run,) = (folder / ".faultwire" / "runs").iterdir()
    about = json.loads((run / "run.json").read_text())
    found = ran(folder)
    assert found["h2"] == {int(done.stdout)}
    # Python runs hooks of `PYTHONPATH` before the command's first line; they are all that runs there.
    assert {name for name, pids in found.items() if about["pid"] in pids} <= set(HOOKS)
    assert not any(about["engine_pid"] in pids for pids in found.values())
