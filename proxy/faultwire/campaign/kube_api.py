"""The few calls of Kubernetes' API that a campaign needs, by HTTP.

Clients that are kept by others were measured. The official one takes 126 MB, 188 MB with what it needs;
the two small ones, lightkube 1.0 and kr8s 0.20, need an h11 that mitmproxy 11 does not take. httpx is here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

from faultwire import clock
from faultwire.errors import FaultwireError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from faultwire.campaign.kube_config import Access
    from faultwire.campaign.kube_login import Login

REACH_S = 10.0
"""Seconds in which an API server must answer at first."""
GONE_S = 120.0
"""Seconds that a server which was reached may be away."""
PAUSE_S = 1.0
AGAIN = (429, 500, 502, 503, 504)
"""What a server answers that may do it if it is asked again."""
PATHS = {"jobs": "apis/batch/v1", "pods": "api/v1", "secrets": "api/v1"}
GROUPS = {"jobs": "batch"}


class ApiRefusal(FaultwireError):
    """An API server that refuses a request, with the status of HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, code="campaign.kube")
        self.status = status


class _Bearer(httpx.Auth):
    def __init__(self, login: Login) -> None:
        self._login = login

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Once more with a fresh token where one was refused: they run out."""
        token = self._login.token()
        if token is None:
            yield request
            return
        request.headers["authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401:
            request.headers["authorization"] = f"Bearer {self._login.token(fresh=True)}"
            yield request


class KubeApi:
    """A namespace. A server that is away is asked again for a while; every call raises ApiRefusal for what it
    refuses, and FaultwireError where it stays away."""

    def __init__(self, access: Access, namespace: str, gone_s: float = GONE_S) -> None:
        self.server, self.namespace = access.server, namespace
        self.gone_s = gone_s
        self._http = httpx.Client(
            base_url=access.server,
            verify=access.tls,
            auth=_Bearer(access.login),
            proxy=access.proxy,
            timeout=httpx.Timeout(30.0, connect=REACH_S),
            headers={"accept": "application/json"},
            follow_redirects=False,
        )

    def version(self) -> tuple[int, int]:
        """The server's version, such as 1, 34. Raises UsageError where it cannot be reached."""
        try:
            found = self._json(self._http.get("/version"))
            return int(found["major"]), int("".join(c for c in str(found["minor"]) if c.isdigit()))
        except (httpx.HTTPError, KeyError, ValueError, FaultwireError) as error:
            raise UsageError(
                f"found no API server of Kubernetes at `{printable(self.server)}`: {_why(error)}",
                code="usage.on",
                hint="`kubectl get jobs` with the same kubeconfig shows whether it is reached",
            ) from error

    def may(self, verb: str, resource: str) -> bool:
        """May who asks do this in the namespace?"""
        group = GROUPS.get(resource, "")
        what = {"namespace": self.namespace, "verb": verb, "group": group, "resource": resource}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": what},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        return bool(self._call("POST", path, body=review).get("status", {}).get("allowed"))

    def create(self, resource: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Make one; where an earlier attempt of ours has made it, that one (a Secret is not read again)."""
        try:
            strict = {"fieldValidation": "Strict"}  # what a server does not know is refused, not left out
            return self._call("POST", self._path(resource), body=manifest, params=strict)
        except ApiRefusal as error:
            if error.status != 409:
                raise
            if resource == "secrets":
                return {}
            return self._call("GET", self._path(resource, manifest["metadata"]["name"]))

    def patch(self, resource: str, name: str, changes: Mapping[str, Any]) -> None:
        """Merge changes into one."""
        kind = {"content-type": "application/merge-patch+json"}
        self._call("PATCH", self._path(resource, name), body=changes, headers=kind)

    def list(self, resource: str, selector: str) -> tuple[list[dict[str, Any]], str]:
        """Those with a label, and the version of the list, behind which `changed` looks."""
        found = self._call("GET", self._path(resource), params={"labelSelector": selector})
        return list(found.get("items") or ()), str(found.get("metadata", {}).get("resourceVersion", ""))

    def changed(self, resource: str, selector: str, version: str, seconds: float) -> None:
        """Wait for a change behind a version of a list, but no longer than this. A watch that breaks off or
        is refused ends the wait as well: a new list shows what is so."""
        params = {
            "labelSelector": selector,
            "watch": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        began = clock.monotonic()
        try:
            timeout = httpx.Timeout(max(0.1, seconds), connect=REACH_S)
            with self._http.stream("GET", self._path(resource), params=params, timeout=timeout) as answer:
                if answer.status_code == 200:
                    for line in answer.iter_lines():
                        if line.strip():
                            return
        except httpx.HTTPError:
            pass
        if clock.monotonic() - began < PAUSE_S:  # it ends each watch at once
            clock.pause(min(PAUSE_S, seconds))

    def delete(self, resource: str, name: str, grace_s: int | None = None) -> None:
        """Remove one, and what belongs to it. One that is gone is no error."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        try:
            self._call("DELETE", self._path(resource, name), body=options)
        except ApiRefusal as error:
            if error.status != 404:
                raise

    def close(self) -> None:
        """Let go of the server."""
        self._http.close()

    def _path(self, resource: str, name: str = "") -> str:
        path = f"/{PATHS[resource]}/namespaces/{self.namespace}/{resource}"
        return f"{path}/{name}" if name else path

    def _call(self, method: str, path: str, *, body: Any = None, **options: Any) -> dict[str, Any]:
        deadline = clock.monotonic() + self.gone_s
        while True:
            try:
                answer = self._http.request(method, path, json=body, **options)
                if answer.status_code not in AGAIN:
                    return self._json(answer)
                why = words(answer)
            except httpx.HTTPError as error:
                why = _why(error)
            if clock.monotonic() + PAUSE_S > deadline:
                raise FaultwireError(
                    f"the API server at `{printable(self.server)}` is gone: {why}",
                    code="campaign.engine",
                    hint="the same command goes on once it is there again",
                )
            clock.pause(PAUSE_S)

    def _json(self, answer: httpx.Response) -> dict[str, Any]:
        if not answer.is_success:
            raise ApiRefusal(words(answer), answer.status_code)
        found = answer.json()
        if not isinstance(found, dict):
            raise ApiRefusal("it answers with no object", answer.status_code)
        return found


def words(answer: httpx.Response) -> str:
    """Why a server refuses, by its own words."""
    try:
        message = str(json.loads(answer.content)["message"])
    except (ValueError, KeyError, TypeError):
        message = "no reason given"
    return f"{printable(message)[:400]} (HTTP {answer.status_code})"


def _why(error: Exception) -> str:
    return printable(str(error).strip() or type(error).__name__)[:300]
