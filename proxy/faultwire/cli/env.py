"""`faultwire env`: the exports that send a shell's programs to a running proxy."""

from __future__ import annotations

import json
import os
import shlex
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from faultwire.cli.output import format_option

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINT = "endpoint"
"""The key in a proxy's `run.json` under which it says how to reach it."""


def as_session(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """A session's name. Called by click. Raises BadParameter."""
    from faultwire.mitm.sessions.client_sessions import NAME

    if value is not None and not NAME.match(value):
        raise click.BadParameter(f"found `{value}`, expected up to 63 letters, digits, `.`, `_` or `-`")
    return value


@click.command("env", short_help="Print the exports that send a shell's programs to a running proxy.")
@click.option("--run", "run", metavar="ID", help="The proxy's run; by default the newest that is running.")
@click.option(
    "--session", callback=as_session, metavar="NAME", help="Name the session that their calls belong to."
)
@format_option
def env(run: str | None, session: str | None, format_: str) -> None:
    """Print the exports that send a shell's programs to a running `faultwire proxy`.

    \b
    eval "$(faultwire env)"
    """
    from faultwire.cli.output import show, show_json

    endpoint = _running(run)
    changed = here(endpoint if session is None else named(endpoint, session))
    if format_ == "json":
        show_json(changed)
    else:
        show(exports(changed), whole=True)


def here(endpoint: Mapping[str, Any]) -> dict[str, str | None]:
    """What this shell's environment lacks to reach a proxy; None for what must go."""
    from faultwire.capture.base_url import Plan
    from faultwire.capture.bundle import TrustFiles
    from faultwire.capture.env import changes, child_environment
    from faultwire.capture.keys import keyless

    trust = TrustFiles(Path(endpoint["bundle"]), Path(endpoint["ca_cert"]), Path(endpoint["truststore"]))
    url = endpoint["proxy_url"]
    variables = {name: (route, suffix) for name, (route, suffix) in endpoint.get("variables", {}).items()}
    child: Mapping[str, str] = keyless(os.environ) if endpoint.get("keyless") else os.environ
    child = Plan(variables=variables).environment(child, endpoint.get("base_url", url))
    if not endpoint.get("base_urls"):
        child = child_environment(child, proxy_url=url, trust=trust, java_port=_java_port(url))
    return changes(os.environ, child)


def named(endpoint: Mapping[str, Any], session: str) -> dict[str, Any]:
    """An endpoint for a session of this name. Raises UsageError where the proxy knows none."""
    from faultwire.errors import UsageError

    url = endpoint.get("session_url")
    if url is None:
        raise UsageError("found a proxy whose clients cannot name sessions", code="proxy.session")
    user, at, place = url.removeprefix("http://").rpartition("@")
    name, _, token = user.partition(":")
    return {
        **endpoint,
        "proxy_url": f"http://{name}.{session}:{token}{at}{place}",
        "base_url": f"{endpoint['base_url']}.{session}",
    }


def _java_port(url: str) -> int | None:
    """Java sends no proxy user by itself: a proxy that needs one is none for it."""
    parts = urlsplit(url)
    return None if parts.username else parts.port


def exports(changed: Mapping[str, str | None]) -> str:
    """The changes as lines for a POSIX shell."""
    lines = [f"unset {name}" for name, value in sorted(changed.items()) if value is None]
    lines += [
        f"export {name}={shlex.quote(value)}" for name, value in sorted(changed.items()) if value is not None
    ]
    return "\n".join(lines)


def _running(run_id: str | None) -> dict[str, Any]:
    from faultwire.errors import UsageError
    from faultwire.runner.folder import STATE

    runs = STATE / "runs"
    folders = [runs / run_id] if run_id else sorted(runs.glob("*"), reverse=True)
    for folder in folders:
        about = _about(folder)
        endpoint = about.get(ENDPOINT)
        if (
            about.get("status") == "running"
            and isinstance(endpoint, dict)
            and _answers(endpoint["proxy_url"])
        ):
            return endpoint
    what = f"proxy in the run `{run_id}`" if run_id else f"running proxy below `{runs}`"
    raise UsageError(f"found no {what}", code="proxy.not_running", hint="start one with `faultwire proxy`")


def _about(folder: Path) -> dict[str, Any]:
    try:
        about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # not a run's folder, or one whose start was cut short
    return about if isinstance(about, dict) else {}


def _answers(url: str) -> bool:
    """Does something listen there? A proxy that was killed leaves `running` behind."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=2).close()
    except OSError:
        return False
    return True
