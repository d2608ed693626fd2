"""Which faults there are: the built-in ones, and those of installed packages.

A package adds faults with the entry-point group `faultwire.faults`; each entry's name is the fault's
name and its value a `Fault` class. One that fails to load, or takes a name that is taken, is an error:
a profile must never mean less than it says.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from faultwire.errors import FaultError, UsageError, did_you_mean
from faultwire.faults._api import SITES, Fault
from faultwire.faults._describe import SECTIONS, sections
from faultwire.faults.connection.latency import Latency
from faultwire.faults.connection.reset import Reset
from faultwire.faults.model.truncate_response import TruncateResponse
from faultwire.faults.response.rate_limit import RateLimit
from faultwire.faults.response.status import Status
from faultwire.faults.stream.cut_stream import CutStream
from faultwire.faults.stream.slow_tokens import SlowTokens
from faultwire.faults.tool.tool_error import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.faults"

BUILTIN: tuple[type[Fault], ...] = (
    Latency,
    Reset,
    Status,
    RateLimit,
    TruncateResponse,
    CutStream,
    SlowTokens,
    ToolError,
)


@cache
def registry() -> Mapping[str, type[Fault]]:
    """Every fault by name, built-in ones first. Raises FaultError on a bad package."""
    return collect(BUILTIN, entry_points(group=GROUP))


def find(name: str) -> type[Fault]:
    """The fault of that name. Raises UsageError."""
    known = registry()
    if name not in known:
        raise UsageError(
            f"found fault `{name}`, expected a known one",
            code="fault.unknown",
            hint=did_you_mean(name, known),
        )
    return known[name]


def collect(builtin: Iterable[type[Fault]], plugins: Iterable[EntryPoint]) -> dict[str, type[Fault]]:
    """The faults of both, by name. Raises FaultError."""
    found = {fault.name: fault for fault in builtin}
    for entry in sorted(plugins, key=lambda entry: (entry.name, entry.value)):
        if entry.name in found:
            raise _bad(entry, f"adds fault `{entry.name}`, which there is already")
        found[entry.name] = _loaded(entry)
    return found


def _loaded(entry: EntryPoint) -> type[Fault]:
    try:
        fault = entry.load()
    except Exception as error:  # whatever a foreign module raises is told as its failure
        raise _bad(entry, f"failed to load: {type(error).__name__}: {error}") from error
    if not (isinstance(fault, type) and issubclass(fault, Fault)):
        raise _bad(entry, "is no subclass of `Fault`")
    if getattr(fault, "name", None) != entry.name:
        raise _bad(entry, f"is called `{getattr(fault, 'name', None)}`")
    if getattr(fault, "site", None) not in SITES:
        raise _bad(entry, f"has site `{getattr(fault, 'site', None)}`, expected one of {', '.join(SITES)}")
    missing = [title for title in SECTIONS if title not in sections(fault)]
    if missing:
        raise _bad(entry, f"has no section `{missing[0]}` in its docstring")
    return fault


def _bad(entry: EntryPoint, why: str) -> FaultError:
    package = entry.dist.name if entry.dist else "a package"
    return FaultError(
        f"fault `{entry.name}` of `{package}` ({entry.value}) {why}",
        code="fault.plugin",
        hint=f"mend or uninstall `{package}`",
    )
