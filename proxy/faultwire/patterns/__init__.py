"""Personal data, secrets, prompt injections, refusals, leaks, and whether two texts say the same.

Always on, linear time, no model, no network: the work is done by the Rust core.

>>> [hit.id for hit in scan("mail jane@firm.org", kinds=["pii"])]
['email']
"""

from faultwire.patterns._compare import Change, Comparison, compare
from faultwire.patterns._judge import LeakReport, Refusal, leaks, refusal
from faultwire.patterns._scan import (
    KINDS,
    Entry,
    Hit,
    StreamScanner,
    catalog,
    scan,
    secret_spans,
)
from faultwire.patterns._user import Pattern, compile_patterns, read_patterns

__all__ = [
    "KINDS",
    "Change",
    "Comparison",
    "Entry",
    "Hit",
    "LeakReport",
    "Pattern",
    "Refusal",
    "StreamScanner",
    "catalog",
    "compare",
    "compile_patterns",
    "leaks",
    "read_patterns",
    "refusal",
    "scan",
    "secret_spans",
]
