"""The states of a response, as mitmproxy calls them: faultwire.mitm.flow.response."""

from __future__ import annotations

from mitmproxy.proxy.layers.http import HttpStream

from faultwire.events import Cut, Send, Wait
from faultwire.mitm.flow import response


def test_every_state_is_one_of_mitmproxy_s() -> None:
    ours = {name for name in vars(response.Responder) if name.startswith("state_")}
    assert ours
    assert ours - {"state_socket"} <= set(dir(HttpStream))


def test_what_goes_at_once_ends_at_the_first_wait() -> None:
    wait, later = Wait(1.0), Send(b"later")
    rest = iter([Send(b"a"), Send(b"b"), wait, later])
    assert response._at_once(rest) == ([Send(b"a"), Send(b"b")], wait)
    assert list(rest) == [later], "what follows is not asked for yet"
    assert response._at_once(iter([Cut(clean=True)])) == ([], Cut(clean=True))
