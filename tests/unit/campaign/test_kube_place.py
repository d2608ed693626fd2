"""`kube://…` names a namespace and its pods, or is refused with what is wrong."""

from __future__ import annotations

import pytest

from faultwire.campaign.kube_place import parse
from faultwire.errors import UsageError

LEAST = "kube://chaos?image=registry.test:5000/team/agent@sha256:abc&objects=s3://team/asks"


def test_a_namespace_an_image_and_a_bucket_are_enough() -> None:
    found = parse(LEAST)
    assert (found.namespace, found.image) == ("chaos", "registry.test:5000/team/agent@sha256:abc")
    assert (found.objects, found.workers, found.claim, found.env) == ("s3://team/asks", 2, None, ())


def test_all_keys_are_taken() -> None:
    more = "&workers=8&context=prod&claim=c&account=a.b&env=A,B,A&cpu=500m&memory=2Gi&deadline=600"
    found = parse(LEAST + more)
    assert (found.workers, found.context, found.claim, found.account) == (8, "prod", "c", "a.b")
    assert (found.env, found.cpu, found.memory, found.deadline_s) == (("A", "B"), "500m", "2Gi", 600)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kube://", "expected a namespace"),
        ("kube://Chaos?image=a", "expected a namespace"),
        ("kube://user@chaos?image=a", "expected a namespace"),
        ("kube://chaos/pods?image=a", "expected a namespace"),
        ("kube://chaos:443?image=a", "expected a namespace"),
        ("kube://chaos", "found no `image`"),
        ("kube://chaos?image=a", "found no `objects`"),
        ("kube://chaos?image=a&objects=/srv", "found `/srv` for `objects`"),
        ("kube://chaos?image=a&objects=s3://key:secret@team/asks", "for `objects`"),
        ("kube://chaos?image=a&objects=file:///srv", "expected the claim"),
        ("kube://chaos?image=--rm&objects=s3://team/asks", "found `--rm` for `image`"),
        (LEAST + "&image=b", "found a key twice"),
        (LEAST + "&worker=3", "found `worker`"),
        (LEAST + "&workers=0", "expected 1 to 1000"),
        (LEAST + "&workers=1001", "expected 1 to 1000"),
        (LEAST + "&workers=two", "expected 1 to 1000"),
        (LEAST + "&deadline=59", "expected 60 to 604800"),
        (LEAST + "&env=A B", "expected names of variables"),
        (LEAST + "&env=", "expected names of variables"),
        (LEAST + "&memory=much", "expected a quantity"),
        (LEAST + "&context=%0a", "expected a context"),
        (LEAST + "&claim", "bad query field"),
    ],
)
def test_what_names_no_pods_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        parse(text)
    assert raised.value.code == "usage.on"
    assert "\n" not in raised.value.message


def test_a_misspelt_key_is_shown_the_nearest() -> None:
    with pytest.raises(UsageError) as raised:
        parse(LEAST + "&worker=3")
    assert raised.value.hint == "did you mean `workers`?"
