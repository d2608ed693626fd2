"""Objects in a folder; a bucket is asked in the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import FaultwireError, UsageError
from faultwire.store.objects import Objects


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_what_was_written_is_there(tmp_path: Path, form: str) -> None:
    objects = Objects(form.format(tmp_path))
    objects.put("blobs/ab/x", b"data")
    assert (objects.get("blobs/ab/x"), objects.get("blobs/ab/y")) == (b"data", None)
    assert (objects.has("blobs/ab/x", 4), objects.has("blobs/ab/x", 3), objects.has("y", 4)) == (
        True,
        False,
        False,
    )
    assert [name for name, _ in objects.list("blobs/")] == ["blobs/ab/x"]
    objects.delete("blobs/ab/x")
    objects.delete("blobs/ab/x")
    assert objects.get("blobs/ab/x") is None


@pytest.mark.parametrize("place", ["/none/there", "", "http://h/x", "s3://", "relative/none"])
def test_what_is_no_place_is_refused(place: str) -> None:
    with pytest.raises(UsageError) as raised:
        Objects(place)
    assert raised.value.code == "usage.tapes"


def test_an_endpoint_elsewhere_is_not_asked_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://storage.example:9000")
    with pytest.raises(UsageError, match="expected `https://`"):
        Objects("s3://bucket/prefix")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    Objects("s3://bucket/prefix")


def test_a_place_that_fails_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file where a folder should be")
    with pytest.raises(FaultwireError, match="cannot write `blobs/ab/x`") as raised:
        Objects(str(tmp_path)).put("blobs/ab/x", b"data")
    assert raised.value.code == "tapes.failed"
