"""faultwire.plugins.deferred: classes by name, imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from faultwire.plugins.deferred import Deferred

PLACES = {"fraction": "fractions:Fraction", "decimal": "decimal:Decimal"}


def test_names_come_first_from_the_places_and_then_from_what_is_loaded():
    found = Deferred[type](PLACES, {"text": str})
    assert list(found) == ["fraction", "decimal", "text"]
    assert len(found) == 3
    assert "decimal" in found
    assert "text" in found
    assert "other" not in found


def test_a_class_is_found_by_its_name():
    from fractions import Fraction

    found = Deferred[type](PLACES, {"text": str})
    assert found["fraction"] is Fraction
    assert found["text"] is str
    with pytest.raises(KeyError):
        found["other"]


PROBE = """
import sys
from faultwire.faults._registry import PLACES, find, registry
assert len(registry()) == len(PLACES) and "cut_stream" in registry()
found = lambda: sorted(name for name in PLACES if PLACES[name].partition(":")[0] in sys.modules)
print(found())
find("cut_stream")
print(found())
list(registry().values())
print(len(found()) == len(PLACES))
"""


def test_a_fault_is_imported_when_it_is_asked_for_and_not_before():
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "['cut_stream']", "True"]
