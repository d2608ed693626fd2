"""A node for tests: takes the pods of a namespace from an API server, as a kubelet does, and starts the
command of each as a process of this machine.

It knows the server by its API alone, whether that is the one of these tests or a real one. Of a pod it heeds
what decides whether and how its process runs: image, command, folder, environment with Secrets and fields,
grace; it isolates nothing.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

import httpx

KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "COLD_START")
TAIL = 2048
"""Bytes of a log that become the message of a container that failed (`FallbackToLogsOnError`)."""


@dataclass
class Process:
    pod: dict[str, Any]
    popen: subprocess.Popen[bytes]
    log: IO[bytes]
    asked: bool = False


@dataclass
class Kubelet:
    """`images` are those that can be pulled; `env` is what an image has in its environment."""

    http: httpx.Client
    namespace: str
    images: tuple[str, ...] = ("registry.test/agent:1",)
    env: dict[str, str] = field(default_factory=dict)
    override: dict[str, str] = field(default_factory=dict)
    """What pods get instead of what their manifests have: a network or a volume that is not as here."""
    running: dict[str, Process] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    pulls: int | None = None
    """How many more images can be pulled; None: any number."""
    full: bool = False
    """No pod is given a node."""

    def __post_init__(self) -> None:
        self._changes: SimpleQueue[str] = SimpleQueue()
        self._ended = threading.Event()
        self._turn = threading.Lock()
        self._done: set[str] = set()
        self.failure: BaseException | None = None
        self.threads = [threading.Thread(target=one, daemon=True) for one in (self._watch, self._run)]
        for one in self.threads:
            one.start()

    def _path(self, kind: str, name: str = "", sub: str = "") -> str:
        return "/".join(part for part in (f"/api/v1/namespaces/{self.namespace}/{kind}", name, sub) if part)

    def _watch(self) -> None:
        while not self._ended.is_set():
            self._changes.put("")
            try:
                params = {"watch": "true", "timeoutSeconds": "2"}
                with self.http.stream("GET", self._path("pods"), params=params, timeout=10) as answer:
                    for _ in answer.iter_lines():
                        self._changes.put("")
            except httpx.HTTPError:
                self._ended.wait(0.2)

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                try:
                    self._changes.get(timeout=1)
                    while True:
                        self._changes.get_nowait()
                except Empty:
                    with self._turn:
                        self.look()
        except httpx.HTTPError as error:
            if not self._ended.is_set():
                self.failure = error

    def look(self) -> None:
        """Once over all pods and processes."""
        pods = self.http.get(self._path("pods")).json()["items"]
        for pod in pods:
            name, status = pod["metadata"]["name"], pod["status"]
            if pod["metadata"].get("deletionTimestamp"):
                self._end(pod)
            elif name not in self.running and name not in self._done and status["phase"] == "Pending":
                self._start(pod)
        here = {pod["metadata"]["name"] for pod in pods}
        for name, one in list(self.running.items()):
            if name not in here:  # removed without grace
                one.popen.kill()
            if one.popen.poll() is not None:
                self._over(name, one, there=name in here)

    def _start(self, pod: dict[str, Any]) -> None:
        name, spec = pod["metadata"]["name"], pod["spec"]
        container = spec["containers"][0]
        if self.full:
            message = "0/1 nodes are available: 1 Insufficient cpu."
            condition = {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": message,
            }
            self._status(name, {"conditions": [condition]}, once=True, pod=pod)
            return
        if not spec.get("nodeName"):
            target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
            self.http.post(self._path("pods", name, "binding"), json=body).raise_for_status()
        if container["image"] not in self.images or self.pulls == 0:
            self._waits(pod, "ImagePullBackOff", f'Back-off pulling image "{container["image"]}"')
            return
        if self.pulls is not None:
            self.pulls -= 1
        env = self._environment(pod, container)
        if env is None:
            self._waits(pod, "CreateContainerConfigError", "secret not found")
            return
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            popen = subprocess.Popen(
                container["command"], cwd=container["workingDir"], env=env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, process_group=0,
            )  # fmt: skip
        except OSError as error:
            log.close()
            self._waits(pod, "RunContainerError", f"exec: {error.strerror}: {error.filename}")
            return
        self.running[name] = Process(pod, popen, log)
        self.started.append(name)
        threading.Thread(target=lambda: (popen.wait(), self._changes.put(name)), daemon=True).start()
        state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
        self._status(name, {"phase": "Running", "containerStatuses": [self._container(pod, state)]})

    def _environment(self, pod: dict[str, Any], container: dict[str, Any]) -> dict[str, str] | None:
        """Nothing of this process but what an image would have; None without a Secret."""
        env = {key: os.environ[key] for key in KEPT if key in os.environ} | self.env
        for one in container.get("envFrom", ()):
            answer = self.http.get(self._path("secrets", one["secretRef"]["name"]))
            if answer.status_code != 200:
                return None
            env |= {key: b64decode(value).decode() for key, value in answer.json()["data"].items()}
        for one in container.get("env", ()):
            if "value" in one:
                env[one["name"]] = one["value"]
            else:
                kind, key = re.match(
                    r"metadata\.(\w+)\['(.+)'\]", one["valueFrom"]["fieldRef"]["fieldPath"]
                ).groups()
                env[one["name"]] = pod["metadata"][kind][key]
        return env | self.override

    def _end(self, pod: dict[str, Any]) -> None:
        name = pod["metadata"]["name"]
        one = self.running.get(name)
        if one is None:
            self.http.request("DELETE", self._path("pods", name), json={"gracePeriodSeconds": 0})
        elif not one.asked:
            one.asked = True
            one.popen.send_signal(signal.SIGTERM)
            seconds = pod["metadata"].get("deletionGracePeriodSeconds", 30)
            timer = threading.Timer(seconds, one.popen.kill)
            timer.daemon = True
            timer.start()

    def _over(self, name: str, one: Process, *, there: bool) -> None:
        del self.running[name]
        self._done.add(name)
        code = one.popen.returncode
        with one.log as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - TAIL))
            tail = log.read().decode("utf-8", "replace")
        if not there:
            return
        code = 128 - code if code < 0 else code
        ended: dict[str, Any] = {"exitCode": code, "reason": "Completed" if not code else "Error"}
        if code:
            ended["message"] = tail
        status = {"phase": "Failed" if code else "Succeeded"}
        self._status(name, {**status, "containerStatuses": [self._container(one.pod, {"terminated": ended})]})
        if one.asked:
            self.http.request("DELETE", self._path("pods", name), json={"gracePeriodSeconds": 0})

    def evict(self, name: str, message: str) -> None:
        """As a node that runs out of memory does."""
        with self._turn:
            one = self.running.pop(name)
            self._done.add(name)
            one.popen.kill()
            one.popen.wait()
            one.log.close()
            self._status(name, {"phase": "Failed", "reason": "Evicted", "message": message})

    def _waits(self, pod: dict[str, Any], reason: str, message: str) -> None:
        name = pod["metadata"]["name"]
        state = {"waiting": {"reason": reason, "message": message}}
        self._status(name, {"containerStatuses": [self._container(pod, state)]}, once=True, pod=pod)

    def _container(self, pod: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        image = pod["spec"]["containers"][0]["image"]
        about = {"name": "worker", "image": image, "imageID": "", "ready": False, "restartCount": 0}
        return {**about, "state": state}

    def _status(self, name: str, status: dict[str, Any], *, once: bool = False, pod: Any = None) -> None:
        if once and all(pod["status"].get(key) == value for key, value in status.items()):
            return  # it says so already: each change would be another event
        self.http.patch(
            self._path("pods", name, "status"),
            content=json.dumps({"status": status}),
            headers={"content-type": "application/merge-patch+json"},
        )

    def close(self) -> None:
        self._ended.set()
        self._changes.put("")
        for one in self.threads:
            one.join()
        for one in self.running.values():
            one.popen.kill()
            one.popen.wait()
            one.log.close()
        self.http.close()
        assert self.failure is None, self.failure


def client(server: str, authority: Path, token: str) -> httpx.Client:
    """How the node asks the server."""
    import ssl

    tls = ssl.create_default_context(cafile=str(authority))
    return httpx.Client(
        base_url=server, verify=tls, headers={"authorization": f"Bearer {token}"}, timeout=60, trust_env=False
    )
