"""Every command that writes a file where the user says: in the project, and through no planted link."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner, Result
from tests.unit.certificate.conftest import SIGNER, about as about_run, record
from tests.unit.report.conftest import play
from tests.unit.tape.conftest import Deck
from tests.unit.tape.import_ import made

from faultwire.cli import main
from faultwire.contract.matrix import Matrix
from faultwire.report.document import Subject, document
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.record.writer import TapeWriter

URLS = ("push", "token add", "token list", "token revoke")
"""Commands whose `--store` is a URL."""
TREE = ("-o", "--output", "--record", "--state", "--store", "--audit")


class Case(NamedTuple):
    """`arguments` with `{}` where the output goes; `name` of the output; `file` that is written where the
    output is a folder. `quick`: may the test let it run to its end?"""

    arguments: str
    name: str
    quick: bool = True
    file: str = ""


CASES = {
    "init": Case("init --force {}", "new.yaml"),
    "report": Case("report report.json -o {}", "r.html"),
    "demo": Case("demo -o {}", "r.html", quick=False),
    "run": Case("run -o {}", "r.html", quick=False),
    "ci": Case("ci -o {}", "r.html", quick=False),
    "score": Case("score -c faultwire.yaml -o {}", "r.json", quick=False),
    "contract run": Case("contract run -o {}", "r.md", quick=False),
    "replay run": Case("replay run session.yaml -o {}", "r.xml", quick=False),
    "replay export": Case("replay export --from-tape t --input hi -o {}", "out", file="s.yaml"),
    "replay import": Case("replay import --har x.har -o {}", "out", file="page_1.yaml"),
    "exec": Case("exec --record {} -- true", "new.tape", quick=False),
    "proxy": Case("proxy --record {}", "new.tape", quick=False),
    "ingest": Case("ingest --store {}", "out", quick=False, file="ingest.lock"),
    "serve": Case("serve --store sqlite:///t.db --audit {}", "out", quick=False, file="audit-000001.tape"),
    "witness": Case(f"witness --log {SIGNER.verifier} --store {{}}", "out", quick=False, file=".lock"),
    "replay agent": Case(
        "replay agent t --agent a --at http://127.0.0.1:1 --record {} -- true", "new.tape", quick=False
    ),
    "fork": Case("fork t --at 1 --drop --record {} -- true", "new.tape", quick=False),
    "blame": Case("blame t -o {} -- true", "out", quick=False, file="blame.html"),
    "explore": Case("explore --profile stream_chaos --state {} -- true", "s.jsonl", quick=False),
    "shrink": Case("shrink t -o {} -- true", "out", quick=False, file="run.sh"),
    "certificate issue": Case("certificate issue 2026 -o {}", "c.json"),
    "certificate issue --with-verifier": Case("certificate issue 2026 --with-verifier -o {}", "c.json"),
    "certificate show": Case("certificate show c.dsse.json -o {}", "c.html"),
    "evolve": Case("evolve --prompt hi --mock -o {} -- true", "r.jsonl", quick=False),
    "load": Case("load --mock -o {} -- true", "r.html", quick=False),
    "attack": Case("attack --mock -o {} -- true", "r.html", quick=False),
    "fuzz": Case("fuzz --mock -o {} -- true", "r.html", quick=False),
    "pull": Case("pull 0123456789ab --tapes kept -o {}", "new.tape", quick=False),
    "redteam": Case("redteam t -o {}", "r.html", quick=False),
    "tape report": Case("tape report t -o {}", "r.html"),
    "tape export": Case("tape export t -o {}", "t.jsonl"),
    "tape export --to tape": Case("tape export t --to tape -o {}", "new.tape"),
    "tape export --with-verifier": Case("tape export t --with-verifier -o {}", "t.jsonl"),
    "tape prove": Case("tape prove t --event 0 -o {}", "e.tlog-proof"),
    "tape merge": Case("tape merge t -o {}", "new.tape"),
    "tape split": Case("tape split t --session s -o {}", "new.tape"),
    "tape salvage": Case("tape salvage t -o {}", "new.tape"),
    "tape import": Case("tape import x.har -o {}", "new.tape"),
}
EVERY = pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
QUICK = pytest.mark.parametrize(
    "case", [pytest.param(case, id=name) for name, case in CASES.items() if case.quick]
)
LINK = "output.link: found a symbolic link at "


def leaves(command: click.Command, name: str, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    for one in command.list_commands(context):
        below = command.get_command(context, one)
        if below is not None:
            yield from leaves(below, f"{name} {one}".strip(), context)


def test_no_command_that_writes_is_left_out() -> None:
    writing = {
        name
        for name, command in leaves(main, "", click.Context(main))
        if any(option in TREE for parameter in command.params for option in parameter.opts)
        and name not in URLS
    }
    assert writing | {"init"} == {name.partition(" --")[0] for name in CASES}


def test_each_has_the_option_that_lets_it_write_anywhere() -> None:
    for name, command in leaves(main, "", click.Context(main)):
        options = {option for parameter in command.params for option in parameter.opts}
        assert (name in CASES) == ("--output-anywhere" in options), name


def certified() -> None:
    """A run that can be certified, and its certificate."""
    place = Path(".faultwire/runs/20261121T220000Z-00aa")
    place.mkdir(parents=True)
    named = {"ledger": record(place / "run.tape"), "tapes": (str(place / "run.tape"),), "phase": "contract"}
    (place / "report.json").write_text(json.dumps(play(about=named)))
    (place / "run.json").write_text(json.dumps(about_run()))
    KeyRing().trust(SIGNER.verifier)
    CliRunner().invoke(main, ["certificate", "issue", "2026", "-o", "c.dsse.json"])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, made once: each test has a copy."""
    folder = tmp_path_factory.mktemp("template") / "shop"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        CliRunner().invoke(main, ["init"])
        Path("x.har").write_bytes(made.har(made.entry()))
        Path("session.yaml").write_text("id: one\ninput: hi\ncontract: default\n")
        about = Subject("r1", "contract", "agent", 42, 1, "2026-01-01", 0.0, "0" * 64, phase="contract")
        report = document(about, (), (), (), Matrix(()), (), redact=str)
        Path("report.json").write_text(json.dumps(report))
        certified()
        path = Path(".faultwire/tapes/t.tape")
        writer = TapeWriter.create(path, origin="shop/t", settings={}, key=b"k" * 32, signer=None)
        writer.open_session("s", profile="calm", profile_digest="d", seed=7)
        Deck(path, writer).exchange()
        writer.close_session("s")
        writer.close()
        CliRunner().invoke(main, ["tape", "seal", "t"])
    return folder


