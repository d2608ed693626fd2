"""The manifests: what Kubernetes' own schemas allow, and what is promised of the pod that comes out."""

from __future__ import annotations

import copy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

FILES = Path(__file__).parents[3] / ".container"
VERSION = "1.33"
SIDECAR = FILES / "kubernetes" / "component" / "sidecar.yaml"
RESOURCES = [
    SIDECAR,
    FILES / "kubernetes" / "component" / "network_policy.yaml",
    FILES / "kubernetes" / "example" / "agent" / "deployment.yaml",
]


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def whole(resource: dict[str, Any]) -> dict[str, Any]:
    """A patch with what the Deployment that it is put on has."""
    made = copy.deepcopy(resource)
    if made["kind"] == "Deployment" and "selector" not in made["spec"]:
        made["spec"]["selector"] = {"matchLabels": {"app": "agent"}}
        made["spec"]["template"]["spec"]["containers"] = [{"name": "agent"}]
    return made


def pod(resource: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = resource["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize("path", RESOURCES, ids=lambda path: path.name)
def test_each_resource_is_what_the_schema_of_kubernetes_allows(path: Path) -> None:
    kubernetes_validate.validate(whole(read(path)), VERSION, strict=True)


def test_the_schema_refuses_a_misspelt_key_and_a_wrong_type() -> None:
    """The control."""
    for key, value in (("readOnlyRootFileSystem", True), ("runAsUser", "nobody")):
        wrong = whole(read(SIDECAR))
        pod(wrong)["initContainers"][1]["securityContext"][key] = value
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, VERSION, strict=True)


def held(sidecar: dict[str, Any]) -> list[str]:
    """What is not as it is promised, of the containers that are added to a pod."""
    redirect, proxy = pod(sidecar)["initContainers"]
    security = proxy["securityContext"]
    wrong = [
        name
        for name, value in {
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }.items()
        if security.get(name) != value
    ]
    if redirect["securityContext"]["capabilities"] != {"drop": ["ALL"], "add": ["NET_ADMIN", "NET_RAW"]}:
        wrong.append("capabilities of the redirect")
    if proxy.get("restartPolicy") != "Always":
        wrong.append("it is no sidecar")
    keys = [
        volume["name"]
        for volume in pod(sidecar)["volumes"]
        for source in volume.get("projected", {}).get("sources", ())
        if any(item["key"] == "mitmproxy-ca.pem" for item in source["secret"]["items"])
    ]
    mounted = {mount["name"] for mount in redirect["volumeMounts"]}
    return wrong + [name for name in keys if name != "faultwire-authority" or name in mounted]


def test_the_proxy_has_no_rights_and_the_key_is_for_it_alone() -> None:
    sidecar = read(SIDECAR)
    assert held(sidecar) == []
    for change in ("readOnlyRootFilesystem", "runAsNonRoot"):
        worse = copy.deepcopy(sidecar)
        del pod(worse)["initContainers"][1]["securityContext"][change]
        assert held(worse) == [change]
    worse = copy.deepcopy(sidecar)
    pod(worse)["volumes"][3]["projected"]["sources"][0]["secret"]["items"][0]["key"] = "mitmproxy-ca.pem"
    assert held(worse) == ["faultwire-trust"]


def test_the_ports_and_the_user_agree() -> None:
    redirect, proxy = pod(read(SIDECAR))["initContainers"]
    script = (FILES / "redirect").read_text()
    assert f"FAULTWIRE_UID:-{proxy['securityContext']['runAsUser']}}}" in script
    port = next(one.partition("=")[2] for one in proxy["args"] if one.startswith("--redirected="))
    assert f"FAULTWIRE_REDIRECTED:-{port}}}" in script
    health = next(one.rpartition(":")[2] for one in proxy["args"] if one.startswith("--health="))
    assert proxy["ports"] == [{"name": "health", "containerPort": int(health)}]
    allowed = read(RESOURCES[1])["spec"]["egress"]
    tcp = {one["port"] for rule in allowed for one in rule["ports"] if one["protocol"] == "TCP"} - {53}
    assert {str(one) for one in tcp} == set(redirect["command"][1].split(",")), "all others are shut"


def test_an_unmodified_deployment_gets_its_sidecar() -> None:
    kustomize = shutil.which("kustomize")
    if kustomize is None:
        pytest.skip("needs `kustomize`: go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1")
    done = subprocess.run(
        [kustomize, "build", str(FILES / "kubernetes" / "example")],
        check=True,
        capture_output=True,
        text=True,
    )
    made = {one["kind"]: one for one in yaml.safe_load_all(done.stdout)}
    for one in made.values():
        kubernetes_validate.validate(one, VERSION, strict=True)
    spec = pod(made["Deployment"])
    assert [one["name"] for one in spec["initContainers"]] == ["faultwire-redirect", "faultwire"]
    (agent,) = spec["containers"]
    before = pod(read(FILES / "kubernetes" / "example" / "agent" / "deployment.yaml"))["containers"][0]
    assert agent["image"] == before["image"]
    assert [one["name"] for one in agent["env"]][-1:] == ["OPENAI_API_KEY"]
    assert agent["volumeMounts"] == [
        {"name": "faultwire-trust", "mountPath": "/etc/faultwire", "readOnly": True}
    ]
    assert held(made["Deployment"]) == []
    selected = made["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]
    labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert selected.items() <= labels.items()


def test_compose_leaves_the_agent_no_network_but_the_inner_one() -> None:
    services, networks = (read(FILES / "compose.yaml")[name] for name in ("services", "networks"))
    assert services["agent"]["networks"] == ["inside"]
    assert networks["inside"] == {"internal": True}
    proxy = services["faultwire"]
    assert (proxy["read_only"], proxy["cap_drop"]) == (True, ["ALL"])
    assert [one for one in services["agent"]["volumes"] if "mitmproxy-ca.pem" in one] == []
