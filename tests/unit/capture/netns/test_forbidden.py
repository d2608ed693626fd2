"""The setting that forbids a namespace is named, and only where it is the reason."""

from __future__ import annotations

import errno

import pytest

from faultwire.capture.netns.forbidden import APPARMOR, CLONE, LIMITS, blame, explain


@pytest.mark.parametrize("path", LIMITS)
def test_a_limit_of_zero_is_named(path: str) -> None:
    error = explain("unshare", errno.ENOSPC, {path: "0\n"}.get, root=False)
    name = path.replace("/", ".")
    assert f"`{name}` is `0`" in error.message
    assert f"sysctl -w {name}=15000" in (error.hint or "")
    assert error.exit_code == 3


@pytest.mark.parametrize(("path", "bad", "good"), [(CLONE, "0", "1"), (APPARMOR, "1", "0")])
def test_a_setting_for_unprivileged_users_is_named(path: str, bad: str, good: str) -> None:
    error = explain("link", errno.EPERM, {path: bad}.get, root=False)
    assert f"`{path.replace('/', '.')}` is `{bad}`" in error.message
    assert f"={good}" in (error.hint or "")


def test_a_setting_that_allows_it_is_not_blamed() -> None:
    allowed = {CLONE: "1", APPARMOR: "0", LIMITS[0]: "96364"}.get
    assert blame(errno.EPERM, allowed, root=False) is None
    assert blame(errno.ENOSPC, allowed, root=False) is None
    error = explain("unshare", errno.EPERM, allowed, root=False)
    assert "sysctl" not in (error.hint or "")
    assert "seccomp" in (error.hint or "")


def test_what_holds_for_unprivileged_users_is_not_the_reason_for_root() -> None:
    assert blame(errno.EPERM, {CLONE: "0", APPARMOR: "1"}.get, root=True) is None


def test_a_setting_is_not_blamed_for_another_error() -> None:
    assert blame(errno.EINVAL, {CLONE: "0", LIMITS[0]: "0"}.get, root=False) is None
    assert "EINVAL" in explain("route", errno.EINVAL, {CLONE: "0"}.get, root=False).message
