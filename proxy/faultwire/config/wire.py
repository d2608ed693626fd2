"""The sections about the wire: `proxy`, with what is redacted, and `tools`."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern below is fixed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.config.model import ProxySettings
from faultwire.errors import ConfigError, UsageError, printable
from faultwire.mitm.settings import EngineSettings
from faultwire.profile.model import ToolSite
from faultwire.profile.yaml import Node, shown
from faultwire.tape.redact.rules import read_rules

if TYPE_CHECKING:
    from faultwire.config.reading import Reading

ANY_URL = "http://localhost:8080"
_HOST = re.compile(r"[^\s/@]+")
_NAME = re.compile(r"[^\s/@:]+|(?:[0-9A-Fa-f]*:){2,}[0-9A-Fa-f:.]*")
_CERTIFIED = re.compile(r"[^\s/@:]+")
HOST_LISTS = ("allow_hosts", "mock_except")
"""Keys whose value may be one host in place of a list."""


def proxy(node: Node | None, redact: Node | None, reading: Reading) -> ProxySettings:
    """The `proxy` section; paths in it start from the file's folder. A top-level `redact`, as `exec
    --config` reads it, counts as `proxy.redact`."""
    fields = dict((reading.mapping(node, "`proxy`") or {}) if node is not None else {})
    if redact is not None and redact.value is not None:
        if "redact" in fields:
            message = "found `redact` beside `proxy.redact`, expected one of them"
            reading.add(redact.key or redact, "bad_value", message)
        fields["redact"] = redact
    place = node or redact
    if place is None or not fields:
        return ProxySettings()
    for key in HOST_LISTS:
        if key in fields and isinstance(fields[key].value, str):
            one = fields[key]
            fields[key] = Node([one], one.line, one.column, one.key)
    built = reading.build(ProxySettings, Node(fields, place.line, place.column, place.key), "proxy")
    _addresses(fields, reading)
    rules = fields.get("redact")
    if rules is not None and isinstance(rules.value, dict):
        _rules(rules, reading)
    if built is None:
        return ProxySettings()
    if built.mock_except and not built.mock:
        excepted = fields["mock_except"]
        reading.add(
            excepted.key or excepted,
            "bad_value",
            "found `proxy.mock_except` without `proxy.mock: true`, expected both",
        )
    return built.model_copy(update=_files(built, fields, reading))


def _addresses(fields: dict[str, Node], reading: Reading) -> None:
    """An invalid address is reported here, with its place, and not by the engine."""
    listen, reverse, hosts = (fields.get(key) for key in ("listen", "reverse", "allow_hosts"))
    if listen is not None and isinstance(listen.value, str) and not _understood(listen=listen.value):
        found = f"found {shown(listen.value)} for `proxy.listen`, expected `HOST:PORT`"
        reading.add(listen, "bad_value", found, "try `127.0.0.1:0`")
    for name, url in reverse.value.items() if reverse and isinstance(reverse.value, dict) else ():
        if not _understood(reverse={name: ANY_URL}):
            found = f"found {shown(name)} for a route, expected lower-case letters, digits, `.`, `_` or `-`"
            reading.add(url.key or url, "bad_value", found)
        if isinstance(url.value, str) and not _understood(reverse={"route": url.value}):
            found = f"found {shown(url.value)} for `proxy.reverse.{printable(name)}`, expected a base URL"
            reading.add(url, "bad_value", found, f"as in `{ANY_URL}`")
    for host in hosts.value if hosts and isinstance(hosts.value, list) else ():
        if isinstance(host.value, str) and not _HOST.fullmatch(host.value):
            found = f"found {shown(host.value)} in `proxy.allow_hosts`, expected a host, or `HOST:PORT`"
            reading.add(host, "bad_value", found, "as in `localhost:11434` or `*.internal`")
    excepted = fields.get("mock_except")
    for host in excepted.value if excepted and isinstance(excepted.value, list) else ():
        if isinstance(host.value, str) and not _NAME.fullmatch(host.value):
            found = f"found {shown(host.value)} in `proxy.mock_except`, expected a host name"
            reading.add(host, "bad_value", found, "as in `api.example.com` or `*.example.com`")


def _understood(**settings: Any) -> bool:
    """Would an engine take these settings?"""
    try:
        return bool(EngineSettings(run_dir=Path(), ca_dir=Path(), **settings).address)
    except (UsageError, ValueError):
        return False


def _files(built: ProxySettings, fields: dict[str, Node], reading: Reading) -> dict[str, Any]:
    given = {"script": built.script, "upstream_ca": built.upstream_ca}
    found = {key: reading.folder / path for key, path in given.items() if path is not None}
    for key, path in found.items():
        if not is_file(path):
            message = f"found no file {shown(str(given[key]))} for `proxy.{key}`, expected one"
            reading.add(fields[key], "not_found", message, "the path starts from this file's folder")
    return {**found, "client_certs": _certificates(built, fields, reading)}


def _certificates(built: ProxySettings, fields: dict[str, Node], reading: Reading) -> dict[str, Path]:
    """What the engine will read, each with its host; whether it can be used is for the engine to say."""
    found = {host: reading.folder / path for host, path in built.client_certs.items()}
    given = fields["client_certs"].value if found else None
    for host, node in given.items() if isinstance(given, dict) else ():
        if not _CERTIFIED.fullmatch(host):
            message = f"found {shown(host)} in `proxy.client_certs`, expected a host name"
            reading.add(node.key or node, "bad_value", message, "as in `api.example.com` or `*.example.com`")
        elif not is_file(found[host]):
            what = f"`proxy.client_certs.{printable(host)}`"
            message = f"found no file {shown(str(built.client_certs[host]))} for {what}, expected one"
            reading.add(node, "not_found", message, "the path starts from this file's folder")
    return found


def _rules(node: Node, reading: Reading) -> None:
    try:
        read_rules(node.plain())
    except ConfigError as error:
        reading.within(node, "`redact`", error)


def is_file(path: Path) -> bool:
    """Is there a file? False too for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def tools(node: Node | None, reading: Reading) -> dict[str, ToolSite]:
    """Tools by name; one without a `url` is known by its name alone."""
    found: dict[str, ToolSite] = {}
    for name, site in ((reading.mapping(node, "`tools`") if node else None) or {}).items():
        built = reading.build(ToolSite, site, f"tools.{printable(name)}")
        if built is not None:
            found[name] = built
    return found
