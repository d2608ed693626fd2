"""Classes by name that are imported when they are first asked for.

A process uses a few of the many that there are, and importing them all is most of its start: each defines
models, whose validators are made at import.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class Deferred(Mapping[str, T]):
    """`places` gives the `module:Class` of each name, `loaded` further ones; no name is in both.

    Names are known without an import. Asking for one, or for all values, imports.
    """

    def __init__(self, places: Mapping[str, str], loaded: Mapping[str, T]) -> None:
        self._places = places
        self._loaded = dict(loaded)
        self._names = (*places, *loaded)

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            module, _, attribute = self._places[name].partition(":")
            self._loaded[name] = getattr(import_module(module), attribute)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._loaded

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
