"""The Job and the Secret of so many batches, as Kubernetes' API takes them. Pure.

A Job is indexed: each index is one batch, and one pod. It is made suspended, so that its Secret, which it
owns, is there before the first pod. Kubernetes starts no pod again: the campaign does, which knows better
what was lost. No value of a variable is in a Job; whoever may list Jobs may read them.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.campaign.engine import Command
    from faultwire.campaign.kube_place import KubePlace

LABEL = "faultwire.dev/campaign"
MODULE = "faultwire.campaign.kube_worker"
GRACE_S = 15
"""Seconds that a pod has to end its agents and its tape, and to put its answer."""
KEPT_S = 600
"""Seconds that a Job which has ended is left to be looked at, where nobody removes it."""
INDEXED = (1, 29)
"""Since this version an index may fail by itself (`backoffLimitPerIndex`)."""
STATE = ".faultwire"
NEEDED = (
    ("jobs", ("create", "delete", "get", "list", "patch")),
    ("pods", ("delete", "list", "watch")),
    ("secrets", ("create", "delete")),
)
"""What the user of the API server must be allowed."""


def job(
    name: str, campaign: str, place: KubePlace, command: Command, prefix: str, batches: int, *, indexed: bool
) -> dict[str, Any]:
    """A Job of so many indices, suspended. Without `indexed` (before 1.29) one failed pod is the end of a
    Job, and it must have one batch only."""
    labels = {"app.kubernetes.io/managed-by": "faultwire", LABEL: campaign}
    limit = {"backoffLimitPerIndex": 0} if indexed else {"backoffLimit": 0}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "completionMode": "Indexed",
            "completions": batches,
            "parallelism": batches,
            "suspend": True,
            **limit,
            "activeDeadlineSeconds": place.deadline_s,
            "ttlSecondsAfterFinished": KEPT_S,
            "template": {"metadata": {"labels": labels}, "spec": _pod(name, place, command, prefix)},
        },
    }


def _pod(name: str, place: KubePlace, command: Command, prefix: str) -> dict[str, Any]:
    folder = command.folder
    mounts = [{"name": "state", "mountPath": f"{folder.rstrip('/')}/{STATE}"}]
    volumes: list[dict[str, Any]] = [{"name": "state", "emptyDir": {}}]
    if place.claim is not None:
        mounts.append({"name": "objects", "mountPath": place.objects.removeprefix("file://")})
        volumes.append({"name": "objects", "persistentVolumeClaim": {"claimName": place.claim}})
    env = [
        {"name": "FAULTWIRE_KUBE_OBJECTS", "value": place.objects},
        {"name": "FAULTWIRE_KUBE_PREFIX", "value": prefix},
    ]
    container = {
        "name": "worker",
        "image": place.image,
        "command": [command.words[0], "-P", "-m", MODULE],
        "workingDir": folder,
        "env": env,
        "envFrom": [{"secretRef": {"name": name}}],
        "resources": {
            "requests": {"cpu": place.cpu, "memory": place.memory},
            "limits": {"memory": place.memory},
        },
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": mounts,
    }
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE_S,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        **({"serviceAccountName": place.account} if place.account is not None else {}),
        "containers": [container],
        "volumes": volumes,
    }


def secret(name: str, campaign: str, owner: str, values: Mapping[str, str]) -> dict[str, Any]:
    """The Secret of a Job, which goes with it. `owner` is the Job's uid."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/managed-by": "faultwire", LABEL: campaign},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner}],
        },
        "type": "Opaque",
        "immutable": True,
        "data": {key: b64encode(value.encode()).decode() for key, value in values.items()},
    }
