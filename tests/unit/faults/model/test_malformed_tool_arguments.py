from __future__ import annotations

import json

import pytest

from faultwire.faults.model.malformed_tool_arguments import MalformedToolArguments, mangled

MISTAKES = ("cut", "trailing_comma", "fenced", "prose")


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("arguments", ['{"city": "Paris"}', "{}", ""])
def test_no_parser_reads_them(mistake, arguments):
    with pytest.raises(json.JSONDecodeError):
        json.loads(mangled(arguments, mistake))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_whole_and_streamed(model, calling, tool_stream, mistake):
    for told in (calling, tool_stream):
        view, effect, _ = model(MalformedToolArguments(mistake=mistake), told)
        with pytest.raises(json.JSONDecodeError):
            json.loads(view.tool_calls[0].arguments)
        assert view.tool_calls[0].name == "get_weather"
        assert effect == "tool arguments broken"


def test_no_call_no_fault(model, text_stream):
    _, effect, raw = model(MalformedToolArguments(), text_stream)
    assert (effect, raw) == (None, b"".join(text_stream))
