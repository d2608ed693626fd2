"""The options under which a printed command meets the answers that a search met."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.cli.options import Traffic


def words(traffic: Traffic) -> tuple[str, ...]:
    """Options of `exec`: who answers, how traffic comes, and the profiles."""
    found: list[str] = []
    if traffic.script is not None:
        found += ["--script", str(traffic.script)]
    elif traffic.mock:
        found.append("--mock")
    for host in traffic.mock_except:
        found += ["--mock-except", host]
    if traffic.capture != "env":
        found += ["--capture", traffic.capture]
    for name, url in traffic.reverse:
        found += ["--reverse", f"{name}={_without_password(url)}"]
    for host in traffic.allow_host:
        found += ["--allow-host", host]
    if traffic.upstream_ca is not None:
        found += ["--upstream-ca", str(traffic.upstream_ca)]
    for host, file in traffic.client_cert:
        found += ["--client-cert", f"{host}={file}"]
    for name in traffic.profile:
        found += ["--profile", name]
    return tuple(found)


def _without_password(url: str) -> str:
    """A printed command holds no secret."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else url


def taken(traffic: Traffic, given: Sequence[str]) -> Traffic:
    """These options where none of their kind are given anew."""
    script = traffic.script
    if script is None and not traffic.mock and (scripts := _values(given, "--script")):
        script = Path(scripts[0])
    authorities = _values(given, "--upstream-ca")
    captures = _values(given, "--capture")
    return replace(
        traffic,
        script=script,
        mock=traffic.mock or ("--mock" in given and script is None),
        mock_except=traffic.mock_except or tuple(_values(given, "--mock-except")),
        capture=captures[0] if captures and traffic.capture == "env" else traffic.capture,
        reverse=traffic.reverse or tuple(_pair(one) for one in _values(given, "--reverse")),
        allow_host=traffic.allow_host or tuple(_values(given, "--allow-host")),
        upstream_ca=traffic.upstream_ca or (Path(authorities[0]) if authorities else None),
        client_cert=traffic.client_cert
        or tuple((host, Path(file)) for host, file in map(_pair, _values(given, "--client-cert"))),
        profile=traffic.profile or tuple(_values(given, "--profile")),
    )


def _values(given: Sequence[str], option: str) -> list[str]:
    return [value for word, value in pairwise(given) if word == option]


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value
