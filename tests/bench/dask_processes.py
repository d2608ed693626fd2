"""A scheduler and workers of Dask, each a process of this machine that can be killed and started again."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from faultwire.campaign.dask_engine import DaskEngine
from faultwire.errors import UsageError

Process = AbstractContextManager["subprocess.Popen[bytes]"]


@dataclass
class Dask:
    """What is started writes its logs into the folder."""

    folder: Path
    port: int

    @classmethod
    def at_free_port(cls, folder: Path) -> Dask:
        folder.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            return cls(folder, free.getsockname()[1])

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    @contextmanager
    def program(self, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        words = [sys.executable, "-m", f"distributed.cli.dask_{name}", *arguments]
        log = self.folder / f"{name}-{len(list(self.folder.iterdir()))}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(words, cwd=self.folder, stdout=file, stderr=file, process_group=0)
        try:
            yield process
        finally:
            if process.poll() is None:
                for one in psutil.Process(process.pid).children(recursive=True):
                    one.kill()
                process.kill()
            process.wait()

    def scheduler(self) -> Process:
        return self.program("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def worker(self) -> Process:
        # Without a nanny: who kills the worker kills it for good.
        return self.program("worker", f"tcp://127.0.0.1:{self.port}", "--nthreads", "1", "--no-nanny")

    def reached(self, workers: int) -> None:
        """Return once the scheduler has so many workers."""
        while True:
            try:
                engine = DaskEngine(self.address.replace("dask", "tcp"))
            except UsageError:
                continue
            with closing(engine):
                if engine.slots >= workers:
                    return
