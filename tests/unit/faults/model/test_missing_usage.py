from __future__ import annotations

from faultwire.faults.model.missing_usage import MissingUsage

USAGE = b'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'


def test_usage_is_gone_and_nothing_else(model, answer, text_stream):
    view, effect, _ = model(MissingUsage(), answer)
    assert (view.usage, view.text) == (None, "one two three four five six seven")
    assert effect == "usage removed"
    stream = [*text_stream[:-1], USAGE, text_stream[-1]]
    view, effect, raw = model(MissingUsage(), stream)
    assert view.usage is None
    assert raw == b"".join(text_stream)
    assert effect == "usage removed"


def test_where_none_was_declared_none_is_missed(model, text_stream):
    _, effect, raw = model(MissingUsage(), text_stream)
    assert (effect, raw) == (None, b"".join(text_stream))
