"""`faultwire.frozen`: frozen wherever anybody looks, and cheap where nobody does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import pytest

from faultwire.events import Exchange, FaultFired, Request
from faultwire.frozen import made

SHOW = """
from faultwire.events import Request
one = Request("GET", "https", "a.example", 443, "/")
one.port = 1
print(one == Request("GET", "https", "a.example", 1, "/"), hash(one) == hash(one), hasattr(one, "__dict__"))
"""


class Point:
    x: int
    y: int = 2


def points(*, optimised: bool) -> type[Point]:
    return made(frozen=True, slots=True, optimised=optimised)(type("Point", (), dict(vars(Point))))


def test_whoever_writes_to_a_value_is_told() -> None:
    request = Request("GET", "https", "a.example", 443, "/")
    for value, name in ((request, "port"), (Exchange("s", 1, request), "key")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 1)
    with pytest.raises(FrozenInstanceError):
        points(optimised=False)(1).x = 2


def test_values_are_the_same_either_way() -> None:
    for kind in (points(optimised=False), points(optimised=True)):
        one, other = kind(1), kind(1, 2)
        assert (one == other, hash(one) == hash(other), repr(one) == repr(other)) == (True, True, True)
        assert replace(one, y=5) == kind(1, 5)
        assert not hasattr(one, "__dict__")
    frozen, loose = points(optimised=False)(1), points(optimised=True)(1)
    assert hash(frozen) == hash(loose)


def test_a_value_that_holds_a_dict_has_no_hash() -> None:
    line = FaultFired("status", "status", "response", "fired", "", "", 0, 0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(line)


def test_the_engines_interpreter_does_not_pay_for_it() -> None:
    done = subprocess.run([sys.executable, "-O", "-c", SHOW], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]
