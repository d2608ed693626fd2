"""What proves to an API server who asks: a token, a file that has one, or a program that gives one."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from faultwire.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
LONGEST_S = 60.0


class Login(Protocol):
    """A source of bearer tokens."""

    def token(self, *, fresh: bool = False) -> str | None:
        """The token; `fresh` after the last one was refused. None: another proof, or none."""


class NoLogin:
    """A client certificate, or nothing, proves who asks."""

    def token(self, *, fresh: bool = False) -> str | None:
        """None."""
        return None


@dataclass(frozen=True)
class TokenLogin:
    """A token that stands in the kubeconfig."""

    _token: str = field(repr=False)

    def token(self, *, fresh: bool = False) -> str | None:
        """The token."""
        return self._token


@dataclass(frozen=True)
class FileLogin:
    """A file with a token, which others replace while we run."""

    path: Path

    def token(self, *, fresh: bool = False) -> str | None:
        """What is in the file now. Raises UsageError."""
        try:
            return self.path.read_text().strip()
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read the token in `{self.path}`: {error}", code="usage.on") from error


class ExecLogin:
    """A program that the kubeconfig names; it is asked again when its token was refused."""

    def __init__(self, settings: Mapping[str, Any], home: Path, cluster: Mapping[str, Any]) -> None:
        """Raises UsageError where the program cannot be asked without a person."""
        self._settings, self._home, self._cluster = settings, home, cluster
        version = settings.get("apiVersion")
        if version not in VERSIONS or settings.get("interactiveMode") == "Always":
            found = f"`apiVersion: {version}`" if version not in VERSIONS else "`interactiveMode: Always`"
            raise UsageError(
                f"found {printable(str(found))} of `exec` in `{home}`, expected a program that "
                f"answers by itself in {' or '.join(VERSIONS)}",
                code="usage.on",
            )
        self._status: dict[str, Any] = self._asked()

    def token(self, *, fresh: bool = False) -> str | None:
        """The program's token. Raises UsageError where it gives none."""
        if fresh:
            self._status = self._asked()
        return self._status.get("token")

    def certificate(self) -> tuple[str, str] | None:
        """A client certificate and its key, where the program gives these."""
        data, key = (self._status.get(f"client{name}Data") for name in ("Certificate", "Key"))
        return (str(data), str(key)) if data and key else None

    def _asked(self) -> dict[str, Any]:
        command = str(self._settings.get("command"))
        if os.sep in command:
            command = str(self._home.parent / command)
        spec: dict[str, Any] = {"interactive": False}
        if self._settings.get("provideClusterInfo"):
            spec["cluster"] = {name: value for name, value in self._cluster.items() if value}
        about = {"apiVersion": self._settings["apiVersion"], "kind": "ExecCredential", "spec": spec}
        given = {str(one["name"]): str(one["value"]) for one in self._settings.get("env") or ()}
        try:
            done = subprocess.run(
                [command, *map(str, self._settings.get("args") or ())],
                env={**os.environ, **given, "KUBERNETES_EXEC_INFO": json.dumps(about)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST_S,
                check=False,
            )
            status = json.loads(done.stdout)["status"] if not done.returncode else None
            if not isinstance(status, dict):
                raise ValueError(f"it ended with code {done.returncode}")
        except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
            # Neither its output nor its complaints are repeated: a token may stand in them.
            why = f"{type(error).__name__}: {error}" if isinstance(error, OSError) else type(error).__name__
            raise UsageError(
                f"found no token by `{printable(command)}`, which `{self._home}` names: {why}",
                code="usage.on",
                hint="`kubectl get jobs` shows what it complains about",
            ) from error
        return status
