"""Gives a Python program the same chance in each run: what `faultwire audit` puts before it.

Copied as `sitecustomize.py` into a folder of `PYTHONPATH`, where the interpreter runs it before the program;
it needs nothing but the standard library of any Python 3. What another `sitecustomize` does, it still does.
Covered are `os.urandom` and all that takes from it (`secrets`, `uuid.uuid4`, `random.SystemRandom`, numpy's
generators) and `random` without a seed. A seed that the program gives itself counts as before.

It leaves its mark in a file, by which it is known that it ran: `-I`, `-E` and `-S` keep it away.
"""

from __future__ import annotations

import os
import sys
from hashlib import shake_256
from typing import Any

SEED, MARK = "FAULTWIRE_CHANCE_SEED", "FAULTWIRE_CHANCE_MARK"


class Stream:
    """Bytes that follow from a key. A forked process has a stream of its own, by its number."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.taken = 0
        self.forks = 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        if size < 0:
            raise ValueError("negative argument not allowed")
        self.taken += 1
        return shake_256(f"{self.key} {self.taken}".encode()).digest(size)

    def number(self) -> int:
        """The next 256 bits."""
        return int.from_bytes(self.read(32), "big")

    def before_fork(self) -> None:
        """Count a child."""
        self.forks += 1

    def in_child(self) -> None:
        """Begin the child's own stream."""
        self.key, self.taken, self.forks = f"{self.key}/{self.forks}", 0, 0


def fix(stream: Stream) -> None:
    """Take all chance of this process from a stream."""
    os.urandom = stream.read
    if hasattr(os, "getrandom"):
        os.getrandom = lambda size, flags=0: stream.read(size)  # noqa: ARG005 - as it is called

    import random  # noqa: TID251 - the program's own chance is what is fixed

    own = random.Random.seed

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        own(self, stream.number() if a is None else a, version)

    vars(random)["_urandom"] = stream.read
    random.Random.seed = seed  # type: ignore[method-assign]
    random.seed = vars(random)["_inst"].seed
    random.seed()

    def in_child() -> None:
        stream.in_child()
        random.seed()

    if hasattr(os, "register_at_fork"):  # after `random`, which takes a seed of the system's in each child
        os.register_at_fork(before=stream.before_fork, after_in_child=in_child)


def other_sitecustomize(folder: str) -> None:
    """Run the one that this one stands before."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != folder]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def main() -> None:
    """Called where the interpreter runs it as `sitecustomize`."""
    seed, mark = os.environ.get(SEED), os.environ.get(MARK)
    if seed and mark:
        # Programs that a program starts have other words, and so other chance than it.
        fix(Stream(seed + " ".join(getattr(sys, "orig_argv", ())[1:])))
        with open(mark, "a") as file:
            file.write("python\n")
    other_sitecustomize(os.path.dirname(os.path.abspath(__file__)))


if __name__ == "sitecustomize":
    main()
