"""`faultwire.plugins.frozen`: frozen wherever anybody looks, and cheap where nobody does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from faultwire.events import Exchange, FaultFired, Request

SHOW = """
import sys
from dataclasses import FrozenInstanceError, replace
from faultwire.plugins import frozen
if sys.argv[1] == "loose":
    frozen.leave_unchecked()
from faultwire.events import Request
one = Request("GET", "https", "a.example", 443, "/")
same = Request("GET", "https", "a.example", 443, "/")
print(one == same, hash(one) == hash(same), replace(one, port=1).port, hasattr(one, "__dict__"), repr(one))
try:
    one.port = 1
    print("changed")
except FrozenInstanceError:
    print("refused")
"""


def test_writing_to_a_value_raises() -> None:
    request = Request("GET", "https", "a.example", 443, "/")
    for value, name in ((request, "port"), (Exchange("s", 1, request), "key")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 1)


def test_a_value_that_holds_a_dict_has_no_hash() -> None:
    line = FaultFired("status", "status", "response", "fired", "", "", 0, 0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(line)


def test_only_a_process_that_asked_for_it_does_without() -> None:
    def shown(how: str) -> list[str]:
        done = subprocess.run([sys.executable, "-O", "-c", SHOW, how], capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout.splitlines()

    loose, checked = shown("loose"), shown("checked")
    assert loose[0] == checked[0]
    assert loose[0].startswith("True True 1 False Request(")
    assert (loose[1], checked[1]) == ("changed", "refused")
