"""What has become of an index, by what an API server has of it."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.campaign.kube_pods import INDEX, Index, JobView, failed_indices, read_pod


def pod(number: int = 0, made: str = "1", **status: Any) -> dict[str, Any]:
    about = {"name": f"p{number}", "annotations": {INDEX: str(number)}, "creationTimestamp": made}
    return {"metadata": about, "status": {"phase": "Pending", **status}}


def ended(**terminated: Any) -> list[dict[str, Any]]:
    return [{"state": {"terminated": terminated}}]


def waiting(reason: str, message: str = "") -> list[dict[str, Any]]:
    return [{"state": {"waiting": {"reason": reason, "message": message}}}]


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ({}, Index()),
        ({"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}, Index()),
        ({"containerStatuses": waiting("ContainerCreating")}, Index()),
        ({"containerStatuses": waiting("ErrImagePull")}, Index()),  # it is tried again at once
        ({"phase": "Succeeded"}, Index(over=True)),
        ({"containerStatuses": waiting("ImagePullBackOff", "Back-off pulling\nimage")},
         Index(stuck="its image cannot be pulled (ImagePullBackOff): Back-off pulling image")),
        ({"containerStatuses": waiting("CreateContainerConfigError", "image will run as root")},
         Index(stuck="its container cannot be set up (CreateContainerConfigError): image will run as root")),
        ({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]},
         Index(waits="no node takes its pod: 0/3 nodes")),
        ({"conditions": [{"type": "PodScheduled", "status": "True"}]}, Index()),
        ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"},
         Index(over=True, why="its pod has ended: Evicted: low on memory")),
        ({"phase": "Failed", "containerStatuses": ended(exitCode=137, reason="OOMKilled")},
         Index(over=True, why="its pod has ended: OOMKilled, code 137")),
        ({"phase": "Failed", "containerStatuses": ended(exitCode=74, message="one\ncannot read `x`\n\n")},
         Index(over=True, why="its pod has ended: Error, code 74: cannot read `x`")),
        ({"phase": "Failed",
          "conditions": [{"type": "DisruptionTarget", "status": "True", "message": "full"}],
          "containerStatuses": ended(exitCode=143)}, Index(over=True, why="its pod was taken away: full")),
        ({"phase": "Failed"}, Index(over=True, why="its pod has failed")),
        ({"phase": "Failed", "reason": "B\x1b[3m"}, Index(over=True, why="its pod has ended: B\\x1b[3m")),
    ],
)  # fmt: skip
def test_a_pod_runs_waits_is_stuck_or_is_over(status: dict[str, Any], found: Index) -> None:
    read = read_pod(pod(**status))
    assert (read.over, read.why, read.stuck, read.waits) == (found.over, found.why, found.stuck, found.waits)
    assert read.pod == "p0"


def test_a_pod_that_was_seen_and_is_gone_is_over_and_one_that_has_not_come_is_awaited() -> None:
    view = JobView(3)
    first = view.read({}, [pod(0, phase="Running"), pod(1, phase="Running")])
    assert [one.over for one in first] == [False, False, False]
    second = view.read({}, [pod(1, phase="Running")])
    assert [one.over for one in second] == [True, False, False]
    assert second[0].why == "its pod is gone"


def test_what_the_job_counts_as_failed_is_over_though_its_pod_was_never_seen() -> None:
    found = JobView(4).read({"status": {"failedIndexes": "0,2-3"}}, [])
    assert [one.over for one in found] == [True, False, True, True]
    assert failed_indices("") == set()


def test_with_its_job_all_is_over() -> None:
    condition = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
    found = JobView(2).read({"status": {"conditions": [condition]}}, [pod(1, phase="Succeeded")])
    assert [one.why for one in found] == ["its Job has failed: DeadlineExceeded", ""]
    assert [one.why for one in JobView(1).read(None, [])] == ["its Job is gone"]
    condition["status"] = "False"
    assert not JobView(1).read({"status": {"conditions": [condition]}}, [])[0].over


def test_of_two_pods_of_an_index_the_newer_counts_and_what_is_no_index_is_nothing() -> None:
    old, new = pod(0, "2026-01-01", phase="Failed"), pod(0, "2026-01-02", phase="Running")
    stray = {"metadata": {"name": "x"}, "status": {}}
    for pods in ([old, new, stray], [new, old, pod(7, phase="Failed")]):
        assert [one.over for one in JobView(1).read({}, pods)] == [False]
