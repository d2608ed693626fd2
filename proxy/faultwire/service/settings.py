"""The service's settings: a YAML file with projects (rule for baselines, alerts) and an OpenID provider."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from faultwire.errors import UsageError, printable

LARGEST = 1 << 20
"""Bytes of the file."""
LOCAL = ("127.0.0.1", "localhost", "::1")


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOCAL):
        raise ValueError("expected an https:// address (http:// only on this machine)")
    if not parts.hostname:
        raise ValueError("expected an address with a host")
    return text


Address = Annotated[str, AfterValidator(_address)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Strict):
    """Which pushed run becomes what later ones are compared with: all that is named must hold. Whatever else
    holds, one that regressed significantly does not."""

    command: str | None = None
    gate: Literal["pass"] = "pass"
    score: float | None = Field(default=None, ge=0, le=1)


class Alert(_Strict):
    """Where a significant drop is reported. `email` is a message (RFC 5322) as the body, for a gateway."""

    url: Address
    format: Literal["generic", "slack", "email"] = "generic"


class Project(_Strict):
    """What one project has of its own."""

    baseline: Rule | None = None
    alerts: tuple[Alert, ...] = ()


class Claim(_Strict):
    """Whose ID token has this value in this claim has this role in this project."""

    claim: str
    value: str
    project: str
    role: Literal["viewer", "runner", "admin"]


class Provider(_Strict):
    """An OpenID provider: `client_secret_file` holds what it gave this client, where it gave one."""

    issuer: Address
    client_id: str
    client_secret_file: Path | None = None
    name_claim: str = "email"
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    roles: tuple[Claim, ...]


class Settings(_Strict):
    """All of it."""

    projects: dict[str, Project] = Field(default_factory=dict)
    oidc: Provider | None = None


def load(path: Path | None) -> Settings:
    """The settings of a file; those of none. Raises UsageError that names what is wrong where."""
    if path is None:
        return Settings()
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes")
        found: Any = yaml.safe_load(data)
        return Settings.model_validate({} if found is None else found)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(
            f"cannot use `{path}`: {_what(error)}",
            code="usage.service",
            hint="docs/howto/team.md has an example",
        ) from error


def _what(error: Exception) -> str:
    if isinstance(error, ValidationError):
        # Never the value: a webhook's address is a secret.
        wrong = [
            f"`{'.'.join(map(str, one['loc']))}`: {one['msg']}" for one in error.errors(include_input=False)
        ]
        return printable("; ".join(wrong[:5]))
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return printable(f"line {error.problem_mark.line + 1}: {error.problem}")[:300]
    return printable(str(error).splitlines()[0] if str(error) else type(error).__name__)[:300]
