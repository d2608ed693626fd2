"""Users keep their numbers: root all that he has, anybody else only his own."""

from __future__ import annotations

from faultwire.capture.netns.idmap import identity, single


def test_all_users_of_this_namespace_are_mapped_to_themselves() -> None:
    assert identity("         0          0 4294967295\n") == "0 0 4294967295\n"


def test_a_container_maps_what_it_has_itself() -> None:
    assert identity("0 100000 65536\n70000 300000 10\n") == "0 0 65536\n70000 70000 10\n"
    assert identity("garbage\n") == ""


def test_anybody_else_maps_himself() -> None:
    assert single(65534) == "65534 65534 1\n"
