"""`faultwire.cli.tape_import`, and how `tape show` prints what it brought: `faultwire.cli._tape_foreign`."""

from __future__ import annotations

import hashlib
import hmac
import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from mitmproxy import http
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow
from tests.unit.tape.import_ import made

from faultwire.cli import main
from faultwire.cli._tape_foreign import entry, lines
from faultwire.cli.tape_import import READERS
from faultwire.history import Recorded
from faultwire.tape.read.reader import Foreign, TapeReader


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["tape", *args])


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_har_becomes_a_sealed_tape() -> None:
    Path("x.har").write_bytes(made.har(made.entry()))
    done = run("import", "x.har", "-o", "web")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        ".faultwire/tapes/web.tape: 1 exchange in 1 session from har, sealed",
        "  evidence NON_AUTHORITATIVE",
    ]
    assert Path(".faultwire/.gitignore").read_text() == "*\n"  # there is a private key beside it now
    assert run("verify", "web").exit_code == 0
    shown = run("show", "web", "--session", "page_1").stdout
    assert "user       hi" in shown
    assert "assistant  hello" in shown
    digest = made.sha(Path("x.har").read_bytes())
    assert run("export", "web", "-o", "t.jsonl").exit_code == 0
    settings = json.loads(Path("t.jsonl").read_text().splitlines()[1])
    assert json.loads(settings["settings"]) == {
        "imported": "har",
        "imported_file": "x.har",
        "imported_sha256": digest,
    }


