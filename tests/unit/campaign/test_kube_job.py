"""The Job and its Secret: what Kubernetes' schemas allow, and what is promised of the pods."""

from __future__ import annotations

import copy
import json
from base64 import b64decode
from typing import Any

import kubernetes_validate
import pytest

from faultwire.campaign.engine import Command
from faultwire.campaign.kube_job import LABEL, job, secret
from faultwire.campaign.kube_place import parse

PLACE = "kube://chaos?image=registry.test/agent:1&objects=file:///srv/asks&claim=shared&account=runner&env=OPENAI_API_KEY"
COMMAND = Command(("python", "-P", "-m", "faultwire", "worker", "--config", "faultwire.yaml"), "/project/")


def made(place: str = PLACE, *, batches: int = 3, indexed: bool = True) -> dict[str, Any]:
    return job("faultwire-1", "1", parse(place), COMMAND, "kube/1", batches, indexed=indexed)


def pod(found: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = found["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize(
    ("version", "indexed"), [("1.25", False), ("1.28", False), ("1.29", True), ("1.33", True), ("1.37", True)]
)
def test_each_version_of_kubernetes_allows_the_job_and_the_secret_as_they_are(
    version: str, indexed: bool
) -> None:
    kubernetes_validate.validate(made(indexed=indexed), version, strict=True)
    kubernetes_validate.validate(secret("faultwire-1", "1", "uid", {"A": "x"}), version, strict=True)


def test_the_schema_refuses_a_misspelt_key_a_wrong_type_and_what_a_version_does_not_have() -> None:
    """The control."""
    misspelt, wrong = made(), made()
    misspelt["spec"]["backOffLimitPerIndex"] = 0
    wrong["spec"]["completions"] = "three"
    for one, version in ((misspelt, "1.37"), (wrong, "1.37"), (made(), "1.25")):
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(one, version, strict=True)


def test_each_index_is_a_batch_that_kubernetes_starts_once_and_that_ends() -> None:
    spec = made()["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert (spec["backoffLimitPerIndex"], pod(made())["restartPolicy"]) == (0, "Never")
    assert (spec["suspend"], spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (
        True,
        21600,
        600,
    )
    assert made()["metadata"]["labels"][LABEL] == spec["template"]["metadata"]["labels"][LABEL] == "1"


def test_before_an_index_could_fail_by_itself_a_job_ends_with_its_pod() -> None:
    spec = made(batches=1, indexed=False)["spec"]
    assert "backoffLimitPerIndex" not in spec
    assert spec["backoffLimit"] == 0


def unrestricted(spec: dict[str, Any]) -> list[str]:
    """What the Pod Security Standard *restricted* asks for and a pod does not have."""
    found, whole = [], spec.get("securityContext", {})
    if not whole.get("runAsNonRoot") or whole.get("runAsUser") == 0:
        found.append("runAsNonRoot")
    if whole.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        found.append("seccompProfile")
    found += [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    allowed = {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
    found += [one["name"] for one in spec["volumes"] if set(one) - {"name"} - allowed]
    for one in spec["containers"]:
        own = one.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or own.get("privileged"):
            found.append("allowPrivilegeEscalation")
        if own.get("capabilities", {}).get("drop") != ["ALL"] or own.get("capabilities", {}).get("add"):
            found.append("capabilities")
    return found


def test_pods_fit_the_restricted_standard_and_get_no_token_of_the_cluster() -> None:
    spec = pod(made())
    assert unrestricted(spec) == []
    assert (spec["automountServiceAccountToken"], spec["serviceAccountName"]) == (False, "runner")
    limits = spec["containers"][0]["resources"]
    assert limits == {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
    for change in (
        lambda one: one["securityContext"].pop("runAsNonRoot"),
        lambda one: one["securityContext"].pop("seccompProfile"),
        lambda one: one["containers"][0]["securityContext"].pop("capabilities"),
        lambda one: one["containers"][0]["securityContext"].pop("allowPrivilegeEscalation"),
        lambda one: one["volumes"].append({"name": "host", "hostPath": {"path": "/"}}),
    ):
        bent = copy.deepcopy(spec)
        change(bent)
        assert len(unrestricted(bent)) == 1


def test_secrets_are_in_the_secret_alone_which_the_job_owns() -> None:
    found = secret("faultwire-1", "1", "the-uid", {"OPENAI_API_KEY": "sk-secret\n"})
    assert b64decode(found["data"]["OPENAI_API_KEY"]) == b"sk-secret\n"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "faultwire-1", "uid": "the-uid"}
    assert found["metadata"]["ownerReferences"] == [owner]
    assert found["immutable"] is True
    assert "OPENAI_API_KEY" not in json.dumps(made())
    assert pod(made())["containers"][0]["envFrom"] == [{"secretRef": {"name": "faultwire-1"}}]


def test_a_folder_is_the_volume_of_its_claim_and_a_bucket_needs_none() -> None:
    mounts = {one["name"]: one["mountPath"] for one in pod(made())["containers"][0]["volumeMounts"]}
    assert mounts == {"state": "/project/.faultwire", "objects": "/srv/asks"}
    assert {"name": "objects", "persistentVolumeClaim": {"claimName": "shared"}} in pod(made())["volumes"]
    spec = pod(made("kube://chaos?image=a&objects=s3://team/asks"))
    assert [one["name"] for one in spec["volumes"]] == ["state"]
    assert "serviceAccountName" not in spec


def test_the_interpreter_is_that_of_workers_and_the_command_holds_nothing_of_the_campaign() -> None:
    container = pod(made())["containers"][0]
    assert container["command"] == ["python", "-P", "-m", "faultwire.campaign.kube_worker"]
    assert "args" not in container
