"""Who may do what."""

from __future__ import annotations

import pytest

from faultwire.service.roles import NEEDED, Act, Caller

MAY: dict[str, set[Act]] = {
    "viewer": {"read", "comment"},
    "runner": {"read", "comment", "push", "share"},
    "admin": set(NEEDED),
}


@pytest.mark.parametrize("role", MAY)
@pytest.mark.parametrize("act", NEEDED)
def test_a_role_may_what_it_may_in_its_project_and_nothing_elsewhere(role: str, act: Act) -> None:
    caller = Caller("x", {"shop": role})  # type: ignore[dict-item]
    assert caller.may(act, "shop") is (act in MAY[role])
    assert not caller.may(act, "other")
    assert not Caller("nobody").may(act, "shop")


@pytest.mark.parametrize("act", NEEDED)
def test_a_link_shows_its_run_and_nothing_else(act: Act) -> None:
    link = Caller("link", shared=("shop", "r1"))
    assert link.may(act, "shop", "r1") is (act == "read")
    for project, run in (("shop", None), ("shop", "r2"), ("other", "r1")):
        assert not link.may(act, project, run)
