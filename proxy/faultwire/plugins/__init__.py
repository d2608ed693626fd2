"""Things of one kind by name: the built-in ones, and those that installed packages add.

A package adds them by an entry-point group; each entry's name is the thing's name. One that fails to
load, or takes a name that is taken, is an error: a profile or contract must never mean less than it
says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from importlib.metadata import EntryPoint, EntryPoints, SelectableGroups

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """One kind of class. `word` is what people call it (`fault`), `error` what a bad one raises, and
    `problem` says what one lacks besides its base class and name, or None."""

    word: str
    base: type[Any]
    error: type[FaultwireError]
    problem: Callable[[type[T]], str | None]

    def collect(
        self, builtin: Iterable[type[T]], plugins: Iterable[EntryPoint], taken: Container[str] = ()
    ) -> dict[str, type[T]]:
        """Both by name, built-in ones first, the others by theirs; no plug-in may have a name of `taken`.

        Raises `error`.
        """
        found: dict[str, type[T]] = {}
        for one in builtin:
            name = _name(one)
            if name in found:
                raise self.error(f"found two {self.word}s named `{name}`, expected one", code=self._code)
            found[name] = one
        for entry in sorted(plugins, key=lambda entry: (entry.name, entry.value)):
            if entry.name in found or entry.name in taken:
                raise self._bad(entry, f"adds {self.word} `{entry.name}`, which there is already")
            found[entry.name] = self._loaded(entry)
        return found

    @property
    def _code(self) -> str:
        return f"{self.word}.plugin"

    def _loaded(self, entry: EntryPoint) -> type[T]:
        try:
            loaded = entry.load()
        except Exception as error:  # whatever a foreign module raises is reported as its failure
            raise self._bad(entry, f"failed to load: {type(error).__name__}: {error}") from error
        if not (isinstance(loaded, type) and issubclass(loaded, self.base)):
            raise self._bad(entry, f"is no subclass of `{self.base.__name__}`")
        if _name(loaded) != entry.name:
            raise self._bad(entry, f"is called `{_name(loaded)}`")
        problem = self.problem(loaded)
        if problem is not None:
            raise self._bad(entry, problem)
        return loaded

    def _bad(self, entry: EntryPoint, why: str) -> FaultwireError:
        package = entry.dist.name if entry.dist else "a package"
        return self.error(
            f"{self.word} `{entry.name}` of `{package}` ({entry.value}) {why}",
            code=self._code,
            hint=f"fix or uninstall `{package}`",
        )


@cache
def installed() -> EntryPoints | SelectableGroups:
    """The entry points of all installed packages; looking them up takes some 20 ms."""
    from importlib.metadata import entry_points

    return entry_points()


def are_there() -> bool:
    """Does any package add anything to faultwire? Nothing of it is loaded."""
    return any(group.startswith("faultwire.") for group in installed().groups)


def _name(one: type) -> str:
    return str(getattr(one, "name", None))
