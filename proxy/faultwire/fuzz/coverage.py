"""The coverage that an agent tells: Python's by a preload of ours, Node's by V8 itself.

Node writes it when it exits (`NODE_V8_COVERAGE`), so that a run which is killed tells none.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

From = Literal["none", "python", "node", "auto"]
PRELOAD = Path(__file__).parent / "child" / "coverage_preload.py"
MAP = "FAULTWIRE_FUZZ_MAP"
SIZE = 1 << 16
BLOCK = 16
"""Characters of JavaScript that are one feature."""
_FOREIGN = ("/node_modules/", "node:", "evalmachine")


@dataclass
class Coverage:
    """A folder for what runs tell, one after the other; `languages` are those that told something."""

    folder: Path
    source: From
    languages: set[str] = field(default_factory=set)

    @classmethod
    def at(cls, folder: Path, source: From) -> Coverage:
        """Make the folder, which must not exist."""
        folder.mkdir(parents=True)
        if source in ("python", "auto"):
            (folder / "python").mkdir()
            shutil.copyfile(PRELOAD, folder / "python" / "sitecustomize.py")
        return cls(folder, source)

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base`, so that what is started with it tells its coverage; what an earlier run left is gone."""
        made = dict(base)
        if self.source in ("python", "auto"):
            (self.folder / "map").write_bytes(bytes(SIZE))
            given = base.get("PYTHONPATH")
            home = str(self.folder / "python")
            made["PYTHONPATH"] = f"{home}{os.pathsep}{given}" if given else home
            made[MAP] = str(self.folder / "map")
        if self.source in ("node", "auto"):
            shutil.rmtree(self.folder / "v8", ignore_errors=True)
            made["NODE_V8_COVERAGE"] = str(self.folder / "v8")
        return made

    def features(self) -> frozenset[str]:
        """What the last run told."""
        python = set[str]()
        if self.source in ("python", "auto"):
            table = (self.folder / "map").read_bytes()
            python = {f"py {at:04x}" for at, byte in enumerate(table) if byte}
        node = set(covered(_documents(self.folder / "v8"))) if self.source in ("node", "auto") else set[str]()
        self.languages |= ({"python"} if python else set()) | ({"node"} if node else set())
        return frozenset(python | node)


def _documents(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.glob("coverage-*.json")) if folder.is_dir() else ():
        try:
            yield json.loads(path.read_bytes())
        except ValueError:
            continue  # cut off as the process was killed


def covered(documents: Iterable[Any]) -> Iterator[str]:
    """Blocks of the program's own files that ran, of V8's documents."""
    for document in documents:
        for script in document.get("result", ()):
            url = str(script.get("url", ""))
            if url.startswith("file:") and not any(part in url for part in _FOREIGN):
                yield from (f"v8 {url.rpartition('/')[2]} {at}" for at in _blocks(script["functions"]))


def _blocks(functions: Iterable[Mapping[str, Any]]) -> set[int]:
    """The blocks that ran: what lies in a range counts as its innermost range does (V8's block coverage)."""
    ranges = [one for function in functions for one in function["ranges"]]
    counts: dict[int, int] = {}
    for one in sorted(ranges, key=lambda one: (one["startOffset"], -one["endOffset"])):
        first = -(-one["startOffset"] // BLOCK)
        for block in range(first, one["endOffset"] // BLOCK + 1):
            counts[block] = one["count"]
    return {block for block, count in counts.items() if count}
