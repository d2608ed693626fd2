"""Chaos engineering for AI agents, on the wire.

The names below are what plug-ins, and programs that embed faultwire, may rely on;
`docs/howto/python.md` says what each is for. They are loaded when they are first asked for, so
`import faultwire` costs next to nothing; type checkers read `__init__.pyi`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = [
    "Action",
    "AgentError",
    "AgentResult",
    "BaseUrl",
    "Call",
    "CaptureError",
    "Change",
    "Check",
    "Chunk",
    "Close",
    "ConfigError",
    "Conversation",
    "Cut",
    "Delivery",
    "Dialect",
    "Draft",
    "Due",
    "Editor",
    "Exchange",
    "Fault",
    "FaultDice",
    "FaultError",
    "FaultFired",
    "FaultwireError",
    "Goaway",
    "Headers",
    "History",
    "Kind",
    "Memory",
    "Message",
    "Mutant",
    "Mutation",
    "Mutator",
    "Need",
    "Page",
    "ProfileError",
    "Protocol",
    "Recorded",
    "Refused",
    "Reply",
    "Request",
    "RequestFault",
    "RequestView",
    "Reset",
    "Response",
    "ResponseView",
    "ResultFault",
    "Rewrite",
    "RewrittenText",
    "Send",
    "Session",
    "Signs",
    "Site",
    "Splitter",
    "StreamEditor",
    "StreamReader",
    "TapeError",
    "TextPlace",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Usage",
    "UsageError",
    "Verdict",
    "Wait",
    "WireError",
    "header",
    "session",
    "with_header",
]

_HOMES = {
    "checks._api": ("Check",),
    "dice": ("FaultDice",),
    "errors": (
        "AgentError",
        "CaptureError",
        "ConfigError",
        "FaultError",
        "FaultwireError",
        "ProfileError",
        "TapeError",
        "UsageError",
        "WireError",
    ),
    "events": (
        "Action",
        "AgentResult",
        "Chunk",
        "Close",
        "Cut",
        "Delivery",
        "Exchange",
        "FaultFired",
        "Goaway",
        "Headers",
        "History",
        "Kind",
        "Message",
        "Recorded",
        "Request",
        "RequestView",
        "Reset",
        "Response",
        "ResponseView",
        "Send",
        "ToolCall",
        "ToolResult",
        "Turn",
        "Usage",
        "Verdict",
        "Wait",
        "header",
        "with_header",
    ),
    "faults._api": (
        "Due",
        "Fault",
        "Memory",
        "Mutator",
        "Need",
        "RequestFault",
        "ResultFault",
        "RewrittenText",
        "Site",
    ),
    "mock._api": (
        "Call",
        "Conversation",
        "Dialect",
        "Refused",
        "Reply",
        "Tool",
    ),
    "mutations._api": (
        "Draft",
        "Mutant",
        "Mutation",
    ),
    "runner.session": (
        "Session",
        "session",
    ),
    "wire.editing.api": (
        "Change",
        "Editor",
        "TextPlace",
    ),
    "wire.framing.split": ("Splitter",),
    "wire.protocol": ("Protocol",),
    "wire.recognition.confirm": ("Signs",),
    "wire.types": (
        "BaseUrl",
        "Page",
        "Rewrite",
        "StreamEditor",
        "StreamReader",
    ),
}
"""The modules, below this one, that define them."""
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562). Raises AttributeError for any other."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
