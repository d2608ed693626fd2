from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Response, Send
from faultwire.faults.stream.split_events import MOST, SplitEvents


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_same_bytes_in_other_pieces(run, chat, text_stream, dice, size):
    mutator = SplitEvents(piece_bytes=size).start(chat(stream=True), dice())
    out = [a.data for a in run(mutator, chat(stream=True), text_stream) if isinstance(a, Send)]
    assert b"".join(out) == b"".join(text_stream)
    assert len(out) <= MOST * len(text_stream)
    assert (mutator.effect is None) == (size == 1000)
    if size == 3:
        assert len(out) > 10 * len(text_stream)


def test_it_comes_after_what_reads_events():
    assert SplitEvents.outermost


def test_only_streams_and_real_pieces(chat):
    whole = Response(200, "OK", (("content-type", "application/json"),))
    assert SplitEvents().inapplicable(chat(stream=True, response=whole)) == "the response is no stream"
    with pytest.raises(ValidationError):
        SplitEvents(piece_bytes=0)
