from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Goaway as Leave, Reset
from faultwire.faults.connection import _frames
from faultwire.faults.connection.goaway import Goaway


def test_the_call_at_hand_is_refused(chat, dice):
    mutator = Goaway().start(chat(), dice())
    assert list(mutator.before()) == [Leave(0, answered=False), Reset(7)]
    assert mutator.effect == "sent GOAWAY (NO_ERROR), and refused the call"
    assert Goaway().final


def test_or_answered(chat, dice):
    fault = Goaway(code="ENHANCE_YOUR_CALM", answered=True)
    mutator = fault.start(chat(), dice())
    assert list(mutator.before()) == [Leave(11, answered=True)]
    assert mutator.effect == "sent GOAWAY (ENHANCE_YOUR_CALM), which leaves the call to be answered"
    assert not fault.final


def test_only_http_2_has_such_a_frame(chat):
    assert "HTTP/1.1" in Goaway().inapplicable(chat())
    assert Goaway().inapplicable(replace(chat(), http2=True)) is None


def test_codes_are_those_of_the_standard():
    assert {name: _frames.CODES[name] for name in ("NO_ERROR", "REFUSED_STREAM", "CANCEL")} == {
        "NO_ERROR": 0,
        "REFUSED_STREAM": 7,
        "CANCEL": 8,
    }
    with pytest.raises(ValidationError):
        Goaway(code="HTTP_1_1_REQUIRED_NOT")
