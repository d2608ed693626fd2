from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from faultwire.faults._settings import ErrorText, HeaderFields, Milliseconds, Seconds


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Milliseconds, (0, 0.5, 3_600_000), (-0.001, 3_600_001, float("inf"))),
        (Seconds, (0, 0.5, 86_400), (-1, 86_401, float("inf"))),
        (ErrorText, ("x", "x" * 10_000), ("", "x" * 10_001)),
        (HeaderFields, ({}, {"X-A": "b c\t\xe9"}), ({"a": "\r"}, {"a": "b\n"}, {"a\n": "b"}, {":": "b"})),
    ],
)
def test_bounds(kind, good, bad):
    adapter = TypeAdapter(kind)
    for value in good:
        assert adapter.validate_python(value) == value
    for value in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)
