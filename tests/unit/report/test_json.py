import json

from faultwire.report.json import render


def test_it_is_ascii_and_comes_back(make_document):
    document = make_document(answer_calm="391 \x1b[2J \u202e \udc80 日本")
    text = render(document)
    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text) == document
