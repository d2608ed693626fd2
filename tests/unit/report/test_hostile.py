"""Whatever an agent prints and a server answers: every face is made, small, whole and inert."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from tests.unit.report.hostile import EVERY, INVALID, STEERING

from faultwire.events import Delivery
from faultwire.report import faces
from faultwire.report.schema import problems

FLOODS = ("<" * 50_000_000, "\n" * 50_000_000, "\x1b[31m" * 10_000_000, "漢" * 16_000_000, "`|" * 25_000_000)


@pytest.fixture
def faced(make_document):
    def make(**changes):
        document = make_document(**changes)
        return document, {face: faces.render(document, face) for face in faces.NAMES}

    return make


@pytest.mark.parametrize("flood", FLOODS, ids=lambda text: ascii(text[:2]))
def test_fifty_megabytes_make_small_reports(faced, flood):
    _, made = faced(answer_cut=flood, stderr=flood)
    sizes = {face: len(text.encode()) for face, text in made.items()}
    assert max(sizes.values()) < 1_000_000, sizes


def test_a_prompt_as_long_as_that_is_cut_too(faced):
    _, made = faced(prompt="x" * 50_000_000)
    assert max(map(len, made.values())) < 300_000


@pytest.mark.parametrize("text", [*EVERY, "\n".join(EVERY)], ids=lambda text: ascii(text[:20]))
def test_every_face_is_whole_and_inert(faced, text):
    document, made = faced(
        answer_cut=text, answer_calm=f"391 {text}", stderr=text, prompt=text, about={"agent": text}
    )
    assert json.loads(made["json"]) == json.loads(json.dumps(document))
    assert made["json"].isascii()
    assert len(list(ET.fromstring(made["junit"]).iter("testcase"))) == 6 + 1  # the cells and the gate
    for face in ("html", "junit", "md"):
        assert not STEERING & set(made[face])
    assert problems(document) == []


def test_invalid_text_is_replaced(make_document, make_recorded, monkeypatch):
    """Bodies, streams and headers as they came from the network."""
    kept = make_document()
    said = Delivery(200, "\xff\xfe", (("content-type", "application/json\xff"), ("\xff", "\xfe")), INVALID)
    stream = Delivery(200, "OK", (("content-type", "text/event-stream"),), b"data: " + INVALID + b"\n\n")
    from faultwire.report.exchange import exchange_part

    for delivery in (said, stream):
        exchange = replace(make_recorded(1, "calm/p1/r1"), upstream=delivery, delivered=delivery)
        request = replace(exchange.request, body=INVALID)
        part = exchange_part(replace(exchange, request=request), 0, replace(request, body=b"\xff"))
        kept["invocations"][0]["exchanges"] = [part]
        assert problems(kept) == []
        for face in faces.NAMES:
            text = faces.render(kept, face)
            assert text.encode("utf-8")
            assert not STEERING & set(text)


def test_json_survives_what_a_terminal_would_not(faced):
    document, made = faced(answer_cut="\x1b[2J\u202e\udcff")
    answer = json.loads(made["json"])["invocations"][1]["answer"]
    assert answer == document["invocations"][1]["answer"] == "\x1b[2J\u202e\ufffd"
