"""`--on kube://`: Jobs on an API server and a node of these tests, whose pods are processes here."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from tests.e2e.play.kube_cluster import (
    IMAGE,
    NODE,
    RIGHTS,
    RUNNER,
    Here,
    cluster,
    kubeconfig,
    own_certificate,
)
from tests.e2e.play.kube_real import PROGRAM, Real, control_plane

from faultwire.tape.read.reader import TapeReader

HALF = {
    "name": "half",
    "faults": [{"status": {"code": 503}, "on": {"kind": "llm"}, "trigger": {"probability": 0.5}}],
}
RULES = {
    "name": "rules",
    "invariants": [{"type": "completes"}, {"type": "excludes_pattern", "patterns": ["(?i)surely"]}],
    "chaos_matrix": [{"name": "calm"}, HALF],
}
CONTRACT = ("contract", "run", "--allow-unknown", "-q")
KEY = "sk-a-key-of-the-provider"


@pytest.fixture
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    with cluster(tmp_path_factory.mktemp("kube") / "cluster") as found:
        yield found


def write(project: Any, repeat: int) -> None:
    agent = {"type": "command", "command": [sys.executable, "-S", "talker.py", "{prompt}"]}
    project.write(agent=agent, contract=RULES, advanced={"concurrency": 3, "seed": 7, "repeat": repeat})


def outcome(project: Any) -> tuple[str, list[tuple[str, str, str]]]:
    document = project.document()
    cells = sorted((c["invocation"], c["invariant"], c["verdict"]) for c in document["cells"])
    return project.about()["ledger"], cells


def played(project: Any) -> Counter[str]:
    """How often each session was played, by the tapes as the workers sealed them."""
    found: Counter[str] = Counter()
    for tape in (project.runs[-1] / "tapes").glob("*.tape"):
        with TapeReader.open(tape) as reader:
            found.update(info.name for info in reader.sessions())
    return found


@pytest.mark.nightly
def test_pods_give_the_ledger_and_the_verdicts_of_one_worker_here_and_leave_nothing(
    project: Any, kube: Here
) -> None:
    write(project, 2)
    env = {**kube.env, "TALKER": "careless", "OPENAI_API_KEY": KEY}
    assert project.run(*CONTRACT, "--on", "local:1", env=env).returncode == 1
    alone = outcome(project)
    assert len({verdict for _, _, verdict in alone[1]}) > 1
    done = project.run(*CONTRACT, "--on", kube.place(more="&env=TALKER,OPENAI_API_KEY"), env=env)
    assert done.returncode == 1, done.stderr
    assert outcome(project) == alone
    assert set(played(project).values()) == {1}
    assert len(kube.node.started) >= 3  # one is asked first, and two play
    assert kube.left() == []
    made = kube.server.cluster.created
    jobs = json.dumps([one for one in made if one["kind"] != "Secret"])
    secrets = [one["data"] for one in made if one["kind"] == "Secret"]
    assert KEY not in jobs
    assert "OPENAI_API_KEY" not in jobs
    assert all("OPENAI_API_KEY" in data and "FAULTWIRE_KUBE_KEY" in data for data in secrets)
    assert KEY not in "".join(kube.server.requests)


@contextmanager
def started(project: Any, kube: Here | Real, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "faultwire", *arguments],
        cwd=project.folder,
        env={**os.environ, **kube.env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def at_work(kube: Here | Real, gone: set[str]) -> str | None:
    """A pod, not one of `gone`, that has an agent."""
    for name, one in list(kube.node.running.items()):
        try:
            below = psutil.Process(one.popen.pid).children(recursive=True)
            if name not in gone and any("talker.py" in child.cmdline() for child in below):
                return name
        except psutil.Error:
            continue
    return None


def until(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """What is found while a process lives; None where it ended before."""
    while process.poll() is None:
        if value := found():
            return value
    return None


@pytest.mark.nightly
def test_a_killed_and_an_evicted_pod_cost_no_cell_and_double_none(project: Any, kube: Here) -> None:
    killed_and_evicted(project, kube)


def killed_and_evicted(project: Any, kube: Here | Real) -> None:
    write(project, 10)  # of two prompts in two scenarios: 40 cells
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    with started(project, kube, *CONTRACT, "--on", kube.place()) as process:
        first = until(lambda: at_work(kube, set()), process)
        os.kill(kube.node.running[first].popen.pid, signal.SIGKILL)
        second = until(lambda: at_work(kube, {first}), process)
        kube.node.evict(second, "The node was low on resource: memory.")
        _, errors = process.communicate(timeout=280)
    assert process.returncode == 0, errors
    assert outcome(project) == alone
    with TapeReader.open(project.runs[-1] / "run.tape") as reader:
        assert len({info.name for info in reader.sessions()}) == len(reader.sessions()) == 40
    assert set(played(project).values()) == {1}
    assert "lost and played again: 2 batches of" in json.dumps(project.document()["run"]["warnings"])
    assert kube.left() == []


NO_LEASES = """
from faultwire.campaign.leases import Leases
take = Leases.take
def free_all_the_same(self, batch, most, until):
    cells = take(self, batch, most, until)
    self._free.update(dict.fromkeys(cells))
    return cells
