"""`deploy/`: what the compose specification and Kubernetes allow, and what is promised of each process."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests.e2e.container.deployment import (
    DEPLOY,
    ROOT,
    SERVICES,
    WRAPPER,
    container,
    plain,
    resources,
    services,
    workload,
)

VERSION = "1.33"
NO_COMPOSE = (
    "compose-go is not installed (go install github.com/compose-spec/compose-go/v2/cmd, named compose-go)"
)
NO_KUSTOMIZE = "kustomize is not installed (go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1)"
Json = dict[str, Any]


def compose(path: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("compose-go")
    if program is None:
        pytest.skip(NO_COMPOSE)
    return subprocess.run([program, path], capture_output=True, text=True, timeout=120)


def test_the_compose_file_is_what_its_specification_allows(tmp_path: Path) -> None:
    done = compose(DEPLOY / "compose.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(yaml.safe_load(done.stdout)["services"]) <= set(SERVICES)
    # The control: one misspelt key, and one wrong type.
    text = (DEPLOY / "compose.yaml").read_text()
    for number, (good, bad) in enumerate(
        (("read_only: true", "readonly: true"), ("cap_drop: [ALL]", "cap_drop: 1"))
    ):
        wrong = tmp_path / f"{number}.yaml"
        wrong.write_text(text.replace(good, bad))
        assert compose(wrong).returncode != 0


@pytest.mark.parametrize("resource", resources(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_each_resource_is_what_the_schema_of_kubernetes_allows(resource: Json) -> None:
    kubernetes_validate.validate(resource, VERSION, strict=True)


def test_the_schema_refuses_a_misspelt_key() -> None:
    """The control."""
    wrong = workload("database")
    wrong["spec"]["template"]["spec"]["containers"][0]["readinessprobe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_kustomize_renders_all_of_it() -> None:
    program = shutil.which("kustomize")
    if program is None:
        pytest.skip(NO_KUSTOMIZE)
    words = [program, "build", DEPLOY / "kubernetes"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rendered = list(yaml.safe_load_all(done.stdout))
    for one in rendered:
        kubernetes_validate.validate(one, VERSION, strict=True)
    kinds = sorted(one["kind"] for one in rendered)
    assert kinds.count("ConfigMap") == 2
    assert len(rendered) == len(resources()) + 2
    names = {one["metadata"]["name"] for one in rendered if one["kind"] == "ConfigMap"}
    pods = [one["spec"]["template"]["spec"] for one in rendered if "template" in one.get("spec", {})]
    volumes = [volume for pod in pods for volume in pod["volumes"]]
    used = {volume["configMap"]["name"] for volume in volumes if "configMap" in volume}
    assert used == names


def loose(service: Json) -> list[str]:
    """What of a compose service is not as it is promised."""
    user = str(service.get("user", ""))
    found = {
        "user": bool(re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)),
        "read_only": service.get("read_only") is True,
        "cap_drop": service.get("cap_drop") == ["ALL"] and "cap_add" not in service,
        "security_opt": service.get("security_opt") == ["no-new-privileges:true"],
        "privileged": not service.get("privileged", False),
        "healthcheck": "test" in service.get("healthcheck", {}),
        "env_file": "env_file" not in service,
    }
    found["networks"] = "inside" in service["networks"]
    secret = re.compile("PASSWORD|SECRET|TOKEN|KEY|CREDENTIAL")
    found["environment"] = all(
        name.endswith("_FILE") and value.startswith("/run/secrets/")
        for name, value in service.get("environment", {}).items()
        if secret.search(name)
    )
    return [name for name, held in found.items() if not held]


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_nobody_on_a_root_that_cannot_be_written_to_with_secrets_by_files(name: str) -> None:
    service = services()[name]
    assert loose(service) == []
    for key, value in (("user", "0:0"), ("read_only", False), ("cap_drop", []), ("healthcheck", {}),
                       ("environment", {"POSTGRES_PASSWORD": "postgres"}), ("user", "root"),
                       ("networks", ["outside"])):  # fmt: skip
        assert loose({**service, key: value}) == [key], "the control"


def test_only_the_service_can_be_reached_from_outside() -> None:
    found = services()
    assert [name for name in SERVICES if "ports" in found[name]] == ["faultwire"]
    file = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert file["networks"]["inside"] == {"internal": True}
    assert [name for name in SERVICES if "outside" in found[name]["networks"]] == ["faultwire", "worker"]


def loose_pod(resource: Json) -> list[str]:
    pod = resource["spec"]["template"]["spec"]
    (one,) = pod["containers"]
    held = {
        "runAsNonRoot": pod["securityContext"].get("runAsNonRoot") is True,
        "runAsUser": pod["securityContext"].get("runAsUser", 0) > 0,
        "seccompProfile": pod["securityContext"].get("seccompProfile") == {"type": "RuntimeDefault"},
        "automountServiceAccountToken": pod.get("automountServiceAccountToken") is False,
        "readOnlyRootFilesystem": one["securityContext"].get("readOnlyRootFilesystem") is True,
        "allowPrivilegeEscalation": one["securityContext"].get("allowPrivilegeEscalation") is False,
        "capabilities": one["securityContext"].get("capabilities") == {"drop": ["ALL"]},
        "limits": "memory" in one["resources"]["limits"],
        "env": all("valueFrom" not in each for each in one.get("env", ())),
    }
    return [name for name, there in held.items() if not there]


@pytest.mark.parametrize("name", SERVICES)
def test_each_pod_is_confined_and_reads_secrets_from_files(name: str) -> None:
    assert loose_pod(workload(name)) == []
    wrong = workload(name)
    wrong["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] = False
    assert loose_pod(wrong) == ["runAsNonRoot"], "the control"


@pytest.mark.parametrize("name", SERVICES)
def test_compose_and_kubernetes_start_the_same(name: str) -> None:
    service, pod = services()[name], container(name)
    entry = service.get("entrypoint", [])
    assert [*pod.get("command", []), *pod.get("args", [])] == plain([*entry, *service["command"]])
    environment = {one["name"]: one["value"] for one in pod.get("env", ())}
    assert environment == service.get("environment", {})
    keys = {item["key"] for volume in workload(name)["spec"]["template"]["spec"]["volumes"]
            for item in volume.get("secret", {}).get("items", ())}  # fmt: skip
    assert keys == set(service["secrets"])


def test_only_what_is_named_may_connect() -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in resources() if one["kind"] == "NetworkPolicy"}
    assert set(policies) == set(SERVICES)
    (database,) = policies["database"]["ingress"]
    assert database["from"] == [{"podSelector": {"matchLabels": {"app": "faultwire"}}}]
    assert [
        name for name, spec in policies.items() if any("from" not in rule for rule in spec["ingress"])
    ] == ["faultwire"]


def prepared(folder: Path, *names: str) -> Path:
    """What `deploy/prepare` makes."""
    group = "65532" if os.geteuid() == 0 else str(os.getgid())
    env = {**os.environ, "FAULTWIRE_SECRETS": str(folder / "secrets"), "FAULTWIRE_DATA": str(folder / "data"),
           "FAULTWIRE_GROUP": group}  # fmt: skip
    subprocess.run([DEPLOY / "prepare", *names], check=True, env=env, capture_output=True, timeout=120)
    return folder / "secrets"


def test_secrets_are_made_once_by_chance_and_for_the_group_alone(tmp_path: Path) -> None:
    first, second = (prepared(tmp_path / name, "team.example") for name in "ab")
    made = {path.name: path for path in first.iterdir()}
    file = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(file["secrets"]) == set(made) - {"authority.key"}
    before = {name: path.read_bytes() for name, path in made.items()}
    prepared(tmp_path / "a")
    assert {name: path.read_bytes() for name, path in made.items()} == before
    for name, path in made.items():
        assert stat.S_IMODE(path.stat().st_mode) == (0o400 if name == "authority.key" else 0o440)
        assert path.read_bytes() != (second / name).read_bytes()
        if not name.endswith((".pem", ".key")):
            assert len(path.read_text().strip()) >= 20
    context = ssl.create_default_context(cafile=made["authority.pem"])
    context.load_cert_chain(made["faultwire.pem"], made["faultwire.key"])
    words = ["openssl", "x509", "-in", made["faultwire.pem"], "-noout", "-ext", "subjectAltName"]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "DNS:faultwire, DNS:localhost, DNS:team.example" in names


SHOW = """#!{python}
import json, os, sys
print(json.dumps([sys.argv[1:], {{name: os.environ.get(name) for name in {names}}}]))
"""
NAMES = ["PGPASSWORD", "PGPASSWORD_FILE", "AWS_SECRET_ACCESS_KEY", "SSL_CERT_FILE"]


def test_the_wrapper_reads_secrets_from_files_and_trusts_one_authority_more(tmp_path: Path) -> None:
    program = tmp_path / "faultwire"
    program.write_text(SHOW.format(python=sys.executable, names=NAMES))
    program.chmod(0o755)
    (tmp_path / "password").write_text("swordfish\n")
    authority = prepared(tmp_path) / "authority.pem"
    env = {
        "PATH": str(tmp_path),
        "PGPASSWORD_FILE": str(tmp_path / "password"),
        "FAULTWIRE_TRUST": str(authority),
        "TMPDIR": str(tmp_path),
    }
    words = [sys.executable, "-I", str(WRAPPER), "serve", "--x"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True, timeout=60)
    given, seen = json.loads(done.stdout)
    assert given == ["serve", "--x"]
    assert (seen["PGPASSWORD"], seen["PGPASSWORD_FILE"], seen["AWS_SECRET_ACCESS_KEY"]) == (
        "swordfish",
        None,
        None,
    )
    roots = Path(seen["SSL_CERT_FILE"]).read_text()
    assert authority.read_text().strip() in roots
    assert roots.count("BEGIN CERTIFICATE") > 50, "and the public ones"
    for path, text in ((tmp_path / "none", None), (tmp_path / "password", "")):
        if text is not None:
            path.write_text(text)
        wrong = subprocess.run(
            words, env={**env, "PGPASSWORD_FILE": str(path)}, capture_output=True, text=True
        )
        assert (wrong.returncode, wrong.stdout) == (1, "")
        assert f"`PGPASSWORD_FILE={path}`" in wrong.stderr


def test_the_lock_of_the_service_has_what_the_extras_need_and_nothing_twice() -> None:
    import tomllib

    from tests.meta.test_lock import faults

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    needs = [one for name in ("store", "service", "postgresql", "dask") for one in extras[name]
             if not one.startswith("faultwire[")]  # fmt: skip
    runtime, service = (
        (ROOT / ".ci" / "lock" / f"{name}.txt").read_text() for name in ("runtime", "service")
    )
    assert (
        faults(f"{runtime.strip()}\n{service.strip()}\n", [one.replace("[binary]", "") for one in needs])
        == []
    )
    assert "://" not in service
    assert faults(runtime, ["alembic>=1.13"]), "the control"
