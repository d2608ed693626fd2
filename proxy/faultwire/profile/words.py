"""Values of a profile in words, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from faultwire.profile.entry_model import Globs

    Problem: TypeAlias = tuple[str, str, str]
    """The key that is wrong, what was found and expected, and how to put it right."""


def each(globs: Globs | None) -> tuple[str, ...]:
    """The globs of a key, none where it is not there."""
    return (globs,) if isinstance(globs, str) else globs or ()


def names_of(names: Iterable[str], joint: str) -> str:
    """`a`, `b` or `c`."""
    each_name = [f"`{name}`" for name in names]
    if len(each_name) == 1:
        return each_name[0]
    return f" {joint} ".join((", ".join(each_name[:-1]), each_name[-1]))


def listed(value: object) -> str:
    """One value, or several as a profile lists them."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(listed, value))}]"
    return printable(str(value).lower() if isinstance(value, bool) else str(value))
