from __future__ import annotations

from faultwire.benchmarks.interpreter import version_in


def test_a_file_that_is_no_python_has_no_version(tmp_path):
    assert version_in(tmp_path / "none", "click") is None
