"""What has become of the indices of a Job, by what the API server has of it and of its pods. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INDEX = "batch.kubernetes.io/job-completion-index"
NEVER = {
    "ImagePullBackOff": "its image cannot be pulled",
    "ErrImageNeverPull": "its image is not on the node",
    "InvalidImageName": "its image has no valid name",
    "CreateContainerConfigError": "its container cannot be set up",
    "CreateContainerError": "its container cannot be made",
    "RunContainerError": "its container cannot be started",
}
"""Why a container waits that will not run before somebody changes something."""
LAST = 300


@dataclass(frozen=True, slots=True)
class Index:
    """One index of a Job. `over`: its pod has ended, or there will be none; `why` in words, where it did not
    succeed. `stuck`: why its pod does not run, and will not by itself; `waits`: why it has no node yet."""

    over: bool = False
    why: str = ""
    stuck: str = ""
    waits: str = ""
    pod: str = ""


@dataclass
class JobView:
    """A Job as it was last seen. `seen` are the indices that had a pod."""

    batches: int
    seen: set[int] = field(default_factory=set)

    def read(self, job: Mapping[str, Any] | None, pods: Iterable[Mapping[str, Any]]) -> list[Index]:
        """What is so of each index; None: there is no such Job any more."""
        newest: dict[int, Mapping[str, Any]] = {}
        for pod in pods:
            number = index_of(pod)
            if number is not None and 0 <= number < self.batches:
                made = _made(pod)
                if number not in newest or made >= _made(newest[number]):
                    newest[number] = pod
        self.seen |= set(newest)
        ended = "its Job is gone" if job is None else _failed(job)
        numbers = set() if job is None else failed_indices(str(_status(job).get("failedIndexes") or ""))
        found = []
        for number in range(self.batches):
            if number in newest:
                found.append(read_pod(newest[number]))
            elif ended:
                found.append(Index(over=True, why=ended))
            elif number in self.seen or number in numbers:
                found.append(Index(over=True, why="its pod is gone"))
            else:
                found.append(Index())
        return found


def read_pod(pod: Mapping[str, Any]) -> Index:
    """What is so of the index of a pod."""
    status = _status(pod)
    name, phase = str(pod["metadata"]["name"]), status.get("phase")
    containers = status.get("containerStatuses") or ()
    if phase in ("Succeeded", "Failed"):
        return Index(over=True, why="" if phase == "Succeeded" else _failure(status, containers), pod=name)
    for one in containers:
        waiting = (one.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in NEVER:
            more = f": {_words(waiting['message'])}" if waiting.get("message") else ""
            return Index(stuck=f"{NEVER[waiting['reason']]} ({waiting['reason']}){more}", pod=name)
    for one in status.get("conditions") or ():
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            return Index(
                waits=f"no node takes its pod: {_words(one.get('message') or 'no reason')}", pod=name
            )
    return Index(pod=name)


def _failure(status: Mapping[str, Any], containers: Iterable[Mapping[str, Any]]) -> str:
    """Why a pod failed: the node's reason, else the container's."""
    for one in status.get("conditions") or ():
        if one.get("type") == "DisruptionTarget" and one.get("status") == "True":
            return f"its pod was taken away: {_words(one.get('message') or one.get('reason') or 'no reason')}"
    if status.get("reason"):
        more = f": {_words(status['message'])}" if status.get("message") else ""
        return f"its pod has ended: {_words(status['reason'])}{more}"
    for one in containers:
        ended = (one.get("state") or {}).get("terminated") or {}
        if ended:
            code, reason = ended.get("exitCode"), _words(ended.get("reason") or "Error")
            last = [line for line in str(ended.get("message") or "").splitlines() if line.strip()]
            return f"its pod has ended: {reason}, code {code}" + (f": {_words(last[-1])}" if last else "")
    return "its pod has failed"


def index_of(pod: Mapping[str, Any]) -> int | None:
    """The number of a pod's index; None where it is not one of an indexed Job's."""
    found = str((pod["metadata"].get("annotations") or {}).get(INDEX, ""))
    return int(found) if found.isdigit() else None


def failed_indices(text: str) -> set[int]:
    """`1,3-5` as numbers."""
    found: set[int] = set()
    for part in (part for part in text.split(",") if part):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _failed(job: Mapping[str, Any]) -> str:
    for one in _status(job).get("conditions") or ():
        if one.get("type") == "Failed" and one.get("status") == "True":
            return f"its Job has failed: {_words(one.get('reason') or 'no reason')}"
    return ""


def _status(found: Mapping[str, Any]) -> Mapping[str, Any]:
    status: Mapping[str, Any] = found.get("status") or {}
    return status


def _made(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"].get("creationTimestamp") or "")


def _words(text: object) -> str:
    return printable(" ".join(str(text).split()))[:LAST]
