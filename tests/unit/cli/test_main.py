"""Where the command imports from."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