Leases.take = free_all_the_same
from faultwire.cli import main
main()
"""


@pytest.mark.nightly
def test_without_leases_pods_play_cells_twice(project: Any, kube: Here) -> None:
    """The control of what is claimed above: the engine by itself does not keep a cell from two pods."""
    write(project, 2)
    script = project.folder / "without_leases.py"
    script.write_text(NO_LEASES)
    done = subprocess.run(
        [sys.executable, script, *CONTRACT, "--on", kube.place()],
        cwd=project.folder, env={**os.environ, **kube.env}, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not counted, because their cells had a result" in json.dumps(
        project.document()["run"]["warnings"]
    )


@pytest.mark.nightly
def test_ctrl_c_reports_what_has_finished_and_removes_jobs_and_secrets(project: Any, kube: Here) -> None:
    interrupted(project, kube)


def interrupted(project: Any, kube: Here | Real) -> None:
    write(project, 15)
    state = project.folder / ".faultwire"
    with started(project, kube, *CONTRACT, "--on", kube.place(1)) as process:
        assert until(lambda: at_work(kube, set()), process)
        assert any("secrets" in one for one in kube.left())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=280)
    assert process.returncode in (3, 130), errors
    assert kube.left() == []
    assert list(state.glob("campaigns/*/results.jsonl"))  # the same command goes on from there


def no_server(kube: Here) -> str:
    authority = kube.config.with_name("ca.pem").read_bytes()
    kubeconfig(kube.config, "https://127.0.0.1:9", authority, {"token": RUNNER})
    return kube.place()


def other_authority(kube: Here) -> str:
    folder = kube.config.parent / "other"
    folder.mkdir()
    own_certificate(folder)
    kubeconfig(kube.config, kube.server.url, (folder / "ca.pem").read_bytes(), {"token": RUNNER})
    return kube.place()


def unknown_user(kube: Here) -> str:
    del kube.server.rights[RUNNER]
    return kube.place()


def no_right(kube: Here) -> str:
    kube.server.rights[RUNNER] = RIGHTS - {"create secrets", "delete pods"}
    return kube.place()


def no_quota(kube: Here) -> str:
    """Rights are there, and a request is refused all the same."""
    kube.server.denied = "create jobs"
    return kube.place()


def no_namespace(kube: Here) -> str:
    return kube.place(namespace="elsewhere")


def no_image(kube: Here) -> str:
    return kube.place(image="registry.test/none:1")


def no_storage(kube: Here) -> str:
    kube.shared.rmdir()
    return kube.place()


def no_storage_in_pods(kube: Here) -> str:
    kube.node.override["FAULTWIRE_KUBE_OBJECTS"] = "file:///nonexistent"
    return kube.place()


def no_variable(kube: Here) -> str:
    return kube.place(more="&env=NOT_SET_ANYWHERE")


BAD: dict[str, tuple[Callable[[Here], str], str]] = {
    "no server": (no_server, "found no API server of Kubernetes at `https://127.0.0.1:9`"),
    "another authority": (other_authority, "certificate verify failed"),
    "unknown user": (unknown_user, "Unauthorized (HTTP 401)"),
    "no right": (no_right, "found no right to delete pods, create secrets in the namespace `chaos`"),
    "refused all the same": (no_quota, "exceeded quota (HTTP 403)"),
    "no namespace": (no_namespace, 'namespaces "elsewhere" not found (HTTP 404)'),
    "no image": (no_image, "its image cannot be pulled (ImagePullBackOff)"),
    "no storage": (no_storage, "for `objects` of `--on kube://…`, expected a folder that exists"),
    "no storage in pods": (
        no_storage_in_pods,
        "its pod has ended: Error, code 74: found `file:///nonexistent`",
    ),
    "no variable": (no_variable, "found no variable `NOT_SET_ANYWHERE`"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_work_is_refused_before_the_first_cell_and_leaves_nothing(
    project: Any, kube: Here, case: str
) -> None:
    break_it, why = BAD[case]
    write(project, 1)
    done = project.run(*CONTRACT, "--on", break_it(kube), env=kube.env)
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
    assert kube.left() == []
    assert NODE not in done.stderr + done.stdout
    assert RUNNER not in done.stderr + done.stdout


@pytest.mark.nightly
def test_an_image_that_is_gone_in_the_middle_is_reported_for_each_cell(project: Any, kube: Here) -> None:
    write(project, 1)
    kube.node.pulls = 1  # for the pod that is asked first
    done = project.run(*CONTRACT, "--on", kube.place(1), env=kube.env)
    assert done.returncode != 0
    found = json.dumps(project.document())
    assert "10 workers were lost while they played it; the last: its image cannot be pulled" in found
    assert kube.left() == []


def test_a_config_of_no_cluster_is_refused(project: Any, tmp_path: Path) -> None:
    write(project, 1)
    place = f"kube://chaos?image=a&objects=file://{tmp_path}&claim=c"
    done = project.run(
        *CONTRACT, "--on", place, env={"KUBECONFIG": str(tmp_path / "none"), "HOME": str(tmp_path)}
    )
    assert (done.returncode, "found no kubeconfig" in done.stderr) == (2, True), done.stderr


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What the client of a bucket needs, `s3://team` on a server that speaks S3 (moto)."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    log = (tmp_path / "moto.log").open("wb")
    process = subprocess.Popen(words, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert process.poll() is None, (tmp_path / "moto.log").read_text()
            try:
                httpx.put(f"{url}/team", trust_env=False, timeout=60).raise_for_status()
                break
            except httpx.ConnectError:
                continue
        keys = {
            "AWS_ACCESS_KEY_ID": "the-id",
            "AWS_SECRET_ACCESS_KEY": "the-secret",
            "AWS_REGION": "us-east-1",
        }
        yield {**keys, "AWS_ENDPOINT_URL": url}
    finally:
        process.kill()
        process.wait()
        log.close()


@pytest.mark.nightly
def test_asks_and_answers_go_by_a_bucket_whose_keys_are_in_the_secret(
    project: Any, kube: Here, bucket: dict[str, str]
) -> None:
    write(project, 1)
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    place = f"kube://chaos?image={IMAGE}&objects=s3://team/asks&workers=2"
    done = project.run(*CONTRACT, "--on", place, env={**kube.env, **bucket})
    assert done.returncode == 0, done.stderr
    assert outcome(project) == alone
    assert kube.left() == []
    listed = httpx.get(f"{bucket['AWS_ENDPOINT_URL']}/team?list-type=2", trust_env=False, timeout=60).text
    assert "<KeyCount>0</KeyCount>" in listed
    made = kube.server.cluster.created
    assert "the-secret" not in json.dumps([one for one in made if one["kind"] != "Secret"])
    kube.node.override["FAULTWIRE_KUBE_STORAGE_AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
    done = project.run(*CONTRACT, "--on", place, env={**kube.env, **bucket})
    assert (done.returncode, "first pod gave no answer" in done.stderr) == (2, True), done.stderr
    assert "cannot read `kube/" in done.stderr


@pytest.fixture
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    if not PROGRAM:
        pytest.skip("no control plane of Kubernetes: tests/e2e/play/control_plane/build makes one")
    with control_plane(tmp_path_factory.mktemp("real") / "cluster") as found:
        yield found


@pytest.mark.nightly
def test_a_real_control_plane_runs_the_jobs_with_the_rights_of_the_page(project: Any, real: Real) -> None:
    write(project, 2)
    env = {**real.env, "TALKER": "careless", "OPENAI_API_KEY": KEY}
    assert project.run(*CONTRACT, "--on", "local:1", env=env).returncode == 1
    alone = outcome(project)
    done = project.run(*CONTRACT, "--on", real.place(more="&env=TALKER,OPENAI_API_KEY"), env=env)
    assert done.returncode == 1, done.stderr
    assert outcome(project) == alone
    assert set(played(project).values()) == {1}
    assert real.left() == []


@pytest.mark.nightly
def test_pods_that_are_killed_under_a_real_control_plane_cost_no_cell(project: Any, real: Real) -> None:
    killed_and_evicted(project, real)


@pytest.mark.nightly
def test_ctrl_c_under_a_real_control_plane_removes_jobs_and_secrets(project: Any, real: Real) -> None:
    interrupted(project, real)


@pytest.mark.nightly
@pytest.mark.parametrize("case", ["no namespace", "no image", "no storage in pods", "no variable"])
def test_a_real_control_plane_refuses_in_the_same_words(project: Any, real: Real, case: str) -> None:
    break_it, why = BAD[case]
    write(project, 1)
    done = project.run(*CONTRACT, "--on", break_it(real), env=real.env)
    why = "found no right to" if case == "no namespace" else why  # a Role is of a namespace: nobody may ask
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    assert real.left() == []
