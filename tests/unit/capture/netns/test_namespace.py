"""What is known of a namespace before there is one. (Those that are made: `tests/e2e/netns`.)"""

from __future__ import annotations

import sys

import pytest

from faultwire.capture.netns import namespace
from faultwire.errors import CaptureError


def test_another_system_is_reported_what_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(CaptureError, match="expected Linux") as caught:
        namespace.begin([443])
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("name", "own"), [("sit0", True), ("ip6tnl0", True), ("eth0", False), ("veth1", False)]
)
def test_interfaces_that_the_kernel_makes_itself_lead_nowhere(name: str, own: bool) -> None:
    assert namespace._is_fallback(name) is own
