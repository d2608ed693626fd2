"""The benchmarks that can be played: who serves their tasks, and what they define."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Utility = Literal["tasks", "controls", "none"]
"""Where a benchmark's utility is from: its user tasks without an attack; cases of its own that hold none; or
nowhere, since it does not say when a user's task is done."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark. `module` is the file in `child/` that serves it, `package` what has to be installed, and
    `version` that which was tried out; both empty where it is a folder of files."""

    name: str
    module: str
    package: str
    version: str
    release: str
    """Of the tasks, played if none is asked for."""
    utility: Utility
    published: int
    """Attacks of that release."""
    templates: bool = True
    """Can a text of our library stand around its attacks' goals? Not where they are whole texts."""


BENCHMARKS = {
    one.name: one
    for one in (
        Benchmark("agentdojo", "agentdojo_tasks", "agentdojo", "0.1.35", "v1.2.2", "tasks", 609),
        Benchmark("injecagent", "injecagent_tasks", "", "", "2403.02691", "none", 1054),
        Benchmark(
            "agent-injection-bench",
            "aib_tasks",
            "agent-injection-bench",
            "0.1.0",
            "0.1.0",
            "controls",
            21,
            templates=False,
        ),
    )
}
"""By name."""
