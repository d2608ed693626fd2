"""Batches become Jobs, and what has become of these is reported once; on a cluster in memory.

With processes, HTTP and a real control plane: tests/e2e/play/test_on_kube.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.play.kube_server import Cluster, Refused, index

from faultwire.campaign import kube_engine
from faultwire.campaign.engine import Command, Ended
from faultwire.campaign.kube_api import ApiRefusal, KubeApi
from faultwire.campaign.kube_engine import KubeEngine
from faultwire.campaign.kube_exchange import answer_bytes, answer_name
from faultwire.campaign.kube_place import KubePlace
from faultwire.errors import FaultwireError, UsageError

COMMAND = Command(("python", "-P", "-m", "faultwire", "worker"), "/project")
NS = "chaos"


class InMemory(KubeApi):
    """The calls that an engine makes, on a cluster without HTTP. A wait for a change is the test's move."""

    def __init__(self, cluster: Cluster) -> None:
        self.server, self.namespace, self.gone_s = "memory", NS, 0.0
        self.cluster, self.move = cluster, lambda: None
        self.move: Callable[[], None]
        self.rights: set[str] | None = None
        self.asked: list[tuple[str, str, int | None]] = []

    def version(self) -> tuple[int, int]:
        return 1, self.cluster.minor

    def may(self, verb: str, resource: str) -> bool:
        return self.rights is None or f"{verb} {resource}" in self.rights

    def create(self, resource: str, manifest: Any) -> dict[str, Any]:
        return self._answer(lambda: self.cluster.create(NS, resource, json.loads(json.dumps(manifest))))

    def patch(self, resource: str, name: str, changes: Any) -> None:
        self._answer(lambda: self.cluster.patch(NS, resource, name, changes))

    def list(self, resource: str, selector: str) -> Any:
        return self.cluster.list(NS, resource, selector), str(self.cluster.version)

    def changed(self, resource: str, selector: str, version: str, seconds: float) -> None:
        self.move()

    def delete(self, resource: str, name: str, grace_s: int | None = None) -> None:
        self.asked.append((resource, name, grace_s))
        if (NS, resource, name) in self.cluster.objects:
            self.cluster.delete(NS, resource, name, grace_s)

    def close(self) -> None:
        self.asked.append(("closed", "", None))

    def _answer(self, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return call()
        except Refused as error:
            raise ApiRefusal(str(error), error.status) from error


def job_of(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["labels"]["batch.kubernetes.io/job-name"])


class Bench:
    """An engine, its cluster, and what nodes do."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.folder, self.cluster = folder, Cluster(minor=more.pop("minor", 34))
        self.place = KubePlace(NS, "agent:1", f"file://{folder}", claim="shared", **more)
        self.api = InMemory(self.cluster)
        self.engine = KubeEngine(self.place, self.api, {"KEY": "sk-secret"})

    @property
    def pods(self) -> dict[str, dict[str, Any]]:
        found = self.cluster.list(NS, "pods")
        return {
            f"{one['metadata']['labels']['batch.kubernetes.io/job-name']}/{index(one)}": one for one in found
        }

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return self.cluster.list(NS, "jobs")

    def status(self, pod: dict[str, Any], **status: Any) -> None:
        self.cluster.patch(NS, "pods", pod["metadata"]["name"], {"status": status})

    def runs(self, pod: dict[str, Any]) -> None:
        self.cluster.patch(
            NS, "pods", pod["metadata"]["name"], {"spec": {"nodeName": "n"}, "status": {"phase": "Running"}}
        )

    def answers(self, pod: dict[str, Any], text: bytes, phase: str = "Succeeded") -> None:
        self.engine._exchange.put(answer_name(job_of(pod), index(pod)), answer_bytes(Ended("", 0, text)))
        self.status(pod, phase=phase)

    def left(self) -> list[Any]:
        return [*self.cluster.objects, *(path for path in self.folder.rglob("*") if path.is_file())]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, workers=3, env=("KEY",))


def test_what_is_submitted_together_is_one_job_and_each_index_ends_by_itself(bench: Bench) -> None:
    for name in "abc":
        bench.engine.submit(name, COMMAND, f"ask of {name}")
    assert bench.jobs == []
    assert bench.engine.wait(0) == []
    assert [one["spec"]["completions"] for one in bench.jobs] == [3]
    first, second, third = (bench.pods[name] for name in sorted(bench.pods))
    bench.answers(second, b"of b")
    bench.status(first, phase="Failed", reason="Evicted")
    found = {one.batch: (one.output, one.lost) for one in bench.engine.wait(0)}
    assert found == {"a": (b"", "its pod has ended: Evicted"), "b": (b"of b", "")}
    assert bench.engine.wait(0) == []  # once
    bench.answers(third, b"of c")
    assert [one.batch for one in bench.engine.wait(0)] == ["c"]
    assert bench.left() == []


def test_before_an_index_could_fail_by_itself_each_batch_is_a_job(tmp_path: Path) -> None:
    bench = Bench(tmp_path, minor=28)
    for name in "ab":
        bench.engine.submit(name, COMMAND, "")
    bench.engine.wait(0)
    assert [(one["spec"]["completions"], one["spec"]["backoffLimit"]) for one in bench.jobs] == [
        (1, 0),
        (1, 0),
    ]
    bench.status(next(iter(bench.pods.values())), phase="Failed")
    assert len(bench.engine.wait(0)) == 1
    assert len(bench.jobs) == 1


def test_an_answer_that_is_there_counts_however_its_pod_has_ended(bench: Bench) -> None:
    bench.engine.submit("a", COMMAND, "")
    bench.engine.wait(0)
    bench.answers(next(iter(bench.pods.values())), b"whole", phase="Failed")
    assert [(one.output, one.lost) for one in bench.engine.wait(0)] == [(b"whole", "")]


def test_a_pod_that_succeeded_without_an_answer_is_lost(bench: Bench) -> None:
    bench.engine.submit("a", COMMAND, "")
    bench.engine.wait(0)
    bench.status(next(iter(bench.pods.values())), phase="Succeeded")
    assert [one.lost for one in bench.engine.wait(0)] == ["its pod has ended without an answer"]


def test_an_answer_that_somebody_else_wrote_ends_the_run(bench: Bench) -> None:
    bench.engine.submit("a", COMMAND, "")
    bench.engine.wait(0)
    job, pod = bench.jobs[0]["metadata"]["name"], next(iter(bench.pods.values()))
    forged = next(bench.folder.rglob("*.ask"))
    forged.rename(forged.with_name("0.answer"))
    bench.status(pod, phase="Succeeded")
    with pytest.raises(FaultwireError, match=f"`kube/.*/{job}/0.answer` that was not made for this campaign"):
        bench.engine.wait(0)


def test_the_secret_is_there_before_the_first_pod_and_goes_with_the_job(bench: Bench) -> None:
    bench.engine.submit("a", COMMAND, "")
    bench.engine.wait(0)
    kinds = [one["kind"] for one in bench.cluster.created]
    assert kinds == ["Job", "Secret", "Pod"]
    owner = bench.cluster.created[1]["metadata"]["ownerReferences"][0]
    assert owner["uid"] == bench.jobs[0]["metadata"]["uid"]
    name = bench.jobs[0]["metadata"]["name"]
    bench.engine.close()
    assert bench.left() == []
    # Both are asked for: what a Job owns goes by itself only where Kubernetes collects it, and later.
    assert bench.api.asked == [("secrets", name, None), ("jobs", name, None), ("closed", "", None)]


def test_a_batch_is_stopped_with_time_to_answer_and_dropped_without(bench: Bench) -> None:
    for name in "ab":
        bench.engine.submit(name, COMMAND, "")
    bench.engine.wait(0)
    first, second = (bench.pods[name] for name in sorted(bench.pods))
    for pod in (first, second):
        bench.runs(pod)
    bench.engine.wait(0)
    bench.engine.stop("a")
    bench.engine.wait(0)
    bench.engine.drop("b")
    pods = [one for one in bench.api.asked if one[0] == "pods"]
    assert pods == [("pods", first["metadata"]["name"], 15), ("pods", second["metadata"]["name"], 0)]
    bench.answers(first, b"half", phase="Failed")
    assert [(one.batch, one.output) for one in bench.engine.wait(0)] == [("a", b"half")]
    assert {kind for _, kind, _ in bench.cluster.objects} <= {
        "pods"
    }  # they go once their node has ended them


def test_a_batch_that_is_stopped_before_its_pod_has_come_is_stopped_when_it_comes(bench: Bench) -> None:
    bench.engine.submit("a", COMMAND, "")
    bench.engine.stop("a")
    assert bench.engine.wait(0) == []
    assert bench.jobs == []  # it was never made
    bench.engine.submit("b", COMMAND, "")
    bench.engine._start(first=False)
    bench.engine.stop("b")
    found = [*bench.engine.wait(0), *bench.engine.wait(0)]
    assert [(one.batch, one.lost) for one in found] == [("b", "its Job has failed: FailedIndexes")]


def test_an_image_that_cannot_be_pulled_is_lost_for_its_batch_alone(bench: Bench) -> None:
    for name in "ab":
        bench.engine.submit(name, COMMAND, "")
    bench.engine.wait(0)
    first, second = (bench.pods[name] for name in sorted(bench.pods))
    waiting = {"reason": "ImagePullBackOff", "message": "no such tag"}
    bench.status(first, containerStatuses=[{"state": {"waiting": waiting}}])
    found = bench.engine.wait(0)
    assert [(one.batch, one.lost) for one in found] == [
        ("a", "its image cannot be pulled (ImagePullBackOff): no such tag")
    ]
    bench.answers(second, b"of b")
    assert [one.output for one in bench.engine.wait(0)] == [b"of b"]


def test_a_job_that_somebody_removes_is_lost(bench: Bench) -> None:
    bench.engine.submit("a", COMMAND, "")
    bench.engine.wait(0)
    bench.cluster.delete(NS, "jobs", bench.jobs[0]["metadata"]["name"])
    assert [one.lost for one in bench.engine.wait(0)] == ["its Job is gone"]


def test_a_job_that_was_refused_leaves_nothing_and_ends_the_run(bench: Bench) -> None:
    create = bench.api.create

    def refusing(resource: str, manifest: Any) -> dict[str, Any]:
        if resource == "secrets":
            raise ApiRefusal("exceeded quota (HTTP 403)", 403)
        return create(resource, manifest)

    bench.api.create = refusing  # type: ignore[method-assign]
    bench.engine.submit("a", COMMAND, "")
    with pytest.raises(
        FaultwireError, match=r"refuses a Job in the namespace `chaos`: exceeded quota"
    ) as raised:
        bench.engine.wait(0)
    assert not isinstance(raised.value, UsageError)
    assert [one["spec"]["suspend"] for one in bench.jobs] == [True]  # no pod has started
    bench.engine.close()
    assert bench.left() == []


def test_one_pod_is_asked_for_all(bench: Bench) -> None:
    bench.api.move = lambda: bench.answers(next(iter(bench.pods.values())), b"checked")
    assert [(who, one.output) for who, one in bench.engine.ask(COMMAND, "")] == [
        ("image agent:1", b"checked")
    ]
    assert bench.left() == []


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (
            {"phase": "Failed", "reason": "Evicted"},
            "the first pod gave no answer: its pod has ended: Evicted",
        ),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]},
            "first pod gave no answer: no node takes its pod: 0/1 nodes",
        ),
    ],
)
def test_without_a_first_pod_nothing_is_played(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, status: dict[str, Any], why: str
) -> None:
    monkeypatch.setattr(kube_engine, "NO_NODE_S", 0.0)
    bench.api.move = lambda: bench.status(next(iter(bench.pods.values())), **status)
    with pytest.raises(UsageError, match=why):
        bench.engine.ask(COMMAND, "")


def test_a_first_pod_that_never_comes_is_not_awaited_for_ever(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube_engine, "ASK_S", 0.0)
    with pytest.raises(UsageError, match="it gave no answer in 0 s"):
        bench.engine.ask(COMMAND, "")


def test_who_lacks_a_right_or_names_no_variable_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    api = InMemory(Cluster())
    api.rights = {"create jobs"}
    place = KubePlace(NS, "a", f"file://{tmp_path}", claim="c")
    with pytest.raises(
        UsageError, match="found no right to delete jobs, get jobs, list jobs, patch jobs, delete"
    ):
        KubeEngine(place, api, {})
    with pytest.raises(UsageError, match="found no variable `KEY`"):
        KubeEngine(KubePlace(NS, "a", f"file://{tmp_path}", claim="c", env=("KEY",)), api, {})
    assert api.cluster.created == []
    assert list(tmp_path.iterdir()) == []


def test_pods_get_the_variables_of_a_bucket_beside_those_of_the_agent() -> None:
    place = KubePlace(NS, "a", "s3://team/asks", env=("AWS_REGION",))
    environ = {"AWS_REGION": "r", "AWS_SECRET_ACCESS_KEY": "s", "OTHER": "o"}
    assert kube_engine._secrets(place, environ) == {
        "AWS_REGION": "r",
        "FAULTWIRE_KUBE_STORAGE_AWS_REGION": "r",
        "FAULTWIRE_KUBE_STORAGE_AWS_SECRET_ACCESS_KEY": "s",
    }
    assert kube_engine._secrets(KubePlace(NS, "a", "file:///srv"), environ) == {}
