"""The deployment runs as it is written: each command line of the compose file and of the page, against
PostgreSQL and an S3 server by TLS, under the names and ports that it has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.container.deployed import PAGE, from_page
from tests.e2e.container.deployment import ROOT
from tests.e2e.container.test_deployment import prepared
from tests.e2e.play.conftest import TALKER, Project
from tests.e2e.store.conftest import NO_SERVER, PROGRAMS

NAMESPACE = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def deployed(folder: Path, *, workers: bool) -> dict[str, Any]:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root, for a namespace in which hosts and paths are those of the compose file")
    if not PROGRAMS:
        pytest.skip(NO_SERVER)
    secrets = prepared(folder)
    shop = folder / "shop"
    shop.mkdir()
    shutil.copy(TALKER, shop / "talker.py")
    Project(shop).write(
        contract={"name": "c", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}]}
    )
    words = [*NAMESPACE, sys.executable, "-m", "tests.e2e.container.deployed", str(folder), str(secrets)]
    done = subprocess.run([*words, str(int(workers))], cwd=ROOT, capture_output=True, text=True, timeout=500)
    logs = "\n".join(f"{path.name}: {path.read_text()[-3000:]}" for path in folder.glob("*.log"))
    assert done.returncode == 0, done.stderr + logs
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.nightly
@pytest.mark.cold
@pytest.mark.parametrize("workers", [False, True], ids=["service", "workers"])
def test_a_run_of_a_pipeline_is_seen_with_its_tape_and_no_secret_is_in_a_log(
    tmp_path: Path, workers: bool
) -> None:
    found = deployed(tmp_path, workers=workers)
    assert found["healthy"] is True
    assert found["played"]["code"] == 0, found["played"]
    assert [run["gate"] for run in found["runs"]] == ["pass"]
    digests = sorted(line.split()[0] for line in found["played"]["tapes"].splitlines())
    assert digests, found["played"]
    assert found["tapes"] == digests
    assert (found["metrics"][0], found["metrics_by_admin"]) == (200, 401)
    assert 'faultwire_service_uploads_total{outcome="added"} 1' in found["metrics"][1]
    assert found["role"] == "f|f|f"
    assert found["seen_without_a_project"] == "0", "row-level security holds for its role"
    assert (found["without_tls"], found["with_tls"]) == (2, 0)
    assert found["ended"] == 0
    for path in (tmp_path / "secrets").iterdir():
        secret = path.read_text().strip()
        assert secret not in found["log"]
        assert secret not in found["line"]


def test_the_page_gives_compose_and_kubernetes_the_same_commands() -> None:
    text = PAGE.read_text()
    for command in ("token add", "push --check"):
        (compose,) = from_page(f"docker compose -f deploy/compose.yaml run --rm faultwire {command}")
        (cluster,) = from_page(f"kubectl exec deploy/faultwire -- faultwire-service {command}")
        assert compose == cluster
    assert "docker compose -f deploy/compose.yaml up" in text
