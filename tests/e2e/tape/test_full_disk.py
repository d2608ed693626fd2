"""A file that may not grow is a full disk: what was acknowledged is kept, nothing more is promised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import faultwire
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

SOURCE = Path(faultwire.__file__).parents[1]
PROGRAM = """
import json, resource, sys
from pathlib import Path
from faultwire.events import Exchange, Request
from faultwire.tape.record.writer import TapeWriter

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
writer = TapeWriter.create(folder / "t.tape", origin="p/t", settings={}, journal=folder / "events.jsonl")
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
number = acknowledged = 0
while writer.failed is None and number < 2000:
    number += 1
    request = Request("POST", "https", "h", 443, "/", (), b"%08d" % number * 250)
    recording = writer.record(Exchange("s", number, request))
    recording.request(request)
    recording.end("complete")
    acknowledged = writer.flush()
after = writer.flush()
writer.close()
print(json.dumps({"failed": writer.failed, "tried": number, "acknowledged": acknowledged, "after": after}))
"""


@pytest.mark.parametrize("limit", [200_000, 400_000, 1_000_000])
def test_a_full_disk_loses_nothing_that_was_promised(tmp_path: Path, limit: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(limit)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    told = json.loads(done.stdout)
    assert told["failed"]
    assert told["after"] == told["acknowledged"] == told["tried"] - 1 > 0
    assert done.stderr == b""
    journal = [json.loads(line)["exchange"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert journal == list(range(1, told["acknowledged"] + 1))
    with TapeReader.open(tmp_path / "t.tape") as reader:
        kept = [one.number for one in reader.exchanges() if one.ending == "complete"]
    assert set(journal) <= set(kept)
    assert verify(tmp_path / "t.tape").ok


def test_a_second_process_cannot_write_the_same_tape(tmp_path: Path) -> None:
    from faultwire.tape.record.writer import TapeWriter

    writer = TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={})
    program = (
        "import pathlib, sys; from faultwire.tape.format.file import lock; lock(pathlib.Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "t.tape")],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    writer.close()
    assert done.returncode != 0
    assert "tape `t.tape` is being written by another process" in done.stderr


AGENT = """
import json, random, urllib.error, urllib.request
statuses = []
for number in range(40):
    words = random.Random(number).randbytes(60_000).hex()
    asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": words}]}
    head = {"Authorization": "Bearer none", "Content-Type": "application/json"}
    url = "https://api.openai.com/v1/chat/completions"
    call = urllib.request.Request(url, json.dumps(asked).encode(), head)
    try:
        statuses.append(urllib.request.urlopen(call).status)
    except urllib.error.HTTPError as error:
        statuses.append(error.code)
print(statuses.count(200), statuses.count(503))
"""
WITHIN = ("unshare", "--map-root-user", "--mount", "sh", "-ec")
SCRIPT = 'mkdir small && mount -t tmpfs -o size="$0" none small && exec "$@"'
WHY = "the tape cannot be written: database or disk is full"


def on_small_disk(folder: Path, size: str) -> tuple[int, int, subprocess.CompletedProcess[str]]:
    """`exec` of that agent with its tape on a disk of this size, and the report of the run on a larger one:
    how many calls were answered, and how many with 503."""
    (folder / "agent.py").write_text(AGENT)
    faultwire_ = f"{sys.executable} -m faultwire"
    both = f"{faultwire_} exec --mock --record small/t.tape -- {sys.executable} agent.py || code=$?; "
    both += f'{faultwire_} report last; exit "${{code:-0}}"'
    done = subprocess.run(
        [*WITHIN, SCRIPT, size, "sh", "-c", both],
        cwd=folder, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    passed, refused = map(int, done.stdout.splitlines()[0].split())
    return passed, refused, done


@pytest.fixture
def namespaces() -> None:
    if subprocess.run([*WITHIN, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a mount namespace")


@pytest.mark.usefixtures("namespaces")
def test_the_report_of_a_run_whose_disk_was_full_says_that_it_is_void_and_why(tmp_path: Path) -> None:
    passed, refused, done = on_small_disk(tmp_path, "2m")
    assert done.returncode == 3, done.stderr
    assert passed > 0 < refused
    calls = f"{refused} calls were answered 503 by the proxy, since what cannot be recorded does not pass"
    lines = [line.strip() for line in done.stderr.splitlines()]
    assert f"void       the run proves nothing: {WHY}" in lines
    assert calls in lines
    assert f"run.void: the run is inconclusive: {WHY}" in lines
    assert any(line.startswith("hint: free disk space") for line in lines)
    shown = " ".join(done.stdout.split())
    assert f"inconclusive {WHY}" in shown
    assert calls in shown
    (run,) = (tmp_path / ".faultwire" / "runs").iterdir()
    about, report = (json.loads((run / name).read_text()) for name in ("run.json", "report.json"))
    assert (about["status"], about["why"]) == ("void", f"the run is inconclusive: {WHY}")
    (one,) = report["invocations"]
    assert one["voids"] == [WHY]
    page = (run / "report.html").read_text()
    assert "1 of 1 invocation is inconclusive and not counted" in " ".join(page.split())
    assert WHY in page


@pytest.mark.usefixtures("namespaces")
def test_on_a_larger_disk_the_same_run_is_not_called_void(tmp_path: Path) -> None:
    passed, refused, done = on_small_disk(tmp_path, "60m")
    assert (done.returncode, passed, refused) == (0, 40, 0), done.stderr
    for text in (done.stderr, done.stdout):
        assert "inconclusive" not in text
        assert "void" not in text
        assert "503" not in text


FULL_DISK = """
import resource, sys
from pathlib import Path
from faultwire.runner.folder import ROOM, RunFolder

folder = RunFolder.create("exec", base=Path(sys.argv[1]), status="running")
assert (folder.path / ".room").stat().st_size == ROOM
filler = open(Path(sys.argv[1]) / "filler", "wb", buffering=0)
try:
    while filler.write(bytes(4096)) == 4096:
        pass
except OSError:
    pass
if sys.argv[2:]:
    (folder.path / ".room").unlink()
    filler.write(bytes(ROOM))
try:
    folder.write("report.json", "x" * 5000)
except OSError as error:
    print(error.strerror)
folder.end("void", why="no room")
print(sorted(one.name for one in folder.path.iterdir()))
"""


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(("options", "status"), [((), "void"), (("without",), "running")])
def test_a_full_disk_has_room_for_how_the_run_ended(tmp_path, options, status):
    """`without` is the control: where the room is taken, too, only the first word stays."""
    script = f'mount -t tmpfs -o size=1m none "$0" && "$@" && cat {tmp_path}/runs/*/run.json'
    done = subprocess.run(
        [*WITHIN, script, str(tmp_path), sys.executable, "-c", FULL_DISK, str(tmp_path), *options],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith("No space left on device\n["), done
    assert f'"status": "{status}"' in done.stdout
