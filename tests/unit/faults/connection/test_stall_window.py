from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.faults.connection.stall_window import WINDOW, StallWindow


def test_the_tunnel_is_opened_and_bodies_in_it_stand_still(web):
    met = StallWindow(for_ms=1500).connect(web)
    assert met.seconds == 1.5
    assert f"{WINDOW:,} bytes" in met.effect


def test_only_a_tunnel_can_have_windows(web):
    assert "HTTP/1.1" in StallWindow().inapplicable(web)
    assert StallWindow().inapplicable(replace(web, request=replace(web.request, method="CONNECT"))) is None


@pytest.mark.parametrize("for_ms", [0, 30_001, None])
def test_it_has_an_end(for_ms):
    with pytest.raises(ValidationError):
        StallWindow(for_ms=for_ms)