@pytest.fixture(autouse=True)
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    return folder


def run(case: Case, output: str | Path, *more: str) -> Result:
    words = [word.format(output) if word == "{}" else word for word in case.arguments.split()]
    before, dashes, child = " ".join(words).partition(" -- ")
    return CliRunner().invoke(main, [*before.split(), *more, *dashes.split(), *child.split()])


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@EVERY
def test_a_link_at_the_target_is_not_followed(case: Case, project: Path) -> None:
    victim = project.parent / "victim"
    for there in (True, False):
        if there:
            victim.write_text("kept")
        target = project / "out" / case.name if not case.file else project / case.name / case.file
        target.parent.mkdir()
        target.symlink_to(victim)
        said = run(case, project / case.name if case.file else target)
        assert said.exit_code == 2, said.output
        assert LINK in said.stderr, said.stderr
        assert (victim.read_text() == "kept") if there else not victim.exists()
        with target.open("a") as plain:  # the control: a plain open follows the link
            plain.write("followed")
        assert victim.read_text().endswith("followed")
        victim.unlink()
        shutil.rmtree(target.parent)


@EVERY
def test_a_link_in_place_of_a_folder_is_not_followed(case: Case, project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    Path("out").symlink_to(elsewhere)
    said = run(case, "out" if case.file else f"out/{case.name}")
    assert said.exit_code == 2, said.output
    assert LINK in said.stderr, said.stderr
    assert files(elsewhere) == {}
    Path("out", "control").write_text("followed")
    assert files(elsewhere) == {"control": b"followed"}


@EVERY
def test_a_place_outside_is_refused_unless_it_is_asked_for(case: Case, project: Path) -> None:
    before = files(project.parent)
    for output in (f"../{case.name}", project.parent / case.name):
        said = run(case, output)
        assert said.exit_code == 2, said.output
        assert "output.outside: " in said.stderr, said.stderr
        assert "add `--output-anywhere` to write it there" in said.stderr
    assert {name for name in files(project.parent) if not name.startswith("shop/")} <= before.keys()


@QUICK
def test_it_is_written_in_the_project_and_anywhere_when_asked(case: Case, project: Path) -> None:
    (project.parent / "free").mkdir()
    for output, more in ((f"here/{case.name}", ()), (f"../free/{case.name}", ("--output-anywhere",))):
        Path("here").mkdir(exist_ok=True)
        said = run(case, output, *more)
        assert said.exit_code == 0, said.output
        place = Path(output) / case.file if case.file else Path(output)
        assert place.is_file(), list(Path(output).parent.rglob("*"))


def test_the_verifier_beside_an_export_follows_no_link(project: Path) -> None:
    Path("out").mkdir()
    os.symlink(project.parent / "victim", "out/verify_tape.py")
    said = run(CASES["tape export --with-verifier"], "out/t.jsonl")
    assert said.exit_code == 2
    assert LINK in said.stderr
    assert not (project.parent / "victim").exists()


def test_the_files_that_init_adds_follow_no_link(project: Path) -> None:
    for planted in ("agent.py", ".faultwire/faultwire.schema.json"):
        sub = project / f"in_{planted.replace('/', '_')}"
        (sub / planted).parent.mkdir(parents=True)
        (sub / planted).symlink_to(project.parent / "victim")
        said = run(CASES["init"], sub / "faultwire.yaml")
        assert not (project.parent / "victim").exists(), said.output
    (project / "third").mkdir()
    (project / "third" / ".faultwire").symlink_to(project.parent)
    assert LINK in run(CASES["init"], "third/faultwire.yaml").stderr
    assert {path.name for path in project.parent.iterdir()} == {"shop"}


def test_the_path_in_a_configuration_is_held_to_the_same(project: Path) -> None:
    text = Path("faultwire.yaml").read_text()
    Path("evil.yaml").write_text(f"{text}\noutput: {{format: html, path: ../evil.html}}\n")
    said: Any = CliRunner().invoke(main, ["run", "-c", "evil.yaml"])
    assert said.exit_code == 2
    assert "output.outside: " in said.stderr, said.stderr
    assert not (project.parent / "evil.html").exists()
