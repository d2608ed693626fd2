"""`faultwire.tape.import_._api`, with `_clean`, `_source` and `looks` of the same package."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from runpy import run_path

import pytest
from tests.unit.tape.import_ import made

from faultwire.errors import TapeError, TapeNotFound, UsageError
from faultwire.events import Delivery, Message, Request
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import jsonl
from faultwire.tape.files.copy import merge, share
from faultwire.tape.format.events import KINDS
from faultwire.tape.import_ import _api, agentops, har, looks
from faultwire.tape.import_._api import Elsewhere, Event, Exchanged, Found, Item, store
from faultwire.tape.import_._clean import clean, instant, name_of
from faultwire.tape.import_._source import MAX_WHOLE, digest_of, dumped, opened, parsed, whole
from faultwire.tape.read.reader import TapeReader

KEY = SignerKey("p", b"s" * 32)
ASK = Request("POST", "https", "h.example", 443, "/v1", (("content-type", "text/plain"),), b"ask")
SECRET = "sk-" + "a1B2c3D4" * 4


def call(**changed: object) -> Elsewhere:
    answer = Delivery(
        200, "OK", (("x-a", "1"),), b"onetwo", ((3, 2_000_000), (6, 5_000_000)), (("x-t", "z"),)
    )
    told = Elsewhere(ASK, answer, answer, 1_700_000_000_000, 7_000_000)
    return replace(told, **changed)  # type: ignore[arg-type]


def test_the_transcript_is_on_the_tape_with_its_own_instants(tmp_path: Path) -> None:
    path = tmp_path / "t.tape"
    bad = Delivery(503, "No", (), b"bad", ((3, 3_000_000),))
    talk = (Message("client", "text", b"hi", 1, 2), Message("server", "binary", b"\0", 3, None))
    items: list[Item] = [
        Exchanged(call()),
        Exchanged(call(delivered=bad), "other"),
        Exchanged(call(upstream=None, delivered=None, ending="reset", error="gone"), "other"),
        Exchanged(call(messages=talk), "other"),
    ]
    done = store(iter(items), path, "har", "p/t", KEY)
    assert (done.sessions, done.exchanges, done.clean) == (2, 4, True)
    with TapeReader.open(path) as reader:
        assert reader.info().settings == {"imported": "har"}
        first, changed, gone, talked = reader.exchanges()
        infos = {info.name: (info.started_ms, info.ended_ms, info.exchanges) for info in reader.sessions()}
    assert infos == {
        "imported": (1_700_000_000_000, 1_700_000_000_007, 1),
        "other": (1_700_000_000_000, 1_700_000_000_007, 3),
    }
    assert (first.started_ms, first.duration_ms, first.ending) == (1_700_000_000_000, 7.0, "complete")
    assert first.upstream == first.delivered == call().delivered
    assert first.request == ASK
    assert (changed.upstream and changed.upstream.body, changed.delivered) == (b"onetwo", bad)
    assert (gone.upstream, gone.delivered, gone.error) == (None, None, "gone")
    assert talked.messages == talk
    report = verify(path, (KEY.verifier,), demanded=True)
    assert report.ok
    assert (report.imported, report.dump()["class"], report.findings) == ("har", "NON_AUTHORITATIVE", [])


def test_conversations_are_recognised_and_secrets_redacted(tmp_path: Path) -> None:
    source, path = tmp_path / "x.har", tmp_path / "t.tape"
    source.write_bytes(made.har(made.entry()).replace(b"hello", SECRET.encode()))
    store(har.read(source), path, "har", "p/t", KEY)
    with TapeReader.open(path) as reader:
        (one,) = reader.exchanges()
        assert (one.kind, one.protocol, one.provider) == ("llm", "openai_chat", "openai")
        assert one.delivered
        assert b"redacted:v1:" in one.delivered.body
        assert "redacted:v1:" in dict(one.request.headers)["authorization"]
    assert b"a1B2" not in path.read_bytes()


def test_events_and_findings_are_kept_and_both_verifiers_agree(tmp_path: Path) -> None:
    source, path = tmp_path / "log", tmp_path / "t.tape"
    log = made.old_log(*made.OLD_EVENTS)
    log[1]["payload"]["messages"][0]["content"] = f"my key is {SECRET}"
    source.write_bytes(made.lines(log))
    done = store(agentops.read(source), path, "agentops", "p/t", KEY)
    assert (done.events, done.exchanges, done.clean) == (6, 0, False)
    with TapeReader.open(path) as reader:
        told = list(reader.foreign())
        notes = list(reader.notes())
        assert list(reader.exchanges()) == []
    assert [one.kind for one in told] == [kind for kind, _ in made.OLD_EVENTS]
    assert b"redacted:v1:" in told[1].data
    assert [(one.code, one.bad) for one in notes] == [(one.code, not one.note) for one in done.findings]
    report = verify(path, (KEY.verifier,))
    bad = [one.code for one in done.findings if not one.note]
    assert bad
    assert not report.ok
    assert [one.message.partition(":")[0] for one in report.findings] == bad
    assert {one.code for one in report.findings} == {"import_finding"}
    out = io.BytesIO()
    jsonl.write(path, out)
    other = run_path(str(Path(__file__).parents[4] / "docs" / "verify_tape.py"))
    lines = out.getvalue().splitlines(keepends=True)[1:]
    keys = [other["parse_key"](str(KEY.verifier))]
    assert [one["code"] for one in other["verify"](lines, keys).findings] == ["import_finding"] * len(bad)
    assert other["KINDS"] == KINDS
    strange = [line.replace(b'"type":"foreign"', b'"type":"foreigm"') for line in lines]
    with redirect_stdout(io.StringIO()):
        codes = {one["code"] for one in other["verify"](strange, keys).findings}
    assert "record_malformed" in codes


def test_a_file_that_breaks_off_leaves_what_came_before(tmp_path: Path) -> None:
    def broken(count: int) -> Iterator[Item]:
        for _ in range(count):
            yield Exchanged(call())
        raise TapeError("the rest is noise")

    done = store(broken(1), tmp_path / "some.tape", "flows", "p/t", KEY)
    assert (done.exchanges, [one.code for one in done.findings]) == (1, ["import_broken_off"])
    found = verify(tmp_path / "some.tape", (KEY.verifier,)).findings
    assert [one.message for one in found] == [
        "import_broken_off: nothing more can be read: the rest is noise"
    ]
    with pytest.raises(TapeError, match="noise"):
        store(broken(0), tmp_path / "none.tape", "flows", "p/t", KEY)
    assert not (tmp_path / "none.tape").exists()
    assert not seal_path(tmp_path / "none.tape").exists()
    with pytest.raises(UsageError, match="exists"):
        store(broken(1), tmp_path / "some.tape", "flows", "p/t")


def test_a_copy_of_an_import_stays_an_import(tmp_path: Path) -> None:
    one, two, both = (tmp_path / f"{name}.tape" for name in ("one", "two", "both"))
    store(iter([Exchanged(call())]), one, "har", "p/one", KEY)
    store(iter([Exchanged(call()), Event("e", "x", "k", b"{}")]), two, "flows", "p/two", KEY)
    merge([one, two], both, "p/both", KEY)
    share(both, tmp_path / "shared.tape", "p/shared", KEY)
    for path in (both, tmp_path / "shared.tape"):
        report = verify(path, (KEY.verifier,))
        assert report.ok
        assert (report.imported, report.dump()["class"]) == ("har, flows", "NON_AUTHORITATIVE")
        with TapeReader.open(path) as reader:
            assert [foreign.data for foreign in reader.foreign()] == [b"{}"]


def test_findings_are_counted_beyond_a_limit_and_bodies_stop_at_one(tmp_path: Path) -> None:
    found: Iterator[Item] = (Found("x", f"{n}") for n in range(_api.MOST_FINDINGS + 5))
    done = store(found, tmp_path / "a.tape", "har", "p/t")
    assert (len(done.findings), done.more, done.clean) == (_api.MOST_FINDINGS, 5, False)
    endless: Iterator[Item] = iter(lambda: Exchanged(call()), None)
    done = store(endless, tmp_path / "b.tape", "har", "p/t", most_bytes=900)
    assert done.exchanges == 61
    assert done.findings[0].code == "import_broken_off"


def test_names_of_sessions(tmp_path: Path) -> None:
    names = ["a b", "a/b", "a-b", "", "..", "é", "x" * 300, "x" * 200]
    items: Iterator[Item] = iter([Exchanged(call(), name) for name in names])
    store(items, tmp_path / "t.tape", "har", "p/t")
    with TapeReader.open(tmp_path / "t.tape") as reader:
        found = {info.name for info in reader.sessions()}
    assert found == {
        "a-b", "a-b-2", "a-b-3", "imported", "imported-2", "imported-3", "x" * 64, "x" * 56 + "-2",
    }  # fmt: skip
    assert name_of("-.a b.-") == "a-b"


def test_values_out_of_bounds_are_brought_into_them(tmp_path: Path) -> None:
    odd = Delivery(10**9, "r" * 5000, (("ключ", "знач\ud800"),), b"xy", ((9, -5),))
    request = replace(
        ASK, method="", scheme="gopher", port=10**9, path="/" * (1 << 21), headers=(("a", "b"),) * 5000
    )
    wild = call(
        request=request, upstream=odd, delivered=odd, started_ms=10**40, duration_ns=-1, ending="well",
        messages=(Message("client", "text", b"\xff", -1, 10**40),),
    )  # fmt: skip
    tame = clean(wild)
    assert (tame.request.method, tame.request.scheme, tame.request.port) == ("GET", "http", 0)
    assert len(tame.request.headers) == 1000
    assert tame.upstream
    assert tame.upstream is tame.delivered
    assert (tame.upstream.status, tame.upstream.chunks, tame.ending) == (0, ((2, 0),), "complete")
    assert instant(float("nan")) == 0
    store(
        iter([Exchanged(wild), Event("s", "x", "k", b"\xff{", -1, 10**40)]), tmp_path / "t.tape", "har", "p/t"
    )
    assert verify(tmp_path / "t.tape").ok


# ---------------------------------------------------------------- files


def test_opening(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"\xef\xbb\xbfabc")
    assert whole(file) == b"abc"
    with opened(file) as source:
        assert source.read(10 << 30) == b"\xef\xbb\xbfabc"
    assert digest_of(file) == made.sha(b"\xef\xbb\xbfabc")
    with pytest.raises(TapeNotFound):
        opened(tmp_path / "none")
    (tmp_path / "link").symlink_to(file)
    for place in (tmp_path / "link", tmp_path):
        with pytest.raises(TapeError):
            opened(place)
    with (tmp_path / "hole").open("wb") as out:
        out.truncate(MAX_WHOLE + 1)
    with pytest.raises(TapeError, match="expected at most"):
        whole(tmp_path / "hole")


def test_json() -> None:
    assert parsed(b'"\\ud800"') == "\ud800"
    assert parsed(b'"\xff"') == "\ufffd"
    assert parsed(b"123456789012345678901234567890", exact=True) == 123456789012345678901234567890
    for data in (b"", b"{", b"[" * 200_000, b"9" * 10_000):
        with pytest.raises(ValueError, match=r"."):
            parsed(data, exact=True)
    assert dumped({"a": "\ud800", "b": 10**30}) == b'{"a": "\\ud800", "b": 1000000000000000000000000000000}'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'\xef\xbb\xbf {\n "log" : {', "har"),
        (b"1234:9:websocket", "flows"),
        (b"TFTAPE\0\0\6", "tracefork"),
        (b"SQLite format 3\0" + bytes(100), "tracefork"),
        (b'{"boundary": "x", "draws": []', "tracefork"),
        (b'{"seq": 1, "event_type": "SESSION_START"', "agentops"),
        (b'{"export_version": "1.0"', "agentops"),
        (b'[{"event_hash":"', "agentops"),
    ],
)
def test_formats_are_known_by_their_first_bytes(tmp_path: Path, data: bytes, expected: str) -> None:
    (tmp_path / "f").write_bytes(data)
    assert looks.format_of(tmp_path / "f") == expected


def test_what_looks_like_nothing(tmp_path: Path) -> None:
    for data in (b"", b"{}", b"\0" * 100, b"hello"):
        (tmp_path / "f").write_bytes(data)
        with pytest.raises(TapeError, match="no format"):
            looks.format_of(tmp_path / "f")
    store(iter(()), tmp_path / "t.tape", "har", "p/t")
    with pytest.raises(UsageError, match="a tape already"):
        looks.format_of(tmp_path / "t.tape")
