"""Where the command imports from, and how its process ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire import __main__ as command, child_main


def test_the_projects_folders_are_left_out_and_the_installations_stay(tmp_path: Path) -> None:
    library = os.path.dirname(os.__file__)
    ours = [library, os.path.join(library, "lib-dynload"), child_main.folder()]
    agents = [str(tmp_path), str(tmp_path / "site-packages")]
    pythonpath = os.pathsep.join([*agents, *ours, ""])
    assert command.own_imports([*agents, *ours], pythonpath, "/") == ours
    assert command.own_imports([*agents, *ours], "", "/") == [*agents, *ours]


def test_the_working_directory_is_left_out_only_where_it_comes_first(tmp_path: Path) -> None:
    here = str(tmp_path)
    path = [here, os.path.dirname(os.__file__), here]
    first = path[1:] if not sys.flags.safe_path else path
    assert command.own_imports(path, "", here) == first
    assert command.own_imports(["", *path[1:]], "", here) == path[1:]


def test_the_package_is_in_the_folder(tmp_path: Path) -> None:
    assert (Path(child_main.folder()) / "faultwire" / "child_main.py").is_file()


ENDING = """
import atexit, sys, threading
import faultwire.cli
from faultwire import __main__ as command

class Apart:
    def __del__(self, write=sys.__stderr__.write):
        write("taken apart ")

sys.kept = Apart()  # lives for as long as modules do

def ends(prog_name):
    atexit.register(sys.stderr.write, "cleaned up ")
    threading.Thread(target=lambda: (threading.Event().wait(0.2), sys.stderr.write("thread ended "))).start()
    print("printed", end="")
    END

faultwire.cli.main = ends
command.main()
"""


@pytest.mark.parametrize(
    ("end", "code", "apart"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit('why')", 1, "taken apart "),
        ("raise SystemExit", 0, "taken apart "),
        ("pass", 0, "taken apart "),
    ],
    ids=["an error", "none", "a text", "without a code", "a return"],
)
def test_a_process_ends_with_its_code_once_all_is_done_and_is_not_taken_apart(
    end: str, code: int, apart: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING.replace("END", end)], capture_output=True, text=True, check=False
    )
    said = done.stderr.replace("why\n", "")
    assert (done.returncode, done.stdout, said) == (code, "printed", f"thread ended cleaned up {apart}")


@pytest.mark.skipif(sys.platform != "linux", reason="it needs `/dev/full`")
def test_the_interpreter_reports_output_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as full:
        script = ENDING.replace("END", "sys.exit(0)")
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            stdout=full,
            stderr=subprocess.PIPE,
            env=buffered,
            text=True,
            check=False,
        )
    assert "No space left on device" in done.stderr
    assert done.returncode == 120