def test_findings_are_printed_and_make_the_exit_code_1() -> None:
    log = made.old_log(*made.OLD_EVENTS)
    log[2]["payload"] = {"tool_name": "rm\x1b[31m", "args": "-rf"}
    Path("log.jsonl").write_bytes(made.lines(log))
    done = run("import", "log.jsonl", "-o", "log.tape", "--format", "json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["from"], told["events"], told["ok"]) == ("agentops", 6, False)
    assert [(one["code"], one["note"]) for one in told["findings"]] == [
        ("agentops_payload_mismatch", False),
        ("agentops_seal_missing", True),
    ]
    done = run("show", "log.tape")
    shown = done.stdout
    assert done.exit_code == 1
    assert "bad on the tape: agentops_payload_mismatch: " in done.stderr
    assert "note on the tape: agentops_seal_missing: " in done.stderr
    assert "events of session s-1, as reported by agentops v0.6" in shown
    assert "\x1b" not in shown
    assert "  user       look it up" in shown
    assert '  tool       search answered: {"hits":2}' in shown
    listed = json.loads(run("show", "log.tape", "--format", "json").stdout)
    assert [one["event"] for one in listed] == [kind for kind, _ in made.OLD_EVENTS]


GAP, DROP = "has number 3, expected 2", "says that 4 events are missing"


def imported(kind: str) -> None:
    """`t`, a tape of a log that is `sound`, with an event `cut out`, or with a `drop` that it declares."""
    log = made.old_log(*made.OLD_EVENTS)
    if kind == "cut out":
        log.pop(2)
    if kind == "drop":
        events = [*made.OLD_EVENTS[:2], ("LOG_DROP", {"dropped_count": 4}), *made.OLD_EVENTS[2:]]
        log = made.old_log(*events)
    Path("log.jsonl").write_bytes(made.lines(log))
    run("import", "log.jsonl", "-o", "t")


@pytest.mark.parametrize(("kind", "words"), [("cut out", GAP), ("drop", DROP), ("sound", "")])
def test_every_command_that_reads_the_tape_repeats_the_findings(kind: str, words: str) -> None:
    imported(kind)
    code = 0 if kind == "sound" else 1
    done = run("verify", "t")
    assert (done.exit_code, words in done.stdout) == (code, True)
    done = run("show", "t")
    assert (done.exit_code, words in done.stderr, "bad on the tape" in done.stderr) == (code, True, code == 1)
    done = run("export", "t", "--to", "bundle", "-o", "t.json")
    assert (done.exit_code, "does not verify: the findings are in t.json" in done.stderr) == (code, code == 1)
    bundle = json.loads(Path("t.json").read_text())
    assert any(words in one["message"] for one in bundle["findings"]) == (code == 1)
    assert any(words in one["why"] for one in bundle["gaps"]) == (code == 1)
    assert bundle["evidence"]["verifies"] == (code == 0)
    assert run("export", "t", "--to", "pdf", "-o", "t.pdf").exit_code == code
    assert run("export", "t", "--to", "har", "-o", "t.har").exit_code == 0


def test_the_bundle_holds_the_imported_events() -> None:
    imported("sound")
    assert run("export", "t", "--to", "bundle", "-o", "t.json").exit_code == 0
    bundle = json.loads(Path("t.json").read_text())
    events = bundle["imported_events"]
    assert [(one["number"], one["kind"]) for one in events] == [
        (number, kind) for number, (kind, _) in enumerate(made.OLD_EVENTS)
    ]
    assert {(one["session"], one["source"]) for one in events} == {("s-1", "agentops v0.6")}
    assert events[1]["at"] == "2026-01-02T03:04:01.000Z"
    with TapeReader.open(Path(".faultwire/tapes/t.tape")) as tape:
        held = [made.sha(one.data) for one in tape.foreign()]
    assert [one["bodies"][0]["sha256"] for one in events] == held
    assert [(one["code"], one["bad"]) for one in bundle["notes"]] == [("agentops_seal_missing", False)]


def test_flows_and_tracefork() -> None:
    with Path("x.flows").open("wb") as out:
        writer = FlowWriter(out)
        writer.add(tflow.tflow(resp=http.Response.make(201, b"made")))
        writer.add(tflow.ttcpflow())
        writer.add(tflow.twebsocketflow())
    done = run("import", "x.flows", "-o", "f")
    assert done.exit_code == 0, done.output
    assert "2 exchanges in 1 session from flows" in done.stdout
    assert "note flows_not_http: 1 flows of type tcp are left out" in done.stdout
    shown = json.loads(run("show", "f", "--exchange", "2", "--format", "json").stdout)
    assert [one["data"] for one in shown["messages"]] == ["hello binary", "hello text", "it's me"]
    made.sqlite_tape(Path("t.sqlite"))
    digest = made.tracefork_digest(made.DRAWS, made.CALLS, made.TOOLS)
    assert run("import", "t.sqlite", "-o", "ok", "--digest", digest[:16]).exit_code == 0
    assert run("import", "t.sqlite", "-o", "bad", "--digest", "0" * 64).exit_code == 1
    assert run("import", "x.flows", "-o", "no", "--digest", digest).exit_code == 2


def exchanges(name: str) -> list[Recorded]:
    with TapeReader.open(Path(f".faultwire/tapes/{name}.tape")) as tape:
        return list(tape.exchanges())


def test_the_host_of_a_tracefork_tape() -> None:
    made.sqlite_tape(Path("t.sqlite"))

    def hosts(*options: str) -> set[str]:
        done = run("import", "t.sqlite", "-o", f"t{len(options)}", *options)
        assert done.exit_code == 0, done.output
        return {one.request.host for one in exchanges(f"t{len(options)}") if one.kind == "llm"}

    assert hosts() == {"api.openai.com"}
    assert hosts("--host", "LLM.test") == {"llm.test"}
    for wrong in ("a b", "-x", "https://x", "x:1", ""):
        refused = run("import", "t.sqlite", "-o", "no", "--host", wrong)
        assert (refused.exit_code, "expected a host name" in refused.output) == (2, True)
    Path("x.har").write_bytes(made.har(made.entry()))
    assert run("import", "x.har", "-o", "no", "--host", "llm.test").exit_code == 2


def test_a_recorded_429_stays_one() -> None:
    Path("t").write_bytes(made.envelope(7))
    assert run("import", "t", "-o", "new").exit_code == 0
    Path("u").write_bytes(made.envelope(6))  # without statuses they are taken for 200
    assert run("import", "u", "-o", "old").exit_code == 0
    statuses = [
        [one.delivered.status for one in exchanges(name) if one.delivered][:2] for name in ("new", "old")
    ]
    assert statuses == [[429, 200], [200, 200]]


def test_what_cannot_be_read_or_written() -> None:
    Path("noise").write_bytes(b"noise")
    for data, options in ((b"noise", ()), (b"{}", ("--from", "har")), (b"{}", ("--from", "flows"))):
        Path("noise").write_bytes(data)
        failed = run("import", "noise", "-o", "n", *options)
        assert failed.exit_code == 3, failed.output
    assert run("import", "none", "-o", "n").exit_code == 2
    Path("x.har").write_bytes(made.har(made.entry()))
    assert run("import", "x.har", "-o", "bad name!").exit_code == 2
    assert run("import", "x.har", "-o", "n").exit_code == 0
    assert run("import", "x.har", "-o", "n").exit_code == 2
    again = run("import", ".faultwire/tapes/n.tape", "-o", "m")
    assert (again.exit_code, "a tape already" in again.output) == (2, True)


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("LLM_CALL", {"prompt_hash": "ab", "model_id": "m"}, '  {"prompt_hash":"ab","model_id":"m"}'),
        ("LLM_RESPONSE", {"content": "four"}, "  assistant  four"),
        ("TOOL_CALL", {"tool_name": "add", "args": [1]}, "  assistant  calls add [1]"),
        ("TOOL_ERROR", {"error_message": "no"}, "  tool       no"),
        ("ERROR", "plain", "  plain"),
    ],
)
def test_the_text_of_an_event(kind: str, payload: object, expected: str) -> None:
    data = json.dumps({"payload": payload}).encode()
    one = Foreign("s", "agentops ELS 1.0", kind, None, 0, data)
    first, *rest = lines(one)
    assert first == f"-  {kind}  1970-01-01T00:00:00.000Z"
    assert [line.replace(" " * 13, "  ") for line in rest] == [expected]
    assert entry(one)["payload"] == payload
    assert list(lines(Foreign("s", "x", "ERROR", 1, None, b"\xff")))[1].strip() == r"\xff"


