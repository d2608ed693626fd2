from __future__ import annotations

import runpy
from pathlib import Path

from faultwire.faults import _markdown


def test_prints_the_page(capsys):
    runpy.run_path(str(Path(_markdown.__file__).with_name("__main__.py")))
    assert capsys.readouterr().out == _markdown.markdown()
