"""An upstream, a load and proxies between them; whatever a rig starts ends with it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.bench import pki, subjects
from tests.bench.children import Child
from tests.bench.subjects import Subject


class Rig(ExitStack):
    """`folder` holds all that is written: keys, tapes, logs."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.keys = pki.make(folder / "pki")
        try:
            self.upstream = self.child("upstream", str(self.keys.server))
            self.load = self.child("load")
        except BaseException:
            self.close()
            raise
        self.port: int = self.upstream.ready["port"]
        self.plain_port: int = self.upstream.ready["plain"]

    def child(self, module: str, *arguments: str) -> Child:
        """One of the programs here, in a process of its own."""
        log = self.folder / f"{module}.log"
        return self.enter_context(Child.python(f"tests.bench.{module}", *arguments, log=log))

    def ours(self, name: str, profile: str) -> Subject:
        """A recording engine with one session under a profile (YAML)."""
        return self.enter_context(subjects.faultwire(self.folder, self.keys, self.port, name, profile))

    def bare(self, script: Path | None = None) -> Subject:
        """mitmdump, with a script or without."""
        return self.enter_context(subjects.mitmdump(self.folder, self.keys, self.port, script=script))

    def mockttp(self) -> Subject:
        """mockttp. Raises RuntimeError where it cannot be had."""
        return self.enter_context(subjects.mockttp(self.folder, self.keys, self.port))
