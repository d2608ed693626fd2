"""What `deploy/` holds, read: the compose file's services, and the resources of Kubernetes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
WRAPPER = ROOT / ".container" / "service"
SERVICES = ("faultwire", "database", "objects", "scheduler", "worker")
Json = dict[str, Any]


def services() -> dict[str, Json]:
    """The services of the compose file, by name."""
    found: dict[str, Json] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return found


def resources() -> list[Json]:
    """The resources of the folder for Kubernetes, as its files have them."""
    names = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    return [
        one
        for name in names
        for one in yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text())
        if one is not None
    ]


def workload(name: str) -> Json:
    """The Deployment or StatefulSet of a name."""
    (found,) = [
        one for one in resources()
        if one["kind"] in ("Deployment", "StatefulSet") and one["metadata"]["name"] == name
    ]  # fmt: skip
    return found


def container(name: str) -> Json:
    """The one container of a workload."""
    (found,) = workload(name)["spec"]["template"]["spec"]["containers"]
    return dict(found)


def plain(words: list[str]) -> list[str]:
    """Arguments of the compose file as a program gets them."""
    return [word.replace("$$", "$") for word in words]
