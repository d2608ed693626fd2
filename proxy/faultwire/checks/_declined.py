"""Results of tool calls that say that the tool was not run."""

from __future__ import annotations

from faultwire.checks._once import compiled

LEAD = 300
"""Characters at the beginning of a result: further on a tool may tell of other things that did not run."""
_NOT_RUN = (
    r"(?i)(\b(not|never|neither) (be(en)? )?(executed|run|invoked|called|performed|carried out)\b|"
    r"n[o']t (be )?(executed?|run|invoked?|call(ed)?|perform(ed)?) (the|this|that|your) "
    r"(tool|call|function)\b|"
    r"\bskipped (the|this|that|your) (tool|call|function)\b|\b(tool|call|function) (was )?skipped\b)"
)
_ABOUT = r"(?i)\b(tool|call|function|arguments?|incomplete|truncated|cut (off|short)|stream|interrupted)\b"


def declined(result: str) -> bool:
    """Does a result say, at its beginning, that the call was not executed?"""
    lead = result[:LEAD]
    return compiled(_NOT_RUN).search(lead) is not None and compiled(_ABOUT).search(lead) is not None
