"""What many checks of one history ask for, found out once."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar

from faultwire._core import Regex

if TYPE_CHECKING:
    from collections.abc import Callable

Asked = TypeVar("Asked")
Found = TypeVar("Found")


def once(find: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
    """`find`, which keeps what it last found: all invariants judge one history after the other.

    The argument is compared by identity and kept alive, so that its id is not reused; it must not change,
    nor must what was found. One answer is kept, so memory stays that of one history.
    """
    last: tuple[Asked, Found] | None = None

    @wraps(find)
    def kept(asked: Asked) -> Found:
        nonlocal last
        known = last
        if known is not None and known[0] is asked:
            return known[1]
        found = find(asked)
        last = (asked, found)
        return found

    return kept


@lru_cache(maxsize=128)
def compiled(pattern: str) -> Regex:
    """The engine of a pattern: making it costs a hundred times what a search in an answer does."""
    return Regex(pattern)
