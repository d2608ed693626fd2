"""What is fuzzed: a border of the program, the inputs that are made for it, and what must hold for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Target:
    """A border. `check` raises where something does not hold, and says whether the input was taken."""

    name: str
    cases: st.SearchStrategy[Any]
    check: Callable[[Any], bool]
    batch: int = 500
    """Inputs in one run of hypothesis."""

    def corpus(self) -> Iterator[Path]:
        """Inputs that are kept: where others begin, and those that once found something."""
        place = CORPUS / self.name
        return iter(sorted(place.iterdir())) if place.is_dir() else iter(())


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The bytes, divided at these places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[begin:end] for begin, end in pairwise(places)]


@st.composite
def damaged(draw: st.DrawFn, of: st.SearchStrategy[bytes], words: tuple[bytes, ...]) -> bytes:
    """Bytes with some put in, taken out, doubled or flipped."""
    data = bytearray(draw(of))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.sampled_from([1, 2, 9, 40])))
        how = draw(st.sampled_from(["put", "put", "drop", "double", "flip"]))
        if how == "put":
            data[at:at] = draw(st.sampled_from(words) | st.binary(max_size=3))
        elif how == "drop":
            del data[at:end]
        elif how == "double":
            data[at:at] = data[at:end]
        elif at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
    return bytes(data)


def named() -> dict[str, Target]:
    """Every target by its name; they are imported when they are asked for."""
    from tests.fuzz import files, frames, heads, yaml_files

    found = (heads.HEADS, heads.FIELDS, frames.FRAMES, yaml_files.YAML, files.TAPES, files.IMPORTS)
    return {target.name: target for target in found}
