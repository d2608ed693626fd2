from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Close, Request, Response, Send
from faultwire.faults.stream.websocket_close import NEVER_SENT, WebsocketClose

UPGRADE = Request("GET", "https", "api.test", 443, "/v1/realtime", (("upgrade", "websocket"),))
SWITCH = Response(101, "Switching Protocols", (("upgrade", "websocket"),))


def test_the_session_is_closed_after_its_messages(run, web, dice):
    fault = WebsocketClose(code=4008, after_messages=2, reason="slow")
    mutator = fault.start(replace(web, request=UPGRADE), dice())
    out = run(mutator, web, [b"a", b"b", b"c"])
    assert out[:3] == [Send(b"a"), Send(b"b"), Close(4008, "slow")]
    assert mutator.effect == "closed with 4008 after 2 messages"


def test_a_session_that_ends_before_is_left_alone(run, web, dice):
    mutator = WebsocketClose(after_messages=3).start(replace(web, request=UPGRADE), dice())
    assert run(mutator, web, [b"a", b"b"]) == [Send(b"a"), Send(b"b")]
    assert mutator.effect is None


def test_where_it_cannot_act(web, chat):
    asked = replace(web, request=UPGRADE)
    fault = WebsocketClose()
    assert fault.inapplicable(asked) is None
    assert fault.inapplicable(replace(asked, response=SWITCH)) is None
    refused = replace(asked, response=Response(200, "OK"))
    assert fault.inapplicable(refused) == "the response opens no WebSocket"
    assert fault.inapplicable(chat()) == "the request asks for no WebSocket"


@pytest.mark.parametrize("code", [999, 5000, *NEVER_SENT])
def test_codes_that_no_frame_may_hold(code):
    with pytest.raises(ValidationError):
        WebsocketClose(code=code)


def test_a_connection_that_ends_without_a_code_is_another_fault():
    with pytest.raises(ValidationError, match="use `close`"):
        WebsocketClose(code=1006)
