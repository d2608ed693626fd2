"""`exec --capture netns`: its options, and what is said of it at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.runner.namespaced import NamespaceOptions
    from faultwire.runner.started_run import Run

F = TypeVar("F", bound="Callable[..., Any]")
RELAYED = ("netns", "tun", "wireguard")
"""Ways of capture in which connections may be passed on."""
SEALED = "past the proxy: nothing; the command's network namespace has no way out"
"""Said where it is so by construction. Programs outside that are asked over Unix sockets are not in it."""

OWN_SERVER = "a server of the command's own cannot listen on the captured ports"
"""Why a bind failed is told to the program alone: nothing outside of it learns of the attempt."""


def namespace_options(command: F) -> F:
    """`--capture-port` and `--relay`."""
    port = click.option(
        "--capture-port",
        multiple=True,
        type=click.IntRange(1, 65535),
        metavar="PORT",
        help="With --capture netns: also capture HTTP and TLS to this port; repeatable.",
    )
    return port(relay_option("With --capture netns, tun or wireguard")(command))


def relay_option(where: str) -> Callable[[F], F]:
    """`--relay`, for the traffic that is captured `where` it says."""
    return click.option(
        "--relay",
        multiple=True,
        callback=_as_rules,
        metavar="HOST:PORT",
        help=f"{where}: pass connections to this host on unread and unrecorded; repeatable.",
    )


def _as_rules(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        host, _, port = value.rpartition(":")
        if not host or set(host) & set("/@ ") or not port.isdecimal() or not 0 < int(port) < 65536:
            raise click.BadParameter(f"found `{value}`, expected `HOST:PORT` such as `db.example.com:5432`")
    return tuple(value.lower() for value in values)


def wanted(
    traffic: Traffic,
    profile: Profile,
    session: str,
    command: tuple[str, ...],
    ports: tuple[int, ...],
    relays: tuple[str, ...],
) -> NamespaceOptions | None:
    """The namespace that the options ask for. Raises UsageError for those that need one and have none."""
    from faultwire.errors import UsageError
    from faultwire.runner.namespaced import DNS, NamespaceOptions

    if traffic.capture != "netns":
        if ports:
            raise UsageError(
                "found `--capture-port` without `--capture netns`, expected both", code="usage.capture"
            )
        if relays and traffic.capture not in RELAYED:
            raise UsageError(
                "found `--relay` without `--capture netns`, expected both (or `tun`, or `wireguard`)",
                code="usage.capture",
            )
        return None
    if DNS in ports or any(rule.endswith(f":{DNS}") for rule in relays):
        raise UsageError(
            "found port 53 among those to capture, expected another: names are answered there",
            code="usage.capture",
        )
    sites = [*(one.url for one in profile.tools.values()), *(one.url for one in profile.agents.values())]
    urls = [url for each in sites for url in ((each,) if isinstance(each, str) else each or ())]
    return NamespaceOptions(session, command, ports, relays, (*urls, *(url for _, url in traffic.reverse)))


def proof(run: Run, code: int) -> Iterator[str]:
    """Whether anything can have gone past the proxy, and which files could not be replaced; for a command
    that failed (`code`) also what may be why: no server of its own can listen where we do."""
    if run.space is None:
        return
    why = run.space.sealed()
    yield SEALED if why is None else f"past the proxy: unknown, because {why}"
    for failed in run.unfurnished:
        yield f"not replaced in the command's namespace: {failed}"
    if code > 0:
        listed = ", ".join(map(str, run.space.ports))
        yield (f"{OWN_SERVER} ({listed}): if the command failed because of that, give its server another one")
