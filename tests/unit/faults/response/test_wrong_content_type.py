from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Response, Send, header
from faultwire.faults.response.wrong_content_type import WrongContentType


def test_only_the_label_changes(run, web, dice):
    mutator = WrongContentType().start(web, dice())
    head = mutator.head(Response(200, "OK", (("Content-Type", "application/json"), ("x-a", "b"))))
    assert head.headers == (("Content-Type", "text/html"), ("x-a", "b"))
    assert run(mutator, web, [b"{}"], "bytes") == [Send(b"{}")]
    assert mutator.effect == "labelled `text/html`"


def test_a_missing_label_is_added(web, dice):
    head = WrongContentType(type="text/plain; charset=utf-8").start(web, dice()).head(Response(200))
    assert header(head.headers, "content-type") == "text/plain; charset=utf-8"


def test_the_same_label_is_no_fault(web, dice):
    mutator = WrongContentType(type="text/html").start(web, dice())
    mutator.head(Response(200, "OK", (("content-type", "text/html"),)))
    assert mutator.effect is None


@pytest.mark.parametrize("label", ["", "html", "a/b\r\nx: y", "a/b; c", "a b/c"])
def test_a_label_is_one(label):
    with pytest.raises(ValidationError):
        WrongContentType(type=label)
