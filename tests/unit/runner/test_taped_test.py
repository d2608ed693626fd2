"""What the mark of the pytest plugin asks for. (`faultwire.pytest` itself runs in tests/e2e/pytest.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import TapeNotFound, TapeTampered, UsageError
from faultwire.events import Exchange, Request, Response
from faultwire.runner.taped_test import MODES, SEAL, SESSION, Asked, _grown, asked
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import check_name
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

HERE = Path("/suite/test_booking.py")


def of(*args: Any, overruled: str | None = None, name: str = "test_a", **kwargs: Any) -> Asked:
    return asked(args, kwargs, overruled=overruled, name=name, path=HERE)


def test_a_tape_lives_beside_the_test() -> None:
    assert of("monday").tape == Path("/suite/tapes/monday.tape")
    assert of(tape="monday").tape == Path("/suite/tapes/monday.tape")
    assert of("data/monday.tape").tape == Path("/suite/data/monday.tape")
    assert of("monday.tape").tape == Path("/suite/monday.tape")
    assert of(tape=Path("/elsewhere/x.tape")).tape == Path("/elsewhere/x.tape")


@pytest.mark.parametrize("name", ["test_a", "test_a[x/y-π]", "test_" + "long" * 40])
def test_a_tape_without_a_name_has_its_test_s(name: str) -> None:
    tape = of(name=name).tape
    assert tape is not None
    check_name(tape)
    assert tape.parent == Path("/suite/tapes")
    assert tape != of(name=name + "2").tape
    assert tape != of(name=name.replace("π", "ρ") + " ").tape  # noqa: RUF001


def test_a_faulted_test_has_a_tape_only_where_it_names_one() -> None:
    assert of(profile="calm").tape is None
    assert of(fault="status: {code: 503}").tape is None
    assert of("monday", fault=["status: {code: 503}"]).tape == Path("/suite/tapes/monday.tape")


@pytest.mark.parametrize("given", [None, *MODES])
@pytest.mark.parametrize("overruled", [None, *MODES])
def test_the_option_overrules_the_mark(given: str | None, overruled: str | None) -> None:
    assert of(overruled=overruled, record=given).record == (overruled or given or "once")


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("record", "replays", "writes"),
    [
        ("none", (True, True), (False, False)),
        ("once", (False, True), (True, False)),
        ("new_episodes", (False, True), (True, True)),
        ("all", (False, False), (True, True)),
    ],
)
def test_vcr_s_words(
    record: Any, replays: tuple[bool, bool], writes: tuple[bool, bool], exists: bool, tmp_path: Path
) -> None:
    tape = tmp_path / "t.tape"
    if exists:
        tape.touch()
    wanted = Asked(tape=tape, record=record)
    assert (wanted.replays, wanted.writes) == (replays[exists], writes[exists])
    if exists:
        replay = wanted.replay()
        assert (replay is not None) == wanted.replays
        assert replay is None or replay.offline == (record != "new_episodes")


def test_none_demands_a_tape(tmp_path: Path) -> None:
    with pytest.raises(TapeNotFound, match="no tape at") as caught:
        Asked(tape=tmp_path / "t.tape", record="none").replay()
    assert "--faultwire-record once" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("args", "kwargs", "word"),
    [
        (("a", "b"), {}, "expected the tape alone"),
        ((), {"tapes": "x"}, "found `tapes`"),
        ((), {"record": "sometimes"}, "expected one of none, once, new_episodes, all"),
    ],
)
def test_what_is_no_mark(args: Any, kwargs: Any, word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        of(*args, **kwargs)
    assert caught.value.code == "pytest.mark"


def test_an_unknown_argument_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        of(tapes="x")
    assert caught.value.hint == "did you mean `tape`?"


def test_faults_and_profiles_are_one() -> None:
    profile = of(fault=["status: {code: 503}", "latency: {ms: 5}"]).profiled()
    assert [entry.id for entry in profile.entries] == ["status", "latency"]
    assert of().profiled().entries == ()


def tape(path: Path, signer: SignerKey | None, *words: bytes) -> Path:
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32, signer=signer)
    writer.open_session(SESSION, profile="calm", profile_digest="d", seed=7)
    for number, word in enumerate(words, start=1):
        request = Request("POST", "https", "h.example", 443, "/v1", (), word)
        recording = writer.record(Exchange(SESSION, number, request))
        recording.request(request)
        recording.upstream_head(Response(200, "OK", ()))
        recording.end("complete", None, ())
    writer.close_session(SESSION)
    writer.close()
    return path


@pytest.mark.parametrize("seals", [True, False])
def test_new_episodes_keep_what_was_not_asked(tmp_path: Path, seals: bool) -> None:
    """And the whole is sealed as its new part was."""
    keys = KeyRing(tmp_path / "state" / "keys")
    signer = keys.signer_or_new("p")
    old = tape(tmp_path / "t.tape", signer, b"rivers", b"hills")
    new = tape(tmp_path / ".draft" / "t.tape", signer if seals else None, b"rivers", b"lakes")
    before = old.read_bytes()
    grown = _grown(new, old, {"unasked": {SESSION: [2]}, "answered": {}}, tmp_path / "state")
    with TapeReader.open(grown) as reader:
        assert [one.request.body for one in reader.exchanges(SESSION)] == [b"rivers", b"lakes", b"hills"]
    with TapeReader.open(new) as reader:  # which was all that was kept once
        assert [one.request.body for one in reader.exchanges(SESSION)] == [b"rivers", b"lakes"]
    assert grown.with_name(grown.name + SEAL).exists() == seals
    report = verify(grown, keys.trusted(), demanded=seals)
    assert (report.ok, report.trusted) == (True, seals)
    assert old.read_bytes() == before


def test_new_episodes_leave_a_tape_that_was_tampered_with_alone(tmp_path: Path) -> None:
    old = tape(tmp_path / "t.tape", None, b"rivers", b"hills")
    new = tape(tmp_path / ".draft" / "t.tape", None, b"rivers")
    old.write_bytes(old.read_bytes().replace(b"hills", b"mills"))
    before = old.read_bytes()
    with pytest.raises(TapeTampered, match="does not verify"):
        _grown(new, old, {"unasked": {SESSION: [2]}, "answered": {}}, tmp_path)
    assert old.read_bytes() == before