def test_the_key_of_a_logs_hmac_comes_from_a_file() -> None:
    before = made.new_log(*made.NEW_EVENTS)
    signed = hmac.new(b"k" * 16, before[-1]["event_hash"].encode(), hashlib.sha256).hexdigest()
    Path("log.jsonl").write_bytes(
        made.lines(made.new_log(*made.NEW_EVENTS, ("CHAIN_SEAL", {"hmac": signed})))
    )
    Path("right").write_text("k" * 16 + "\n")
    Path("wrong").write_text("another key")
    Path("empty").write_text("\n")
    assert run("import", "log.jsonl", "-o", "a", "--hmac-key", "right").exit_code == 0
    done = run("import", "log.jsonl", "-o", "b", "--hmac-key", "wrong")
    assert done.exit_code == 1
    assert "bad agentops_hmac_mismatch" in done.stdout
    assert run("import", "log.jsonl", "-o", "c", "--hmac-key", "empty").exit_code == 2
    assert run("import", "log.jsonl", "-o", "c", "--hmac-key", "nowhere").exit_code == 2
    Path("x.har").write_bytes(made.har(made.entry()))
    assert run("import", "x.har", "-o", "c", "--hmac-key", "right").exit_code == 2
    assert not Path(".faultwire/tapes/c.tape").exists()


def test_every_format_has_a_reader() -> None:
    assert {"har", "flows", "tracefork", "agentops"} == set(READERS)
    for module in READERS.values():
        assert callable(import_module(module).read)


def test_a_files_format_is_not_how_the_result_is_printed() -> None:
    done = CliRunner().invoke(main, ["tape", "import", "x.har", "-o", "t", "--format", "har"])
    assert done.exit_code == 2
    assert "found `--format har`, expected `terminal` or `json`" in done.stderr
    assert "`--from har` names the file's format" in done.stderr
    done = CliRunner().invoke(main, ["tape", "import", "x.har", "-o", "t", "--format", "xml"])
    assert "`xml` is not one of `terminal`, `json`" in done.stderr


def test_a_tapes_other_format_is_named_by_to_or_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.har").write_bytes(made.har(made.entry()))
    assert CliRunner().invoke(main, ["tape", "import", "x.har", "-o", "t"]).exit_code == 0
    for option in ("--to", "--format"):
        done = CliRunner().invoke(main, ["tape", "export", "t", option, "har", "-o", f"t{option}.har"])
        assert done.exit_code == 0, done.output
    texts = [Path(f"t{option}.har").read_text() for option in ("--to", "--format")]
    assert texts[0] == texts[1]
    assert len(json.loads(texts[0])["log"]["entries"]) == 1
