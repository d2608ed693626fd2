"""replay(record(x)) == x, in any order."""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from pathlib import Path

import orjson
from hypothesis import HealthCheck, given, settings, strategies as st

from faultwire.events import Exchange, Headers, Request, Response
from faultwire.replay.answer import Answer
from faultwire.replay.player import Player
from faultwire.replay.reader import index
from faultwire.replay.rebind import Rebinder
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor

KEY = b"k" * 32
JSON: Headers = (("content-type", "application/json"),)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)
ASKED = st.fixed_dictionaries(
    {"model": st.sampled_from(["m", "n"]), "prompt": st.one_of(WORDS, st.integers(-(2**53), 2**53))}
)
PIECES = st.lists(st.binary(min_size=1, max_size=40), max_size=5)
CALLS = st.lists(st.tuples(ASKED, st.sampled_from([200, 400, 529]), PIECES), min_size=1, max_size=8)


def request(asked: object) -> Request:
    return Request("POST", "https", "api.x.com", 443, "/v1/things", JSON, orjson.dumps(asked))


def question(asked: Request) -> bytes:
    """What is asked: members of JSON have no order."""
    return orjson.dumps(orjson.loads(asked.body or b""), option=orjson.OPT_SORT_KEYS)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CALLS, st.integers(0, 2**16), st.booleans())
def test_what_was_recorded_comes_back(
    calls: list[tuple[dict[str, object], int, list[bytes]]], order: int, rebinds: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = TapeWriter.create(Path(folder) / "t.tape", origin="p/t", settings={}, key=KEY)
        writer.open_session("exec", profile="", profile_digest="", seed=1, agent="")
        expected: dict[bytes, list[tuple[int, list[bytes]]]] = defaultdict(list)
        for number, (asked, status, pieces) in enumerate(calls, 1):
            sent = request(asked)
            recording = writer.record(Exchange("exec", number, sent))
            recording.request(sent)
            recording.upstream_head(Response(status, "", (("x-n", str(number)),)))
            for piece in pieces:
                recording.upstream_chunk(piece)
            recording.end("complete")
        writer.close_session("exec")
        writer.close()
        with TapeReader.open(Path(folder) / "t.tape") as tape:
            for one in tape.exchanges():
                assert one.delivered is not None
                ends = [end for end, _ in one.delivered.chunks]
                starts = [0, *ends]
                found = [one.delivered.body[a:b] for a, b in zip(starts, ends, strict=False)]
                expected[question(one.request)].append((one.delivered.status, found))
            player = Player(index(tape), Redactor(KEY), Rebinder() if rebinds else None)
            shuffled = [asked for asked, _, _ in calls]
            random.Random(order).shuffle(shuffled)
            for asked in shuffled:
                answer = player.play(request(asked))
                assert isinstance(answer, Answer)
                status, pieces = expected[question(request(asked))].pop(0)
                assert (answer.status, [data for data, _ in answer.chunks]) == (status, pieces)
            for asked in shuffled:
                assert not isinstance(player.play(request(asked)), Answer)
        report = player.report()
    assert (report["served"], report["missed"], report["left"]) == (len(calls), len(calls), 0)
