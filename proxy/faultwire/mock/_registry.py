"""The dialects that the mock speaks: those that the known protocols name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.errors import FaultwireError
from faultwire.mock._api import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.wire.protocol import Protocol


@cache
def dialects() -> Mapping[str, Dialect]:
    """The dialects by the name of their protocol, in the order in which they are asked.

    Raises FaultwireError where one that a protocol names is not to be had.
    """
    return collect(wire.protocols().values())


def collect(protocols: Iterable[Protocol]) -> dict[str, Dialect]:
    """The dialects of these protocols; one that several name belongs to the first. Raises FaultwireError."""
    named: dict[str, Protocol] = {}
    for protocol in protocols:
        if protocol.dialect is not None:
            named.setdefault(protocol.dialect, protocol)
    return {protocol.name: _load(protocol, reference) for reference, protocol in named.items()}


def _load(protocol: Protocol, reference: str) -> Dialect:
    module, _, name = reference.partition(":")
    try:
        found = getattr(import_module(module), name)
        dialect = found() if isinstance(found, type) and issubclass(found, Dialect) else None
    except Exception as error:  # whatever a foreign module raises is reported as its failure
        raise _bad(protocol, reference, f"failed to load: {type(error).__name__}: {error}") from error
    if dialect is None:
        raise _bad(protocol, reference, "is no `Dialect` class")
    if dialect.protocol != protocol.name:
        raise _bad(protocol, reference, f"is of the protocol `{dialect.protocol}`")
    return dialect


def _bad(protocol: Protocol, reference: str, why: str) -> FaultwireError:
    return FaultwireError(
        f"the dialect `{reference}` of protocol `{protocol.name}` {why}",
        code="mock.dialect",
        hint=f"fix or remove the package that brings the protocol `{protocol.name}`",
    )
