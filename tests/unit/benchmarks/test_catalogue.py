from __future__ import annotations

from pathlib import Path

from faultwire.benchmarks import child
from faultwire.benchmarks.catalogue import BENCHMARKS


def test_each_benchmark_is_served_by_a_file_and_has_a_package_or_none():
    folder = Path(child.__file__).parent
    for name, one in BENCHMARKS.items():
        assert one.name == name
        assert (folder / f"{one.module}.py").is_file()
        assert bool(one.package) == bool(one.version)
