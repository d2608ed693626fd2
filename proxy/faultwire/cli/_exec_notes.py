"""Notes of `exec` about what its faults and its recording did not reach, and about how the command ended.

Pure: values in, sentences out.
"""

from __future__ import annotations

import ipaddress
import os
import shlex
from typing import TYPE_CHECKING

from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from faultwire.cli._observed import Ended
    from faultwire.events import Bypass, History, Recorded
    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import Profile

NAMED = 4
"""Hosts and addresses that one note names."""
LONGEST = 300
"""Characters of a command that a report repeats."""
HIDDEN = "…"
_BORDERS = str.maketrans(dict.fromkeys(":/=|,;", " "))
"""What stands around a port in a URL or in an option."""
_SECRET = ("key", "token", "secret", "passw", "credential", "auth", "cookie", "bearer")
"""In the name of an option or a variable whose value is not shown."""


def about_run(
    history: History,
    profile: Profile,
    seen: Iterable[Bypass],
    environment: Mapping[str, str],
    ended: Ended,
) -> tuple[str, ...]:
    """All of them. `seen` are the peers of the command's sockets, and `environment` is what it was given."""
    from faultwire.capture.child import shell_code
    from faultwire.capture.env import changes
    from faultwire.report.after_failure import exit_after

    ours = our_ports(changes(os.environ, dict(environment)))
    return (
        *past_on_this_machine(seen, history.bypassed, ours),
        *undeclared_tools(history, profile),
        *how_it_ended(history, ended.code, ended.stops),
        *([] if ended.interrupted or history.voids else exit_after(history, shell_code(ended.code))),
    )


def how_it_ended(history: History, code: int, stops: Collection[int], *, silent: bool = False) -> list[str]:
    """Which signal ended a command (negative `code`), or asked it to end (`stops`), and the exchange that had
    begun last. `silent`: the proxy has seen nothing of it at all."""
    from faultwire.capture.child import shell_code
    from faultwire.report.cause import last

    newest = last(history)
    where = f" after #{newest.number} had begun" if newest is not None else ""
    if stops and newest is None:
        where = " before anything was sent through the proxy" if silent else " before its first exchange"
    if stops:
        names = " and ".join(signal_name(number) for number in sorted(stops))
        return [f"interrupted by {names}{where}; the command exited with {shell_code(code)}"]
    if code < 0:
        by = f"signal {-code} ({signal_name(-code)})"
        return [f"{by} ended the command{where}: exit code {shell_code(code)}"]
    return []


def before_any(history: History, code: int, stops: Collection[int], *, silent: bool) -> tuple[str, ...]:
    """That the user ended a command that has no exchange yet."""
    if history.exchanges or not stops:
        return ()
    return tuple(how_it_ended(history, code, stops, silent=silent))


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; some real-time signals have no names."""
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return "without a name"


def left_behind(count: int) -> tuple[str, ...]:
    """That processes of the command outlived it, where so many did."""
    if not count:
        return ()
    what = "1 process" if count == 1 else f"{count} processes"
    return (f"{what} that the command left behind ended with the run",)


def undeclared_tools(history: History, profile: Profile) -> list[str]:
    """Which hosts may be tools, where faults of tools were asked for, none fired, and no tool was seen."""
    faults = [entry for entry in profile.entries if _is_about_tools(entry)]
    ids = {entry.id for entry in faults}
    fired = any(
        fault.id in ids and fault.outcome == "fired"
        for exchange in history.exchanges
        for fault in exchange.faults
    )
    if not faults or fired:
        return []
    hosts = list(dict.fromkeys(_origin(one) for one in history.exchanges if _may_be_a_tool(one)))
    if not hosts:
        return []
    names = ", ".join(f"`{one}`" for one in sorted(ids)[:NAMED])
    places = ", ".join(f"`{host}`" for host in hosts[:NAMED])
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    entry = f'tools: {{my_tool: {{url: "{hosts[0]}/*"}}}}'
    return [
        f"of the faults of tools ({names}) none fired; if {places}{more} is a tool, say so in a profile: "
        f"`{entry}`"
    ]


def past_on_this_machine(seen: Iterable[Bypass], known: Iterable[Bypass], ours: Collection[int]) -> list[str]:
    """Which servers of this machine the command talked to directly, apart from `known` ones, which another
    note names, and from ports that are `ours`."""
    named = {(one.address, one.port) for one in known}
    places = {
        f"[{one.address}]:{one.port}" if ":" in one.address else f"{one.address}:{one.port}"
        for one in seen
        if one.transport == "tcp"
        and ipaddress.ip_address(one.address).is_loopback
        and one.port not in ours
        and (one.address, one.port) not in named
    }
    if not places:
        return []
    shown = sorted(places)
    more = f" and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
    return [
        f"connected directly to {', '.join(shown[:NAMED])}{more} on this machine, which was not recorded and "
        "met no fault: some clients never use a proxy for this machine. For a model or a tool there, "
        f"`--reverse NAME=http://{shown[0]}` makes a URL that is captured, in `FAULTWIRE_URL_NAME`"
    ]


def our_ports(changed: Mapping[str, str | None]) -> set[int]:
    """The ports of the proxy that stand in the variables that a command is given."""
    found = set[int]()
    for value in changed.values():
        for part in (value or "").translate(_BORDERS).split():
            if part.isascii() and part.isdecimal() and len(part) <= 5:
                found.add(int(part))
    return found


def shown_command(command: Sequence[str]) -> str:
    """A command as one types it, on one line, without the values of options and variables that name a secret.

    What else may be secret in it is for the redactor of the report.
    """
    words, hide = list[str](), False
    for word in command:
        name, mark, value = word.partition("=")
        secret = _names_a_secret(name)
        if hide and not word.startswith("-"):
            words.append(HIDDEN)
        elif secret and mark and value:
            words.append(f"{safe(name)}={HIDDEN}")
        else:
            words.append(shlex.quote(safe(word)))
        hide = secret and word.startswith("-") and not mark
    text = " ".join(words)
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} {HIDDEN}"


def _names_a_secret(name: str) -> bool:
    low = name.lower()
    plain = low.replace("-", "").replace("_", "").isalnum()
    return plain and len(name) < 64 and any(part in low for part in _SECRET)


def _is_about_tools(entry: Entry) -> bool:
    return entry.fault.name.startswith("tool_") or entry.on.tool is not None or entry.on.kinds == ("tool",)


def _may_be_a_tool(exchange: Recorded) -> bool:
    from faultwire.wire.recognition.telemetry import is_telemetry

    return exchange.kind == "other" and exchange.provider is None and not is_telemetry(exchange.request)


def _origin(exchange: Recorded) -> str:
    request = exchange.request
    usual = {"http": 80, "https": 443}.get(request.scheme)
    return f"{request.scheme}://{request.host}" + ("" if request.port == usual else f":{request.port}")
