"""Host names that the mock stands in for: those that the known protocols name, those of telemetry, and of
the tokenizers that frameworks fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.mock import tokenizer
from faultwire.wire.recognition.telemetry import HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping


def hosts() -> tuple[str, ...]:
    """Names first, then those with a `*` for a region, or for a customer's own name."""
    named = dict.fromkeys(host for protocol in wire.protocols().values() for host in protocol.mocked)
    named |= dict.fromkeys((*HOSTS, *tokenizer.HOSTS))
    return tuple(sorted(named, key=lambda host: "*" in host))


def names() -> tuple[str, ...]:
    """Those without a `*`."""
    return tuple(host for host in hosts() if "*" not in host)


def routes(port: int) -> Mapping[str, str]:
    """Where each provider's traffic goes instead: a plain-HTTP mock on this machine."""
    return dict.fromkeys(hosts(), f"http://127.0.0.1:{port}")
