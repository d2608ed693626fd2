"""`--on` names an engine, or says which there are."""

from __future__ import annotations

import pytest

from faultwire.campaign.open_engine import open_engine
from faultwire.errors import UsageError


def test_local_has_as_many_slots_as_it_says() -> None:
    assert open_engine("local:3").slots == 3


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("local:0", "expected an engine"),
        ("local", "expected an engine"),
        ("local:-1", "expected an engine"),
        ("local:1000", "expected an engine"),
        ("dask://", "expected an engine"),
        ("dask://user@host:8786", "expected an engine"),
        ("host:8786", "expected an engine"),
        ("", "expected an engine"),
        ("ray://127.0.0.1:10001", "expected `local:N`, `dask://HOST:PORT` or `kube://NAMESPACE"),
    ],
)
def test_what_is_no_engine_is_refused_with_those_that_there_are(place: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        open_engine(place)
    assert raised.value.code == "usage.on"
    assert "local:2" in str(raised.value.hint)


def test_a_namespace_without_an_image_is_refused_with_what_is_needed() -> None:
    with pytest.raises(UsageError, match="found no `image` in `--on kube://…`") as raised:
        open_engine("kube://faultwire")
    assert "kube://NAMESPACE?image=IMAGE&objects=s3://BUCKET/PREFIX" in str(raised.value.hint)
