"""The trace context of a session: what a process passes on so that its calls can be assigned to the session.

A W3C `traceparent` and a baggage member; tracers of OpenTelemetry read the variables and servers get the
header fields of the same names. They name a session and are no secret. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMBER = "faultwire-session"
"""The baggage member that names a session (the proxy looks for it in `mitm.sharing`)."""
SAMPLED = "01"


def traced(base: Mapping[str, str], trace: str) -> dict[str, str]:
    """`base` with the trace context of a session, whose trace id is 32 hex digits.

    What the user's own baggage says stays; a trace state belongs to another trace and goes.
    """
    child = {name: value for name, value in base.items() if name != "TRACESTATE"}
    child["TRACEPARENT"] = f"00-{trace}-{_parent(trace)}-{SAMPLED}"
    ours = f"{MEMBER}={trace}"
    child["BAGGAGE"] = f"{base['BAGGAGE']},{ours}" if base.get("BAGGAGE") else ours
    return child


def _parent(trace: str) -> str:
    """The id of the span that asked; all zeros would be invalid (Trace Context §3.2.2.4)."""
    half = trace[16:]
    return half if half.strip("0") else f"{half[:-1]}1"
