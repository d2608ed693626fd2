"""`faultwire.tape.export.questions` and `question_evidence`: no sentence beyond the tape it is about."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.tape.conftest import JSON, LINE, Deck
from tests.unit.tape.import_ import made as logs

from faultwire.cli import main
from faultwire.cli.tape_formats import FRAMEWORKS
from faultwire.events import Response
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.export import bundle, personal_data, questions
from faultwire.tape.export.question_evidence import IN_PART, NOT, SHOWN, evidence
from faultwire.tape.files import erase as erasing
from faultwire.tape.files.copy import clone
from faultwire.tape.import_ import agentops
from faultwire.tape.import_._api import store
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("shop", b"s" * 32)
MAIL = b'{"to":"jane.doe@firm.org"}'


def recorded(path: Path, kind: str = "sound") -> Path:
    """A tape that is sound but for one thing."""
    signer = None if kind == "unsealed" else KEY
    settings = {"redact": {"pii": True}} if kind == "redacted" else {}
    writer = TapeWriter.create(path, origin="shop/t", settings=settings, key=b"k" * 32, signer=signer)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    deck = Deck(path, writer)
    if kind != "no exchange":
        one = deck.begin(MAIL if kind == "personal data" else b"{}")
        one.upstream_head(Response(200, "OK", JSON))
        one.upstream_chunk(b"\xff\xfe" if kind == "not text" else b'{"ok":1}')
        if kind == "reset":
            one.end("reset", "connection reset", ())
        else:
            one.end("complete", None, (LINE,) if kind == "faults" else ())
    if kind == "dropped":
        writer.drop(deck.begin().exchange, "the queue was full")
    if kind != "session open":
        writer.close_session("s")
    writer.close()
    return path


def found(path: Path, key: SignerKey = KEY) -> dict[str, Any]:
    made = bundle.bundle(path, (key.verifier,))
    made["personal_data"] = personal_data.report(path)
    return made


def states(path: Path, key: SignerKey = KEY) -> dict[str, str]:
    return {name: one["state"] for name, one in evidence(found(path, key)).items()}


def says(path: Path, name: str) -> str:
    text = evidence(found(path))[name]["says"]
    assert isinstance(text, str)
    return text


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tapes").mkdir()
    return tmp_path / "tapes" / "t.tape"


def test_control_a_sound_tape_shows_what_it_can(place: Path) -> None:
    assert states(recorded(place)) == {
        "recorded": SHOWN,
        "times": SHOWN,
        "participants": IN_PART,
        "integrity": SHOWN,
        "completeness": SHOWN,
        "faults": NOT,
        "secrets": IN_PART,
        "personal_data": IN_PART,
        "retention": NOT,
    }
    assert "under a seal" not in says(place, "integrity")
    assert says(place, "completeness") == "No missing exchange and no connection past the proxy is known."


@pytest.mark.parametrize(
    ("kind", "name", "state", "not_said"),
    [
        ("unsealed", "integrity", IN_PART, "sealed by a trusted key"),
        ("unsealed", "completeness", IN_PART, "No missing exchange"),
        ("dropped", "completeness", IN_PART, "No missing exchange"),
        ("reset", "completeness", IN_PART, "No missing exchange"),
        ("session open", "completeness", IN_PART, "No missing exchange"),
        ("session open", "times", IN_PART, "its start and end"),
        ("no exchange", "recorded", NOT, "recorded 0"),
        ("no exchange", "times", NOT, "its start"),
        ("no exchange", "participants", NOT, "Sessions name"),
        ("no exchange", "completeness", NOT, "No missing exchange"),
        ("personal data", "personal_data", IN_PART, "no personal data"),
        ("faults", "faults", IN_PART, "No fault"),
    ],
)
def test_a_sentence_is_not_said_of_a_tape_for_which_it_is_false(
    place: Path, kind: str, name: str, state: str, not_said: str
) -> None:
    recorded(place, kind)
    assert states(place)[name] == state
    assert not_said not in says(place, name)


def test_a_changed_tape_shows_nothing(place: Path) -> None:
    recorded(place)
    place.chmod(0o600)
    with closing(sqlite3.connect(place)) as rows, rows:
        rows.execute("DELETE FROM blobs")
    assert set(states(place).values()) == {NOT}
    for framework in FRAMEWORKS:
        answers = questions.answered(framework, found(place))["questions"]
        assert {one["answer"] for one in answers} == {NOT}, framework
    assert evidence(found(place))["integrity"]["references"][0] == "finding 0"


def test_a_stranger_s_seal_is_no_trusted_one(place: Path) -> None:
    assert states(recorded(place), SignerKey("shop", b"o" * 32))["integrity"] == NOT


def test_what_was_imported_or_copied_is_not_what_the_proxy_recorded(place: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(logs.lines(logs.old_log(*logs.OLD_EVENTS)))
    store(agentops.read(tmp_path / "log"), place, "agentops", "p/t", KEY)
    assert states(place)["recorded"] == states(place)["completeness"] == NOT
    assert "did not record" in says(place, "recorded")
    copy = place.with_name("copy.tape")
    clone(recorded(place.with_name("own.tape")), copy, "shop/c", KEY)
    assert (states(copy)["recorded"], states(copy)["completeness"]) == (IN_PART, IN_PART)


def test_an_erasure_is_listed_and_takes_from_integrity(place: Path) -> None:
    recorded(place)
    assert states(place)["retention"] == NOT  # control
    erasing.erase(place, list(erasing.bodies(place, lambda _: True)), "asked", "ops", KEY)
    assert states(place)["retention"] == states(place)["integrity"] == IN_PART
    assert "the others were erased" in says(place, "integrity")
    assert "2 bodies were erased from this file" in says(place, "retention")
    assert "2 bodies could not be looked at" in says(place, "personal_data")
    assert found(place)["erasures"][0]["by"] == "ops"


def test_a_file_seal_that_is_gone_keeps_a_tape_from_being_complete(place: Path) -> None:
    recorded(place)
    seal_path(place).unlink()
    assert states(place)["completeness"] == IN_PART


def test_personal_data_has_kinds_places_and_severities_but_no_values(place: Path) -> None:
    recorded(place, "personal data")
    about = personal_data.report(place)
    (one,) = about["found"]
    assert (one["kind"], one["count"], about["redacted"]) == ("email", 1, False)
    assert one["severity"] in personal_data.SEVERITIES
    assert (one["places"][0]["exchange"], one["places"][0]["part"]) == (1, "body")
    assert "jane" not in json.dumps(about)
    assert "was off" in says(place, "personal_data")
    other = recorded(place.with_name("r.tape"), "redacted")
    assert personal_data.report(other)["found"] == []
    assert "was on" in says(other, "personal_data")


def test_a_body_that_is_no_text_is_counted(place: Path) -> None:
    assert len(personal_data.report(recorded(place, "not text"))["not_text"]) == 1
    assert "1 body could not be looked at" in says(place, "personal_data")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_question_has_its_parts_and_refers_to_what_is_there(place: Path, framework: str) -> None:
    made = found(recorded(place, "faults"))
    asked = tomllib.loads((questions.FOLDER / f"{framework}.toml").read_text())["question"]
    answers = questions.answered(framework, made)["questions"]
    assert len(answers) == len(asked) > 0
    exchanges = {f"exchange {one['session']}/{one['exchange']}" for one in made["exchanges"]}
    for question, one in zip(asked, answers, strict=True):
        assert one["question"].endswith("?")
        assert one["beyond"].endswith(".")
        assert one["who"]
        assert one["answer"] in (IN_PART, NOT) or question["at_most"] == SHOWN
        for piece in one["evidence"]:
            assert all(ref in exchanges or ref.startswith(("event ", "gap ")) for ref in piece["references"])


def test_there_is_a_file_for_each_framework_and_no_other() -> None:
    assert sorted(path.stem for path in questions.FOLDER.iterdir()) == sorted(FRAMEWORKS)


def test_a_question_without_evidence_is_not_shown(place: Path) -> None:
    answers = questions.answered("pci-dss", found(recorded(place)))["questions"]
    by_article = {one["article"]: one["answer"] for one in answers}
    assert (by_article["10.6"], by_article["10.3.4"], by_article["10.2"]) == (NOT, SHOWN, IN_PART)


def test_the_command_writes_both(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recorded(place, "personal data")
    words = [
        "tape",
        "export",
        str(place),
        "--to",
        "bundle",
        "-o",
        "b.json",
        "--for",
        "gdpr",
        "--for",
        "soc-2",
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1, done.output  # the project does not trust the key
    made = json.loads((tmp_path / "b.json").read_text())
    assert [one["framework"] for one in made["frameworks"]] == ["gdpr", "soc-2"]
    done = CliRunner().invoke(main, ["tape", "export", str(place), "--to", "personal-data", "-o", "p.json"])
    assert done.exit_code == 0, done.output
    assert "1 kinds of personal data" in done.output
    done = CliRunner().invoke(main, ["tape", "export", str(place), "--to", "har", "-o", "h", "--for", "gdpr"])
    assert "expected `bundle` with `--for`" in done.output
