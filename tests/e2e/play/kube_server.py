"""An API server of Kubernetes for tests: what a campaign and a kubelet ask of one, by HTTPS.

It stands in for a real one, and is stricter where that would be lenient: a key that the schema of Kubernetes
does not have is refused. Its controller of Jobs is called after each change, so that nothing depends on
how long something takes. Rights are by bearer token; a token that is not known is nobody.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import kubernetes_validate

SCHEMA = "1.37"
INDEX = "batch.kubernetes.io/job-completion-index"
PATH = re.compile(
    r"/(?:api/v1|apis/batch/v1)/namespaces/(?P<ns>[^/]+)/(?P<kind>jobs|pods|secrets)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<sub>status|binding))?\Z"
)
ALL = frozenset({"*"})


class Refused(Exception):
    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


@dataclass
class Cluster:
    """All objects of all namespaces, and the controller of Jobs."""

    namespaces: set[str] = field(default_factory=lambda: {"chaos"})
    minor: int = 34
    objects: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    events: list[tuple[int, str, str, dict[str, Any]]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=lambda: threading.Condition(threading.RLock()))
    version: int = 1
    created: list[dict[str, Any]] = field(default_factory=list)
    """Every manifest as it was sent, for tests to look at."""

    def create(self, ns: str, kind: str, made: dict[str, Any]) -> dict[str, Any]:
        with self.changed:
            if ns not in self.namespaces:
                raise Refused(404, "NotFound", f'namespaces "{ns}" not found')
            try:
                kubernetes_validate.validate(made, SCHEMA, strict=True)
            except kubernetes_validate.ValidationError as error:
                raise Refused(422, "Invalid", f"{'.'.join(map(str, error.path))}: {error.message}") from error
            name = made["metadata"]["name"]
            if (ns, kind, name) in self.objects:
                raise Refused(409, "AlreadyExists", f'{kind} "{name}" already exists')
            self.created.append(json.loads(json.dumps(made)))
            about = {
                "namespace": ns,
                "uid": str(uuid.uuid4()),
                "creationTimestamp": datetime.now(UTC).isoformat(timespec="microseconds"),
            }
            made["metadata"] |= about
            if kind == "pods":
                made["status"] = {"phase": "Pending"}
            self._put(ns, kind, made, "ADDED")
            self.control()
            return made

    def _put(self, ns: str, kind: str, found: dict[str, Any], event: str) -> None:
        self.version += 1
        found["metadata"]["resourceVersion"] = str(self.version)
        key = (ns, kind, found["metadata"]["name"])
        if event == "DELETED":
            self.objects.pop(key, None)
        else:
            self.objects[key] = found
        self.events.append((self.version, ns, kind, {"type": event, "object": json.loads(json.dumps(found))}))
        self.changed.notify_all()

    def get(self, ns: str, kind: str, name: str) -> dict[str, Any]:
        with self.changed:
            if (ns, kind, name) not in self.objects:
                raise Refused(404, "NotFound", f'{kind} "{name}" not found')
            return self.objects[ns, kind, name]

    def list(self, ns: str, kind: str, selector: str = "") -> list[dict[str, Any]]:
        with self.changed:
            found = [one for (n, k, _), one in self.objects.items() if (n, k) == (ns, kind)]
            return [one for one in found if matches(one, selector)]

    def patch(self, ns: str, kind: str, name: str, changes: dict[str, Any]) -> dict[str, Any]:
        with self.changed:
            found = self.get(ns, kind, name)
            merge(found, changes)
            self._put(ns, kind, found, "MODIFIED")
            self.control()
            return found

    def delete(self, ns: str, kind: str, name: str, grace: int | None = None) -> None:
        """A pod with a node goes once its kubelet has ended it (grace 0)."""
        with self.changed:
            found = self.get(ns, kind, name)
            if kind == "pods" and found["spec"].get("nodeName") and grace != 0:
                seconds = grace if grace is not None else found["spec"]["terminationGracePeriodSeconds"]
                if "deletionTimestamp" not in found["metadata"]:
                    found["metadata"]["deletionGracePeriodSeconds"] = seconds
                    found["metadata"]["deletionTimestamp"] = datetime.now(UTC).isoformat()
                    self._put(ns, kind, found, "MODIFIED")
                return
            self._put(ns, kind, found, "DELETED")
            uid = found["metadata"]["uid"]
            for (_, k, n), one in list(self.objects.items()):
                if any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences", ())):
                    self.delete(ns, k, n)
            self.control()

    def control(self) -> None:
        """What the controller of Jobs does, of that which a campaign uses."""
        for (ns, kind, name), job in list(self.objects.items()):
            if (
                kind == "jobs"
                and not job["spec"].get("suspend")
                and not job.get("status", {}).get("conditions")
            ):
                self._control(ns, name, job)

    def _control(self, ns: str, name: str, job: dict[str, Any]) -> None:
        spec, uid = job["spec"], job["metadata"]["uid"]
        counted = job.setdefault("status", {}).setdefault("counted", {})
        pods = {
            index(one): one
            for one in self.list(ns, "pods")
            if any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences", ()))
        }
        for number in range(spec["completions"]):
            phase = pods[number]["status"]["phase"] if number in pods else None
            made = f"{name}-{number}" in job.setdefault("made", [])
            if phase in ("Succeeded", "Failed"):
                counted[number] = phase
            elif made and phase is None:
                counted.setdefault(number, "Failed")
            elif not made:
                job["made"].append(f"{name}-{number}")
                self._pod(ns, job, number)
        failed = sorted(number for number, phase in counted.items() if phase == "Failed")
        job["status"]["failedIndexes"] = ",".join(map(str, failed))
        if len(counted) == spec["completions"] or (failed and "backoffLimitPerIndex" not in spec):
            kind = "Failed" if failed else "Complete"
            condition = {"type": kind, "status": "True", "reason": "FailedIndexes" if failed else ""}
            job["status"]["conditions"] = [condition]
            self._put(ns, "jobs", job, "MODIFIED")
            if "backoffLimitPerIndex" not in spec:
                for one in pods.values():
                    if one["status"]["phase"] in ("Pending", "Running"):
                        self.delete(ns, "pods", one["metadata"]["name"])

    def _pod(self, ns: str, job: dict[str, Any], number: int) -> None:
        name, template = job["metadata"]["name"], json.loads(json.dumps(job["spec"]["template"]))
        labels = {**template["metadata"]["labels"], "batch.kubernetes.io/job-name": name}
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job["metadata"]["uid"]}
        field_path = {"fieldRef": {"fieldPath": f"metadata.annotations['{INDEX}']"}}
        template["spec"]["containers"][0]["env"].append(
            {"name": "JOB_COMPLETION_INDEX", "valueFrom": field_path}
        )
        self.create(
            ns,
            "pods",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"{name}-{number}-{uuid.uuid4().hex[:5]}",
                    "labels": labels,
                    "annotations": {INDEX: str(number)},
                    "ownerReferences": [{**owner, "controller": True}],
                },
                "spec": template["spec"],
            },
        )


def index(pod: dict[str, Any]) -> int:
    return int(pod["metadata"]["annotations"][INDEX])


def matches(found: dict[str, Any], selector: str) -> bool:
    labels = found["metadata"].get("labels", {})
    return all(
        labels.get(part.partition("=")[0]) == part.partition("=")[2] for part in selector.split(",") if part
    )


def merge(found: dict[str, Any], changes: dict[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            merge(found[key], value)
        else:
            found[key] = value


@dataclass
class ApiServer:
    """The cluster by HTTPS. `rights` are what a token may do: `VERB RESOURCE`, or `*`."""

    pem: Path
    cluster: Cluster = field(default_factory=Cluster)
    rights: dict[str, frozenset[str]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    denied: str = ""
    """What is refused as by a quota, whoever asks."""
    failing: int = 0
    """So many more requests fail as while a server starts."""
    on_watch: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            cluster = owner.cluster

            def do_any(self) -> None:
                owner.requests.append(f"{self.command} {self.path}")
                try:
                    self.answer(200, owner.handle(self))
                except Refused as error:
                    body = {"kind": "Status", "status": "Failure", "code": error.status,
                            "reason": error.reason, "message": str(error)}  # fmt: skip
                    self.answer(error.status, body)
                except (OSError, ssl.SSLError):  # who asked is gone
                    self.close_connection = True

            do_GET = do_POST = do_PATCH = do_DELETE = do_any  # noqa: N815

            def answer(self, status: int, body: Any) -> None:
                if body is None:
                    return
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def body(self) -> Any:
                data = self.rfile.read(int(self.headers.get("content-length") or 0))
                return json.loads(data) if data else {}

            def watch(self, events: Iterator[dict[str, Any]]) -> None:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("connection", "close")
                self.end_headers()
                for event in events:
                    self.wfile.write(json.dumps(event).encode() + b"\n")
                    self.wfile.flush()
                self.close_connection = True

            def log_message(self, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.pem)
        self.http.socket = tls.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.http.server_address[1]}"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def handle(self, request: Any) -> Any:
        url = urlsplit(request.path)
        query, body = dict(parse_qsl(url.query)), request.body()
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.failing:
            self.failing -= 1
            raise Refused(503, "ServiceUnavailable", "the server is starting")
        if url.path == "/version":
            return {"major": "1", "minor": f"{self.cluster.minor}+"}
        if token not in self.rights:
            raise Refused(401, "Unauthorized", "Unauthorized")
        if url.path.endswith("/selfsubjectaccessreviews"):
            what = body["spec"]["resourceAttributes"]
            return {**body, "status": {"allowed": self.may(token, f"{what['verb']} {what['resource']}")}}
        found = PATH.match(url.path)
        if found is None:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        ns, kind, name = found["ns"], found["kind"], found["name"]
        method = request.command
        verb = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}.get(method, "get" if name else "list")
        verb = "watch" if query.get("watch") == "true" else verb
        if not self.may(token, f"{verb} {kind}"):
            message = (
                f'{kind} is forbidden: User "runner" cannot {verb} resource "{kind}" in the namespace "{ns}"'
            )
            raise Refused(403, "Forbidden", message)
        if f"{verb} {kind}" == self.denied:
            raise Refused(403, "Forbidden", f"{kind} is forbidden: exceeded quota")
        return self.act(request, verb, ns, kind, name, found["sub"], query, body)

    def act(
        self, request: Any, verb: str, ns: str, kind: str, name: str, sub: str, query: Any, body: Any
    ) -> Any:
        cluster = self.cluster
        if verb == "watch":
            self.on_watch()
            return request.watch(self.watched(ns, kind, query))
        if verb == "list":
            with cluster.changed:
                items = cluster.list(ns, kind, query.get("labelSelector", ""))
                return json.loads(json.dumps(
                    {"items": items, "metadata": {"resourceVersion": str(cluster.version)}}
                ))  # fmt: skip
        if verb == "create" and sub == "binding":
            return cluster.patch(ns, kind, name, {"spec": {"nodeName": body["target"]["name"]}})
        if verb == "create":
            return cluster.create(ns, kind, body)
        if verb == "patch":
            return cluster.patch(ns, kind, name, {"status": body["status"]} if sub == "status" else body)
        if verb == "delete":
            cluster.delete(ns, kind, name, body.get("gracePeriodSeconds"))
            return {"kind": "Status", "status": "Success"}
        return cluster.get(ns, kind, name)

    def watched(self, ns: str, kind: str, query: Any) -> Iterator[dict[str, Any]]:
        last = int(query.get("resourceVersion") or 0)
        deadline = threading.TIMEOUT_MAX if "timeoutSeconds" not in query else int(query["timeoutSeconds"])
        began = datetime.now(UTC)
        while True:
            with self.cluster.changed:
                left = deadline - (datetime.now(UTC) - began).total_seconds()
                new = [e for e in self.cluster.events if e[0] > last]
                if not new:
                    if left <= 0 or not self.cluster.changed.wait(min(left, 3600)):
                        return
                    continue
            for version, n, k, event in new:
                last = version
                if (n, k) == (ns, kind) and matches(event["object"], query.get("labelSelector", "")):
                    yield event

    def may(self, token: str, what: str) -> bool:
        return bool(self.rights[token] & {what, "*"})
