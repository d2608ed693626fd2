"""`faultwire replay` without an engine: `cli.replay`, `_replay_run`, `_replay_export`, `_replay_import`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.tape.import_ import made

from faultwire.cli import main
from faultwire.cli._replay_export import configured, phase_reports, tools_of
from faultwire.cli._replay_import import Origin
from faultwire.cli._replay_run import parts_of
from faultwire.config.load import load
from faultwire.errors import ConfigError, ScenarioError, UsageError
from faultwire.events import Exchange, Request, Response
from faultwire.replay.incident_read import read_file
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

CONFIG = """version: "2.0"
agent: {type: command, command: [agent, "{prompt}"]}
golden_prompts: [hello]
tools: {page: {url: "https://api.openai.com/*"}}
contract: {name: honest, invariants: [output_not_empty], chaos_matrix: [{name: calm}]}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("faultwire.yaml").write_text(CONFIG)
    Path("one.yaml").write_text("id: one\ninput: hi\ncontract: honest\n")
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["replay", *args])


# ---------------------------------------------------------------- run


def test_sessions_of_paths_else_of_the_configuration() -> None:
    config = load("faultwire.yaml")
    (part,) = parts_of(config, [Path("one.yaml")], (), timing=1.0)
    assert [call.id for call in part.phases[0].plan] == ["replay/one/one/r1"]
    assert part.replay is None
    with pytest.raises(ConfigError, match=r"found no session to replay in `faultwire\.yaml`"):
        parts_of(config, [], (), timing=1.0)
    Path("faultwire.yaml").write_text(f"{CONFIG}replays: {{sessions: [{{file: one.yaml}}]}}\n")
    (part,) = parts_of(load("faultwire.yaml"), [], (), timing=1.0)
    assert part.phases[0].prompts[0].id == "one"


def test_a_session_with_a_tape_is_a_part_of_its_own() -> None:
    Path("two.yaml").write_text("id: two\ninput: hi\ncontract: honest\ntape: t.tape\n")
    config = load("faultwire.yaml")
    with pytest.raises(ScenarioError, match=r"found no tape at `t\.tape`"):
        parts_of(config, [Path("one.yaml"), Path("two.yaml")], (), timing=1.0)
    Path("t.tape").write_bytes(b"")
    parts = parts_of(config, [Path("one.yaml"), Path("two.yaml")], (), timing=1.0)
    assert [part.replay is None for part in parts] == [True, False]


def test_the_same_id_in_two_parts_is_refused() -> None:
    Path("two.yaml").write_text("id: one\ninput: hi\ncontract: honest\ntape: one.yaml\n")
    with pytest.raises(ScenarioError, match="found the id `one` again"):
        parts_of(load("faultwire.yaml"), [Path("one.yaml"), Path("two.yaml")], (), timing=1.0)


def test_what_is_not_found_exits_2() -> None:
    done = run("run", "nowhere.yaml")
    assert done.exit_code == 2
    assert "scenario.unreadable: cannot read the session `nowhere.yaml`" in done.stderr
    Path("one.yaml").write_text("id: one\ninput: hi\ncontract: nobody\n")
    done = run("run", "one.yaml")
    assert done.exit_code == 2
    assert "one.yaml: scenario.no_contract: found the contract `nobody`" in done.stderr
    assert run("run", "one.yaml", "--timing", "fast").exit_code == 2


# ---------------------------------------------------------------- export


@pytest.mark.parametrize(
    "arguments",
    [(), ("--from-report", "last", "--from-tape", "t"), ("--from-report", "last", "--input", "hi")],
)
def test_an_export_has_one_origin(arguments: tuple[str, ...]) -> None:
    done = run("export", *arguments, "-o", "out")
    assert done.exit_code == 2
    assert "usage.origin" in done.stderr


def test_a_report_that_is_not_there() -> None:
    assert run("export", "--from-report", "nowhere", "-o", "out").exit_code == 2
    assert not Path("out").exists()


def test_the_configuration_of_a_run_is_found() -> None:
    assert configured(Path()) is None
    Path("run.json").write_text(json.dumps({"config": "faultwire.yaml"}))
    assert configured(Path()) == Path("faultwire.yaml")
    assert list(tools_of(configured(Path()))) == ["page"]
    Path("run.json").write_text(json.dumps({"config": "gone.yaml"}))
    assert configured(Path()) is None
    Path("run.json").write_text("[1]")
    assert configured(Path()) is None
    assert tools_of(None) == {}


RUN = Path(".faultwire/runs/20260101T000000Z-0a1b2c3d")


def recorded_run(command: str = "ci") -> Path:
    """A run with a tape of two sessions."""
    RUN.mkdir(parents=True)
    (RUN / "run.json").write_text(json.dumps({"id": RUN.name, "command": command}))
    writer = TapeWriter.create(RUN / "run.tape", origin="p/run", settings={}, key=b"k" * 32)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    kind = (("content-type", "application/json"),)
    for session in ("one", "two", "three"):
        writer.open_session(session, profile="", profile_digest="", seed=1)
        request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", kind, body)
        recording = writer.record(Exchange(session, 1, request, kind="llm", protocol="openai_chat"))
        recording.request(request)
        recording.upstream_head(Response(200, "", kind, b"{}"))
        recording.end("complete")
        writer.close_session(session)
    writer.close()
    return RUN / "run.tape"


