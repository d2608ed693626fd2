"""A team's service as the place where runs are kept: the same two calls as on a database."""

from __future__ import annotations

import json
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx

from faultwire.errors import FaultwireError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from faultwire.store.results import StoredRun

TIMEOUT_S = 120.0
LOCAL = ("127.0.0.1", "localhost", "::1")
LONGEST = 4096


class ServiceClient:
    """One project of one service."""

    def __init__(self, url: str, project: str, token: str) -> None:
        self._place, self.project = url.rstrip("/"), project
        self.notes: list[str] = []
        """What the service found, of the runs that were added."""
        self._client = httpx.Client(
            headers={"authorization": f"Bearer {token}"}, timeout=TIMEOUT_S, trust_env=False,
            verify=ssl.create_default_context(), follow_redirects=False,
        )  # fmt: skip

    @classmethod
    def open(cls, url: str, project: str, token: Path | None) -> ServiceClient:
        """Raises UsageError where the token is missing or others can read it, or would on the way, and
        FaultwireError where the service does not let it in."""
        try:
            parts = urlsplit(url)
            known = parts.hostname and parts.port != 0
        except ValueError:
            known = False
        if not known:
            raise UsageError(
                "found no address for --store", code="usage.store", hint="for example https://team.example"
            )
        if parts.scheme == "http" and parts.hostname not in LOCAL:
            raise UsageError(
                "found an http:// address for --store, expected https://",
                code="usage.store",
                hint="the token would be readable on the way",
            )
        if token is None:
            raise UsageError(
                "found a service for --store and no `--store-token`, expected the file with its token",
                code="usage.store",
                hint="an admin makes one: `faultwire token add --store … --role runner NAME`",
            )
        made = cls(url, project, _read(token))
        me = made._asked("GET", "/api/me")
        if me.get("roles", {}).get(project) not in ("runner", "admin"):
            made.close()
            raise UsageError(
                f"the token may not push runs of `{printable(project)[:100]}`",
                code="usage.store",
                hint="`--project` names another one, or the token has the role `viewer`",
            )
        return made

    def add(self, run: StoredRun) -> bool:
        """Push a run; False where the same is there already. What the service found stands in `notes`."""
        reports = {name: json.loads(report) for name, report in run.reports.items()}
        body = {"about": dict(run.about), "reports": reports, "tapes": dict(run.tapes)}
        taken = self._asked("POST", f"/api/projects/{quote(self.project, safe='')}/runs", json=body)
        if taken.get("drops"):
            self.notes += [
                f"significantly worse than the baseline: {printable(str(one))[:400]}"
                for one in taken["drops"]
            ]
        if taken.get("promoted"):
            self.notes += [f"it is the baseline now: {printable(str(taken['promoted']))[:400]}"]
        self.notes += [printable(str(one))[:400] for one in taken.get("problems", ())]
        return bool(taken.get("added"))

    def add_blame(self, run: str, document: Mapping[str, Any]) -> bool:
        """Push what `faultwire blame` found of a run; False where the same is there."""
        project, name = quote(self.project, safe=""), quote(run, safe="")
        path = f"/api/projects/{project}/runs/{name}/blame"
        return bool(self._asked("POST", path, json=dict(document)).get("added"))

    def close(self) -> None:
        """Let its connections go."""
        self._client.close()

    def _asked(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, self._place + path, **more)
            found = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise FaultwireError(
                f"the service `{printable(self._place)[:200]}` does not answer: {type(error).__name__}",
                code="store.failed",
                hint="nothing of the run was stored; `faultwire push RUN --store …` stores it later",
            ) from error
        if not answer.is_success:
            why = found.get("error", {}) if isinstance(found, dict) else {}
            raise UsageError(
                f"the service refuses: {printable(str(why.get('message', answer.status_code)))[:300]}",
                code="store.refused",
                hint=printable(str(why.get("hint", "")))[:300] or None,
            )
        return dict(found)


def _read(path: Path) -> str:
    try:
        mode, found = path.stat().st_mode & 0o777, path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `--store-token {path}`: {error}", code="usage.token") from error
    if mode & 0o077:
        raise UsageError(
            f"`{path}` has mode {mode:03o}, expected 600", code="usage.token", hint=f"chmod 600 {path}"
        )
    if not found or len(found) > LONGEST or not found.isascii() or not found.isprintable():
        raise UsageError(f"`{path}` holds no token", code="usage.token")
    return found
