"""The page of all built-in faults, from their code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.faults._describe import SECTIONS, describe
from faultwire.faults._registry import BUILTIN

if TYPE_CHECKING:
    from faultwire.faults._describe import Description, Setting

_HEAD = """\
# Faults

<!-- Written by `python -m faultwire.faults`; edit the docstrings instead. -->

A fault is one way of breaking an exchange. It acts where the agent meets it:

| site | the agent sees |
|---|---|
| `connection` | nothing, late, or an aborted connection |
| `request` | nothing at once: the model reads another conversation |
| `result` | nothing at once: the model reads another tool result in its next request |
| `response` | another status, headers or body |
| `stream` | single events of a live stream changed, lost, delayed, or none any more |

Several faults may act in one exchange. They act in the order of this table, and within a site in
the order of the profile; the first one that ends the exchange wins, and the tape says which ones came
too late. How to say on which exchanges and how often a fault acts: [profiles](profiles.md).
"""


def markdown() -> str:
    """The whole page."""
    described = [describe(fault) for fault in BUILTIN]
    families: dict[str, list[str]] = {}
    for d in described:
        families.setdefault(d.module.split(".")[2], []).append(f"[`{d.name}`](#{d.name})")
    index = [f"- *{family}*: {', '.join(links)}" for family, links in families.items()]
    return "\n".join((_HEAD, *index, "", *map(_section, described)))


def _section(fault: Description) -> str:
    lines = [f"## {fault.name}", "", f"{fault.summary} Site: `{fault.site}`.", ""]
    for title in SECTIONS[:-1]:
        lines += [f"**{title}.** {' '.join(fault.sections[title].split())}", ""]
    lines += [*map(_row, fault.settings), ""] if fault.settings else []
    return "\n".join((*lines, "```yaml", fault.sections[SECTIONS[-1]], "```", ""))


def _row(setting: Setting) -> str:
    default = {None: ", required", "null": ""}.get(setting.default, f", default `{setting.default}`")
    return f"- `{setting.name}` ({setting.expected}{default}): {setting.description}"