def test_sessions_take_their_part_of_a_runs_tape_with_them() -> None:
    tape = recorded_run()
    done = run("export", "--from-tape", str(tape), "--session", "two", "-o", "out")
    assert done.exit_code == 0, done.output
    copied = Path(f"out/tapes/{RUN.name}.tape")
    shutil.rmtree(RUN)
    session = read_file(Path("out/two.yaml"))
    assert session.tape is not None
    assert session.tape.resolve() == copied.resolve()
    with TapeReader.open(copied) as reader:
        assert [info.name for info in reader.sessions()] == ["two"]
    assert [one.code for one in verify(copied).findings] == ["seal_untrusted"]  # no key is trusted here


def test_several_sessions_share_the_copy_and_other_tapes_stay_where_they_are() -> None:
    tape = recorded_run()
    assert run("export", "--from-tape", str(tape), "-o", "out").exit_code == 0
    with TapeReader.open(Path(f"out/tapes/{RUN.name}.tape")) as reader:
        assert {info.name for info in reader.sessions()} == {"one", "two", "three"}
    kept = Path("kept.tape")
    shutil.copy(tape, kept)
    assert run("export", "--from-tape", "kept.tape", "-o", "other").exit_code == 0
    assert not Path("other/tapes").exists()
    session = read_file(Path("other/one.yaml"))
    assert session.tape is not None
    assert session.tape.resolve() == kept.resolve()


def test_a_run_without_a_report_is_distinguished_from_one_that_is_not_there() -> None:
    recorded_run("fork")
    done = run("export", "--from-report", RUN.name, "-o", "out")
    assert done.exit_code == 2
    assert f"report.missing: found run `{RUN.name}`, which has no report" in done.stderr
    assert "--from-tape" in done.stderr


def test_the_summary_of_a_ci_run_names_the_reports_of_its_phases() -> None:
    path = Path("report.json")
    phases = [{"report": "./contract.html"}, {"report": None}, {"report": "../../replay.html"}]
    path.write_text(json.dumps({"schema": "faultwire-ci", "phases": phases}))
    assert phase_reports(path) == [Path("contract.json"), Path("replay.json")]
    for text in ('{"schema": "faultwire-report"}', "[]", '{"schema": "faultwire-ci", "phases": []}'):
        path.write_text(text)
        assert phase_reports(path) == [path]


# ---------------------------------------------------------------- import


def test_a_har_becomes_a_tape_and_a_session() -> None:
    Path("x.har").write_bytes(made.har(made.entry()))
    done = run("import", "--har", "x.har", "--contract", "honest", "-o", "out")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "out/page_1.yaml: 0 tool responses",
        "out/x.tape: 1 exchange, not recorded by the proxy",
    ]
    session = read_file(Path("out/page_1.yaml"))
    assert (session.turns, session.source, session.contract) == (("hi",), "har", "honest")
    assert session.tape is not None
    assert session.tape.name == "x.tape"
    again = run("import", "--har", "x.har", "-o", "out")
    assert again.exit_code == 2
    assert "already" in again.stderr


def test_the_tools_of_a_har_are_those_of_the_configuration() -> None:
    Path("x.har").write_bytes(made.har(made.entry()))
    done = run("import", "--har", "x.har", "-c", "faultwire.yaml", "--input", "hello", "-o", "out")
    assert done.exit_code == 0, done.output
    session = read_file(Path("out/page_1.yaml"))
    assert session.turns == ("hello",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "found no source, expected one of"),
        (("--har", "a", "--flows", "b"), "found `--har`, `--flows`, expected one of"),
        (("--langsmith", "x", "--since", "7d"), "found `--since` or `--min-latency-ms` without"),
        (("-c", "faultwire.yaml"), "found no `replays.sources` in `faultwire.yaml`"),
        (("--langsmith-project", "x", "--since", "soon"), "found `soon` for a date"),
    ],
)
def test_an_import_has_one_origin_and_its_filters(arguments: tuple[str, ...], said: str) -> None:
    Path("a").write_text("")
    Path("b").write_text("")
    done = run("import", *arguments, "-o", "out")
    assert done.exit_code == 2
    assert said in done.stderr


def test_options_become_a_run_filter() -> None:
    origin = Origin(None, None, None, "shop", "warning", "2026-01-31", 500, 7, "c", None, None, Path("out"))
    origin.check()
    wanted = origin.filter()
    assert (wanted.status, wanted.min_latency_ms, wanted.limit) == ("warning", 500, 7)
    assert wanted.since is not None
    assert wanted.since.isoformat() == "2026-01-31T00:00:00+00:00"
    with pytest.raises(UsageError):
        Origin(None, None, None, None, "all", None, None, 7, "c", None, None, Path("out")).check()
