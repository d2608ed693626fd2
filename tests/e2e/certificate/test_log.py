"""A certificate in a log that a real witness cosigns: issued, mailed, verified by a stranger, and refused
where the witness does not cosign.

Modules: `faultwire.certificate.log`, `faultwire.cli.certificate`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.agents import environments
from tests.e2e.certificate.test_certificate import SCRIPT, STOCK, keys, run
from tests.e2e.service.conftest import serving, token

LOG = Path(".faultwire/certificates")


@contextmanager
def witness(folder: Path, *words: str) -> Iterator[tuple[str, str]]:
    """Its address and key; its folder stays."""
    command = [sys.executable, "-m", "faultwire", "witness", "--format", "json", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen([*command, *words], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        text = ""
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        found = json.loads(text)
        yield found["url"], found["key"]
    finally:
        process.kill()
        process.wait(timeout=30)
        process.stdout.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    assert run(folder, "init").returncode == 0
    done = run(folder, "contract", "run")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """A project with a finished run, and no log yet."""
    folder = tmp_path / "shop"
    shutil.copytree(finished, folder)
    return folder


def issue(folder: Path, name: str, url: str, key: str, *words: str) -> subprocess.CompletedProcess[str]:
    asked = ("--witness", url, "--witness-key", key)
    return run(folder, "certificate", "issue", "last", "-o", name, *asked, *words)


def alone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(SCRIPT), *words]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=60)


def test_certificates_in_a_log_are_cosigned_and_verified_by_strangers(project: Path, tmp_path: Path) -> None:
    log = run(project, "certificate", "log").stdout.strip()
    plain = run(project, "certificate", "issue", "last", "-o", "plain.json")
    assert plain.returncode == 0, plain.stderr
    seal = (project / ".faultwire/keys/seal.pub").read_text().strip()
    with witness(tmp_path, "--log", log) as (url, key):
        for number in range(2):
            made = issue(project, f"c{number}.json", url, key)
            assert made.returncode == 0, made.stderr
            assert "cosigned by faultwire-witness" in made.stderr
    down = issue(project, "none.json", url, key)
    assert down.returncode == 3
    assert "does not answer" in down.stderr
    assert "nothing was issued" in down.stderr
    with witness(tmp_path, "--log", log) as (url, key):
        assert issue(project, "c3.json", url, key).returncode == 0, "it goes on"
    with witness(tmp_path, "--log", log, "--store", "another") as (url, other):
        refused = issue(project, "none.json", url, key)
        assert (refused.returncode, "or is another witness" in refused.stderr) == (3, True)
    assert not (project / "none.json").exists()
    for index in (0, 1, 3):
        mailed = shutil.copy(project / f"c{index}.json", tmp_path)
        asked = alone(tmp_path, mailed, "--key", seal, "--witness-key", key)
        assert asked.returncode == 0, asked.stdout
        assert f"entry {index} of the log {log.partition('+')[0]}" in asked.stdout
        assert "cosigned by faultwire-witness+" in asked.stdout
        unasked = alone(tmp_path, mailed, "--key", seal)
        assert (unasked.returncode, "no witness was asked" in unasked.stdout) == (0, True)
        assert alone(tmp_path, mailed, "--key", seal, "--witness-key", other).returncode == 1
        ours = run(tmp_path, "certificate", "verify", mailed, "--key", seal, "--witness-key", key)
        assert ours.returncode == 0, ours.stdout
        assert run(project, "certificate", "verify", mailed, "--log", str(LOG)).returncode == 0
    assert alone(project, "plain.json", "--key", seal, "--witness-key", key).returncode == 1
    assert alone(project, "plain.json", "--key", seal).returncode == 0


def test_the_service_of_a_team_is_such_a_witness(project: Path, tmp_path: Path) -> None:
    log = run(project, "certificate", "log").stdout.strip()
    store = f"sqlite:///{tmp_path}/team.db"
    for role in ("runner", "viewer"):
        path = project / role
        path.write_text(token(tmp_path, store, role))
        path.chmod(0o600)
    with serving(tmp_path, store, "--witness-log", log) as service:
        key = service.ready["witness"]
        refused = issue(project, "none.json", service.url, key, "--witness-token", "viewer")
        assert (refused.returncode, (project / "none.json").exists()) == (3, False)
        made = issue(project, "a.json", service.url, key, "--witness-token", "runner")
        assert made.returncode == 0, made.stderr
    seal = (project / ".faultwire/keys/seal.pub").read_text().strip()
    asked = alone(project, "a.json", "--key", seal, "--witness-key", key)
    assert asked.returncode == 0, asked.stdout
    assert "cosigned by faultwire-witness+" in asked.stdout


def test_a_log_that_is_rolled_back_or_unknown_gets_no_certificate(project: Path, tmp_path: Path) -> None:
    log = run(project, "certificate", "log").stdout.strip()
    with witness(tmp_path, "--log", log) as (url, key):
        assert issue(project, "a.json", url, key).returncode == 0
        shutil.copytree(project / LOG, tmp_path / "backup")
        for name in ("b.json", "c.json"):
            assert issue(project, name, url, key).returncode == 0
        shutil.rmtree(project / LOG)
        shutil.copytree(tmp_path / "backup", project / LOG)
        refused = issue(project, "d.json", url, key)
        assert refused.returncode == 3
        assert "has cosigned 3 entries of this log, which has 2 here: it was rolled back" in refused.stderr
    found = run(project, "certificate", "verify", "c.json", "--log", str(LOG))
    assert (found.returncode, "log_mismatch" in found.stdout) == (1, True)
    seal = (project / ".faultwire/keys/seal.pub").read_text().strip()
    with witness(tmp_path, "--log", seal, "--store", "another") as (url, key):
        refused = issue(project, "d.json", url, key)
        assert refused.returncode == 3
        assert "knows no log of the origin" in refused.stderr
        assert f"start it with `--log {log}`" in refused.stderr
    assert not (project / "d.json").exists()


def test_stock_libraries_pass_over_the_proof(project: Path, tmp_path: Path) -> None:
    private, public, keyid = keys(tmp_path, "P-256")
    log = run(project, "certificate", "log").stdout.strip()
    with witness(tmp_path, "--log", log) as (url, key):
        made = issue(project, "p.json", url, key, "--key", str(private))
        assert made.returncode == 0, made.stderr
    assert "tlogProof" in json.loads((project / "p.json").read_text())
    (tmp_path / "stock.py").write_text(STOCK)
    python = environments.python("in-toto-0")
    command = [str(python), str(tmp_path / "stock.py"), str(project / "p.json"), str(public), keyid]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "https://github.com/faultwire/faultwire/resilience/v1"
    assert alone(project, "p.json", "--key", str(public), "--witness-key", key).returncode == 0
