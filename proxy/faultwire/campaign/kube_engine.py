"""Batches as the indices of indexed Jobs of Kubernetes, without an operator: asks and answers go by object
storage, and the campaign looks at Jobs and pods with the rights of whoever runs it.

What is submitted before a `wait` becomes one Job. A pod that is lost is reported as such, and its cells are
given out again by the campaign, in a later Job; the first result of a cell counts, should both answer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.campaign import kube_job
from faultwire.campaign.engine import Ended
from faultwire.campaign.kube_api import REACH_S, ApiRefusal, KubeApi
from faultwire.campaign.kube_exchange import (
    FOLDER,
    Ask,
    Exchange,
    answer_name,
    ask_name,
    new_key,
    parse_answer,
)
from faultwire.campaign.kube_pods import JobView
from faultwire.campaign.kube_worker import OPTION, OWN, STORAGE
from faultwire.dice import token
from faultwire.errors import FaultwireError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.engine import Command
    from faultwire.campaign.kube_place import KubePlace
    from faultwire.campaign.kube_pods import Index

ASK_S = 300.0
"""Seconds that the first pod may take, with its node and its image, to say what it would play with."""
NO_NODE_S = 60.0
"""Seconds after which a first pod that no node takes is given up."""
STORAGE_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
)


@dataclass
class _Job:
    """A Job of ours, and which batch each index is; None: nothing more is wanted of it."""

    name: str
    batches: list[str | None]
    view: JobView = field(init=False)
    pods: dict[int, str] = field(default_factory=dict)
    stopped: set[int] = field(default_factory=set)
    deleted: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.view = JobView(len(self.batches))


class KubeEngine:
    """Pods in a namespace, so many at once as the place has workers."""

    def __init__(self, place: KubePlace, api: KubeApi, environ: Mapping[str, str] = os.environ) -> None:
        """Raises UsageError where the server is not reached or refuses what is needed, and FaultwireError
        where the storage fails."""
        from faultwire.store.objects import Objects

        self.place, self._api = place, api
        self._campaign = token(8)
        self._secrets = _secrets(place, environ)
        self._indexed = api.version() >= kube_job.INDEXED
        self._check_rights()
        prefix = f"{FOLDER}/{self._campaign}"
        self._prefix = prefix
        self._exchange = Exchange.probed(Objects(place.objects, OPTION), prefix, new_key())
        self._new: dict[str, tuple[Command, str]] = {}
        self._jobs: dict[str, _Job] = {}
        self._indices: dict[str, Index] = {}

    def _check_rights(self) -> None:
        asked = [(verb, resource) for resource, verbs in kube_job.NEEDED for verb in verbs]
        try:
            missing = [f"{verb} {resource}" for verb, resource in asked if not self._api.may(verb, resource)]
        except ApiRefusal as error:
            raise UsageError(
                f"the API server at `{printable(self._api.server)}` refuses who asks: {error.message}",
                code="usage.on",
                hint="`kubectl auth whoami` with the same kubeconfig shows who that is",
            ) from error
        if missing:
            raise UsageError(
                f"found no right to {', '.join(missing)} in the namespace `{self.place.namespace}`",
                code="usage.on",
                hint="the Role that is needed is in docs/howto/campaigns.md; or the namespace is another",
            )

    @property
    def slots(self) -> int:
        """Pods beside each other."""
        return self.place.workers

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        """Run a command in one pod; all others are made alike. Raises UsageError where there comes no pod, or
        it cannot run or reach the storage."""
        batch = token(8)
        self.submit(batch, command, text)
        began = clock.monotonic()
        while True:
            for one in self._wait(1.0, first=True):
                if one.lost:
                    raise _no_pod(one.lost)
                return [(f"image {self.place.image}", one)]
            waited = clock.monotonic() - began
            waits = self._indices[batch].waits if batch in self._indices else ""
            if waits and waited > NO_NODE_S:
                raise _no_pod(waits)
            if waited > ASK_S:
                raise _no_pod(f"it gave no answer in {ASK_S:g} s; see `kubectl describe jobs`")

    def submit(self, batch: str, command: Command, text: str) -> None:
        """Start a batch with the next `wait`."""
        self._new[batch] = (command, text)

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What has ended. Raises FaultwireError where the server or the storage stays away."""
        return self._wait(seconds)

    def _wait(self, seconds: float, *, first: bool = False) -> list[Ended]:
        self._start(first=first)
        found, version = self._look()
        if not found and seconds > 0:
            self._api.changed("pods", self._selector, version, seconds)
            found, _ = self._look()
        return found

    @property
    def _selector(self) -> str:
        return f"{kube_job.LABEL}={self._campaign}"

    def _start(self, *, first: bool) -> None:
        """Make Jobs of what was submitted. A refusal is the end of the run: another one would be refused."""
        new, self._new = list(self._new.items()), {}
        size = len(new) if self._indexed else 1
        for at in range(0, len(new), max(1, size)):
            part = new[at : at + size]
            job = _Job(f"faultwire-{self._campaign}-{len(self._jobs)}-{token(2)}", [name for name, _ in part])
            for index, (_, (command, text)) in enumerate(part):
                self._exchange.put(ask_name(job.name, index), Ask(command, text).as_bytes())
            self._jobs[job.name] = job  # before it is made: `close` removes it, whatever comes between
            try:
                self._make(job, part[0][1][0])
            except ApiRefusal as error:
                kind = UsageError if first else FaultwireError
                where = f"in the namespace `{self.place.namespace}`"
                raise kind(
                    f"Kubernetes refuses a Job {where}: {error.message}", code="campaign.kube"
                ) from error

    def _make(self, job: _Job, command: Command) -> None:
        args = (job.name, self._campaign, self.place, command, self._prefix, len(job.batches))
        made = self._api.create("jobs", kube_job.job(*args, indexed=self._indexed))
        values = {**self._secrets, f"{OWN}KEY": self._exchange.key_text, f"{OWN}JOB": job.name}
        owner = str(made["metadata"]["uid"])
        self._api.create("secrets", kube_job.secret(job.name, self._campaign, owner, values))
        self._api.patch("jobs", job.name, {"spec": {"suspend": False}})

    def _look(self) -> tuple[list[Ended], str]:
        """What has ended by now, and the version of the list of pods."""
        jobs = {str(one["metadata"]["name"]): one for one in self._api.list("jobs", self._selector)[0]}
        pods, version = self._api.list("pods", self._selector)
        owned: dict[str, list[dict[str, Any]]] = {}
        for pod in pods:
            labels = pod["metadata"].get("labels") or {}
            owned.setdefault(str(labels.get("batch.kubernetes.io/job-name")), []).append(pod)
        found: list[Ended] = []
        for job in list(self._jobs.values()):
            indices = job.view.read(jobs.get(job.name), owned.get(job.name, ()))
            found += self._ended(job, indices)
            if not any(job.batches):
                self._remove(job)
        return found, version

    def _ended(self, job: _Job, indices: Sequence[Index]) -> list[Ended]:
        found: list[Ended] = []
        for number, index in enumerate(indices):
            batch = job.batches[number]
            if batch is None:
                continue
            job.pods[number] = index.pod or job.pods.get(number, "")
            self._indices[batch] = index
            if number in job.stopped and index.pod:
                self._delete_pod(job, number, kube_job.GRACE_S)  # it came after it was to stop
            if index.over or index.stuck:
                found.append(self._outcome(job, number, batch, index))
        return found

    def _outcome(self, job: _Job, number: int, batch: str, index: Index) -> Ended:
        """An answer that is there counts, however its pod has ended."""
        data = self._exchange.get(answer_name(job.name, number)) if index.over else None
        job.batches[number] = None
        self._indices.pop(batch, None)
        if data is not None:
            return parse_answer(batch, data)
        if index.stuck:
            self._delete_pod(job, number, 0)
        return Ended(batch, lost=index.stuck or index.why or "its pod has ended without an answer")

    def stop(self, batch: str) -> None:
        """Remove its pod, which has some seconds to answer with what has finished."""
        for job, number in self._of(batch):
            job.stopped.add(number)
            self._delete_pod(job, number, kube_job.GRACE_S)
        self._new.pop(batch, None)

    def drop(self, batch: str) -> None:
        """Remove its pod at once."""
        for job, number in self._of(batch):
            job.batches[number] = None
            self._delete_pod(job, number, 0)
        self._indices.pop(batch, None)
        self._new.pop(batch, None)

    def _of(self, batch: str) -> list[tuple[_Job, int]]:
        return [(job, job.batches.index(batch)) for job in self._jobs.values() if batch in job.batches]

    def _delete_pod(self, job: _Job, number: int, grace_s: int) -> None:
        if job.pods.get(number) and (number not in job.deleted or not grace_s):
            job.deleted.add(number)
            self._api.delete("pods", job.pods[number], grace_s)

    def _remove(self, job: _Job) -> None:
        """A Job and its Secret go, whether or not Kubernetes removes what a Job owns by itself."""
        self._api.delete("secrets", job.name)
        self._api.delete("jobs", job.name)
        for number in range(len(job.batches)):
            self._exchange.delete(ask_name(job.name, number))
            self._exchange.delete(answer_name(job.name, number))
        self._jobs.pop(job.name, None)

    def close(self) -> None:
        """Remove all Jobs, Secrets and objects that are left. Raises FaultwireError where one stays; a Job
        ends by its deadline then, and what it owns goes with it."""
        self._api.gone_s = REACH_S
        try:
            for job in list(self._jobs.values()):
                self._remove(job)
            self._exchange.clear()
        finally:
            self._api.close()


def _secrets(place: KubePlace, environ: Mapping[str, str]) -> dict[str, str]:
    """What pods get as a Secret. Raises UsageError for a variable that is not set."""
    for name in place.env:
        if name not in environ:
            raise UsageError(
                f"found no variable `{name}`, which `env` of `--on kube://…` names", code="usage.on"
            )
    found = {name: environ[name] for name in place.env}
    if place.objects.startswith("s3:"):
        found |= {f"{STORAGE}{name}": environ[name] for name in STORAGE_VARIABLES if name in environ}
    return found


def _no_pod(why: str) -> UsageError:
    return UsageError(
        f"the first pod gave no answer: {why}",
        code="usage.on",
        hint="the image needs faultwire[kube], the project's folder and a user that is not root: "
        "--worker-python and --worker-folder are within it",
    )
