"""`faultwire.plugins`: one kind of class, built-in and added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from faultwire.errors import FaultError
from faultwire.plugins import Registry


class Base:
    name = "base"


class One(Base):
    name = "one"


class Two(Base):
    name = "two"


@dataclass(frozen=True)
class Entry:
    """An entry point without a package behind it."""

    name: str
    loaded: Any
    value: str = "pkg:thing"
    dist: Any = None

    def load(self) -> Any:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


def registry(problem: Any = lambda _one: None) -> Registry[Base]:
    return Registry("fault", Base, FaultError, problem)


def test_built_in_ones_come_first_and_others_by_name() -> None:
    last, added = type("Z", (Base,), {"name": "a"}), type("A", (Base,), {"name": "b"})
    found = registry().collect((Two, One), [Entry("b", added), Entry("a", last)])
    assert list(found.items()) == [("two", Two), ("one", One), ("a", last), ("b", added)]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (Entry("one", One), "adds fault `one`, which there is already"),
        (Entry("x", ImportError("no y")), "failed to load: ImportError: no y"),
        (Entry("x", 7), "is no subclass of `Base`"),
        (Entry("x", str), "is no subclass of `Base`"),
        (Entry("x", Two), "is called `two`"),
    ],
)
def test_a_bad_package_is_an_error_that_names_it(entry: Any, why: str) -> None:
    with pytest.raises(FaultError) as caught:
        registry().collect((One,), [entry])
    assert caught.value.message == f"fault `{entry.name}` of `a package` (pkg:thing) {why}"
    assert (caught.value.code, caught.value.hint) == ("fault.plugin", "fix or uninstall `a package`")


def test_what_its_own_kind_demands() -> None:
    with pytest.raises(FaultError, match="has no site"):
        registry(lambda _one: "has no site").collect((), [Entry("two", Two)])
    assert registry(lambda one: None if one is Two else "x").collect((One,), [Entry("two", Two)])


def test_two_built_in_ones_of_a_name_are_an_error() -> None:
    with pytest.raises(FaultError, match="found two faults named `one`, expected one"):
        registry().collect((One, One), ())
